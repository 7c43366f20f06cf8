//! Positions in strings as the service counts them: in UTF-16 code units.
//!
//! Our strings are UTF-8, so finding a position takes a walk; in ASCII it is the byte itself. A position may
//! fall between the halves of a surrogate pair. Our strings cannot hold half a pair, so a slice that begins
//! or ends there has U+FFFD instead.

use std::borrow::Cow;

pub(super) fn length(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(char::len_utf16).sum() }
}

/// At most `count` units from `start` on.
pub(super) fn slice(text: &str, start: usize, count: usize) -> Cow<'_, str> {
    if count == 0 {
        return Cow::Borrowed("");
    }
    let from = Cut::at(text, start);
    let to = Cut::at(text, start.saturating_add(count));
    let whole = text.get(from.after..to.before).unwrap_or_default();
    if !from.halves() && !to.halves() {
        return Cow::Borrowed(whole);
    }
    let half = |cut: &Cut| if cut.halves() { "\u{fffd}" } else { "" };
    Cow::Owned([half(&from), whole, half(&to)].concat())
}

/// The position of the first `needle` at or after `start`.
pub(super) fn find(text: &str, needle: &str, start: usize) -> Option<usize> {
    if start > length(text) {
        return None;
    }
    let from = Cut::at(text, start).after;
    let (skipped, rest) = text.split_at(from);
    let found = rest.find(needle)?;
    Some(length(skipped) + length(&rest[..found]))
}

/// The position of the last `needle` within the first `end` units.
pub(super) fn find_last(text: &str, needle: &str, end: usize) -> Option<usize> {
    let region = &text[..Cut::at(text, end).before];
    region.rfind(needle).map(|found| length(&region[..found]))
}

/// A position as bytes: where the characters before it end, and where those after it begin. The two differ
/// inside a surrogate pair.
struct Cut {
    before: usize,
    after: usize,
}

impl Cut {
    fn at(text: &str, position: usize) -> Self {
        if text.is_ascii() {
            return Self::clean(position.min(text.len()));
        }
        let mut units = 0;
        for (byte, character) in text.char_indices() {
            if units == position {
                return Self::clean(byte);
            }
            units += character.len_utf16();
            if units > position {
                return Self { before: byte, after: byte + character.len_utf8() };
            }
        }
        Self::clean(text.len())
    }

    fn clean(byte: usize) -> Self {
        Self { before: byte, after: byte }
    }

    fn halves(&self) -> bool {
        self.before != self.after
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn slices_are_those_of_utf16(text in "[aé€🚀\u{301}]{0,8}", start in 0usize..12, count in 0usize..12) {
            let units: Vec<u16> = text.encode_utf16().collect();
            let from = start.min(units.len());
            let to = (start + count).min(units.len());
            let expected = String::from_utf16_lossy(&units[from..to]);
            prop_assert_eq!(slice(&text, start, count), expected);
            prop_assert_eq!(length(&text), units.len());
        }

        #[test]
        fn found_positions_slice_back_to_the_needle(text in "[ab🚀]{0,9}", needle in "[ab🚀]{1,2}", start in 0usize..12) {
            let count = length(&needle);
            for place in [find(&text, &needle, start), find_last(&text, &needle, start)].into_iter().flatten() {
                prop_assert_eq!(slice(&text, place, count), needle.as_str());
            }
            if let Some(place) = find(&text, &needle, start) {
                prop_assert!(place >= start);
            }
            if let Some(place) = find_last(&text, &needle, start) {
                prop_assert!(place + count <= start);
            }
        }
    }
}
