//! What items are drawn with: each value comes from the item's number alone, so whoever is filled holds the same.

use crate::item::Random;
use std::sync::OnceLock;

/// Text that long members are cut from: copying is cheap enough to draw items while measuring, and pieces from
/// different places do not compress much.
const POOL_BYTES: usize = 4 << 20;
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .";
const DAY_SECONDS: u64 = 86_400;
/// 2026-11-01, in days since 1970.
const FIRST_DAY: u64 = 20_758;

/// Another number for each number, without a pattern (the finalizer of SplitMix64).
pub fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// In the form of a UUID, as the seeds' ids are: what is written one after another lies far apart.
pub fn uuid(number: u64) -> String {
    let (high, low) = (mix(number), mix(!number));
    let (a, b, c) = (high >> 32, high >> 16 & 0xffff, high & 0xfff);
    let (d, e) = (low >> 48 & 0x3fff | 0x8000, low & 0xffff_ffff_ffff);
    format!("{a:08x}-{b:04x}-4{c:03x}-{d:04x}-{e:012x}")
}

/// Text of that length, at most [`POOL_BYTES`], that differs from seed to seed and needs no escapes.
pub fn text(seed: u64, length: usize) -> &'static str {
    let pool = pool();
    let start = mix(seed) as usize % (pool.len() - length + 1);
    &pool[start..start + length]
}

/// So many milliseconds after the first of November 2026, in the form that sorts as time does.
pub fn time(millis: u64) -> String {
    let seconds = millis / 1000;
    let (hours, minutes) = (seconds / 3600 % 24, seconds / 60 % 60);
    format!(
        "{}T{hours:02}:{minutes:02}:{:02}.{:03}Z",
        date(seconds / DAY_SECONDS),
        seconds % 60,
        millis % 1000
    )
}

/// So many days after the first of November 2026.
pub fn date(days: u64) -> String {
    let (year, month, day) = civil(FIRST_DAY + days);
    format!("{year:04}-{month:02}-{day:02}")
}

fn pool() -> &'static str {
    static POOL: OnceLock<String> = OnceLock::new();
    POOL.get_or_init(|| {
        let mut random = Random::new(7);
        (0..POOL_BYTES).map(|_| char::from(LETTERS[random.below(64) as usize])).collect()
    })
}

/// Year, month and day of a day since 1970. Years begin in March here, so that a leap day is the last of its year.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn times_sort_as_text_and_pass_the_ends_of_months_and_years() {
        assert_eq!(time(0), "2026-11-01T00:00:00.000Z");
        assert_eq!(time(29 * 86_400_000 + 86_399_999), "2026-11-30T23:59:59.999Z");
        assert_eq!((date(30), date(61)), ("2026-12-01".to_owned(), "2027-01-01".to_owned()));
        assert_eq!(civil(11_016), (2000, 2, 29));
    }

    #[test]
    fn every_number_has_an_id_of_its_own_in_the_form_of_a_uuid() {
        let ids: HashSet<String> = (0..10_000).map(uuid).collect();
        assert_eq!(ids.len(), 10_000);
        for id in ids {
            let lengths: Vec<usize> = id.split('-').map(str::len).collect();
            assert_eq!(lengths, [8, 4, 4, 4, 12], "{id}");
            assert_eq!(id.as_bytes()[14], b'4');
        }
    }

    #[test]
    fn text_is_as_long_as_asked_and_the_same_for_the_same_seed() {
        assert_eq!(text(3, 1000).len(), 1000);
        assert_eq!(text(3, 100), text(3, 100));
        assert_ne!(text(3, 100), text(4, 100));
        assert_eq!(text(5, POOL_BYTES).len(), POOL_BYTES);
    }
}
