//! Finds the end of plain string text eight bytes at a time.
//!
//! For a word `x`, `(x - 0x01…01) & !x & 0x80…80` has the top bit of the first zero byte set. A borrow can
//! only affect bytes above one that is flagged itself, so the lowest flag is exact.

const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
const TOPS: u64 = u64::from_ne_bytes([0x80; 8]);

/// The index of the first quote, backslash or control character at or after `at`; the length of the text if
/// there is none.
#[inline]
pub(crate) fn plain_end(text: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let flags = special_flags(u64::from_le_bytes(*chunk));
        if flags != 0 {
            return at + (flags.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while at < text.len() && !is_special(text[at]) {
        at += 1;
    }
    at
}

#[inline]
fn is_special(byte: u8) -> bool {
    byte == b'"' || byte == b'\\' || byte < 0x20
}

#[inline]
fn special_flags(word: u64) -> u64 {
    let quote = word ^ (ONES * b'"' as u64);
    let backslash = word ^ (ONES * b'\\' as u64);
    let quotes = quote.wrapping_sub(ONES) & !quote;
    let backslashes = backslash.wrapping_sub(ONES) & !backslash;
    let controls = word.wrapping_sub(ONES * 0x20) & !word;
    (quotes | backslashes | controls) & TOPS
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_special_byte_is_found(text: Vec<u8>, at in 0usize..40) {
            let at = at.min(text.len());
            let slow = (at..text.len()).find(|&i| is_special(text[i])).unwrap_or(text.len());
            prop_assert_eq!(plain_end(&text, at), slow);
        }
    }
}
