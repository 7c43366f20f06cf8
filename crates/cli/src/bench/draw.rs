//! What items are drawn with: each value comes from the item's number alone, so a set is the same wherever it is loaded.
//!
//! The repository's benchmark draws with the same numbers (`bench/src/seeds/draw.rs`), and with more: a pool of text for drawing while it
//! measures, and months. It is no part of the binary, so the few lines that both need are here too.

/// Another number for each number, without a pattern (the finalizer of SplitMix64).
pub fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// In the form of a UUID: what is written one after another lies far apart.
pub fn uuid(number: u64) -> String {
    let (high, low) = (mix(number), mix(!number));
    let (a, b, c) = (high >> 32, high >> 16 & 0xffff, high & 0xfff);
    let (d, e) = (low >> 48 & 0x3fff | 0x8000, low & 0xffff_ffff_ffff);
    format!("{a:08x}-{b:04x}-4{c:03x}-{d:04x}-{e:012x}")
}

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .";

/// Text of that length that differs from seed to seed, needs no escapes and does not compress much.
pub fn text(seed: u64, length: usize) -> String {
    let (mut out, mut state) = (String::with_capacity(length + 10), seed);
    while out.len() < length {
        state = mix(state);
        (0..10).for_each(|at| out.push(char::from(LETTERS[(state >> (6 * at) & 63) as usize])));
    }
    out.truncate(length);
    out
}

pub const DAY_MILLIS: u64 = 86_400_000;

/// So many milliseconds after the first of November 2026, in the form that sorts as time does. All that is drawn lies in that
/// month.
pub fn time(millis: u64) -> String {
    let seconds = millis / 1000;
    let (hours, minutes) = (seconds / 3600 % 24, seconds / 60 % 60);
    let (day, seconds) = (date(millis / DAY_MILLIS), seconds % 60);
    format!("{day}T{hours:02}:{minutes:02}:{seconds:02}.{:03}Z", millis % 1000)
}

/// So many days after it.
pub fn date(days: u64) -> String {
    format!("2026-11-{:02}", 1 + days % 30)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_sort_as_text() {
        assert_eq!(time(0), "2026-11-01T00:00:00.000Z");
        assert_eq!(time(29 * DAY_MILLIS + DAY_MILLIS - 1), "2026-11-30T23:59:59.999Z");
        assert!(time(999) < time(1000) && time(DAY_MILLIS - 1) < time(DAY_MILLIS));
    }

    #[test]
    fn text_is_as_long_as_asked_and_the_same_for_the_same_seed() {
        for length in [0, 9, 1000] {
            assert_eq!(text(3, length).len(), length);
        }
        assert_eq!(text(3, 100), text(3, 100));
        assert_ne!(text(3, 100), text(4, 100));
    }
}
