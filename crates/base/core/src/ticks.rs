//! A moment in steps of 100 nanoseconds, which is how precise the service is.
//!
//! Counted from the first day of year 1 (UTC) to the last of year 9999, so that any date a filter can name has one.

use crate::Timestamp;
use std::fmt;

/// Steps of 100 ns since 0001-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticks(u64);

const PER_SECOND: u64 = 10_000_000;
const PER_MILLISECOND: u64 = 10_000;
const SECONDS_PER_DAY: u64 = 86_400;
/// Days from 0001-01-01 to 1970-01-01.
const DAYS_TO_1970: u64 = 719_162;
const FRACTION_DIGITS_MAX: usize = 7;
const YEAR_MAX: u64 = 9999;

impl Ticks {
    /// The last moment of the year 9999.
    pub const MAX: Self = Self(3_155_378_975_999_999_999);

    pub const fn from_count(count: u64) -> Self {
        Self(count)
    }

    pub const fn count(self) -> u64 {
        self.0
    }

    pub fn at(now: Timestamp) -> Self {
        let before = DAYS_TO_1970 * SECONDS_PER_DAY * PER_SECOND;
        let count = now.millis().saturating_mul(PER_MILLISECOND).saturating_add(before);
        Self(count).min(Self::MAX)
    }

    /// The next moment.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// Whole seconds since 1970, rounded down, as HTTP dates are; 0 before.
    pub fn seconds(self) -> u64 {
        (self.0 / PER_SECOND).saturating_sub(DAYS_TO_1970 * SECONDS_PER_DAY)
    }

    /// To the millisecond, rounded down; moments before 1970 are its beginning.
    pub fn timestamp(self) -> Timestamp {
        let before = DAYS_TO_1970 * SECONDS_PER_DAY * PER_SECOND;
        Timestamp::from_millis(self.0.saturating_sub(before) / PER_MILLISECOND)
    }

    pub fn year(self) -> u64 {
        civil(self.0 / PER_SECOND / SECONDS_PER_DAY).0
    }

    /// `2024-01-31`, which may go on with `T12:30`, `:59`, `.1234567`, and `Z` or `+01:00`. Without a zone it is UTC.
    pub fn parse(text: &str) -> Option<Self> {
        let mut reader = Reader(text.as_bytes());
        let (year, month, day) = (reader.digits(4)?, reader.after(b'-', 2)?, reader.after(b'-', 2)?);
        if !(1..=YEAR_MAX).contains(&year) || !(1..=12).contains(&month) {
            return None;
        }
        if !(1..=month_days(year, month)).contains(&day) {
            return None;
        }
        let day_start = days_before(year, month, day) * SECONDS_PER_DAY * PER_SECOND;
        if reader.0.is_empty() {
            return Some(Self(day_start));
        }
        let (hour, minute) = (reader.after(b'T', 2)?, reader.after(b':', 2)?);
        let second = if reader.begins(b':') { reader.after(b':', 2)? } else { 0 };
        let fraction = if reader.begins(b'.') { reader.fraction()? } else { 0 };
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let local = day_start + ((hour * 60 + minute) * 60 + second) * PER_SECOND + fraction;
        reader.zone(local).filter(|utc| *utc <= Self::MAX)
    }
}

/// `2026-11-15T00:59:26.3287118Z`.
impl fmt::Display for Ticks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, fraction) = (self.0 / PER_SECOND, self.0 % PER_SECOND);
        let (year, month, day) = civil(seconds / SECONDS_PER_DAY);
        let of_day = seconds % SECONDS_PER_DAY;
        let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:07}Z")
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn begins(&self, with: u8) -> bool {
        self.0.first() == Some(&with)
    }

    fn digits(&mut self, count: usize) -> Option<u64> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        let is_number = digits.iter().all(u8::is_ascii_digit);
        self.0 = rest;
        is_number.then(|| digits.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')))
    }

    fn after(&mut self, mark: u8, count: usize) -> Option<u64> {
        self.0 = self.0.strip_prefix(&[mark])?;
        self.digits(count)
    }

    fn fraction(&mut self) -> Option<u64> {
        self.0 = self.0.strip_prefix(b".")?;
        let count = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if !(1..=FRACTION_DIGITS_MAX).contains(&count) {
            return None;
        }
        let scale = 10u64.pow((FRACTION_DIGITS_MAX - count) as u32);
        self.digits(count).map(|digits| digits * scale)
    }

    /// What follows the time, to the end of the text.
    fn zone(&mut self, local: u64) -> Option<Ticks> {
        if matches!(self.0, b"" | b"Z") {
            return Some(Ticks(local));
        }
        let is_east = self.begins(b'+');
        let hours = self.after(if is_east { b'+' } else { b'-' }, 2)?;
        let minutes = self.after(b':', 2)?;
        if hours > 14 || minutes > 59 || !self.0.is_empty() {
            return None;
        }
        let offset = (hours * 60 + minutes) * 60 * PER_SECOND;
        let utc = if is_east { local.checked_sub(offset)? } else { local + offset };
        Some(Ticks(utc))
    }
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn month_days(year: u64, month: u64) -> u64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 0001-01-01 to this one.
fn days_before(year: u64, month: u64, day: u64) -> u64 {
    let whole = year - 1;
    let months: u64 = (1..month).map(|month| month_days(year, month)).sum();
    whole * 365 + whole / 4 - whole / 100 + whole / 400 + months + day - 1
}

/// The year, month and day after so many days.
fn civil(days: u64) -> (u64, u64, u64) {
    const DAYS_IN_400_YEARS: u64 = 146_097;
    // At most a year too late.
    let guess = days * 400 / DAYS_IN_400_YEARS + 1;
    let year = if days_before(guess, 1, 1) > days { guess - 1 } else { guess };
    let year = if days_before(year + 1, 1, 1) <= days { year + 1 } else { year };
    let mut left = days - days_before(year, 1, 1);
    let mut month = 1;
    while left >= month_days(year, month) {
        left -= month_days(year, month);
        month += 1;
    }
    (year, month, left + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parse_undoes_display(count in 0..=Ticks::MAX.count()) {
            let ticks = Ticks(count);
            prop_assert_eq!(Ticks::parse(&ticks.to_string()), Some(ticks));
        }
    }

    #[test]
    fn every_day_is_followed_by_the_next() {
        let mut expected = (1, 1, 1);
        for days in 0..=Ticks::MAX.count() / PER_SECOND / SECONDS_PER_DAY {
            let (year, month, day) = civil(days);
            assert_eq!((year, month, day), expected);
            assert_eq!(days_before(year, month, day), days);
            expected = match (month, day) {
                (12, 31) => (year + 1, 1, 1),
                (_, last) if last == month_days(year, month) => (year, month + 1, 1),
                _ => (year, month, day + 1),
            };
        }
    }

    #[test]
    fn a_timestamp_has_the_text_of_its_moment() {
        let at = Ticks::at(Timestamp::from_millis(1_794_704_366_328));
        assert_eq!(at.to_string(), "2026-11-15T00:59:26.3280000Z");
        assert_eq!(Ticks::at(Timestamp::from_millis(u64::MAX)), Ticks::MAX);
        assert_eq!(Ticks::MAX.to_string(), "9999-12-31T23:59:59.9999999Z");
    }

    #[test]
    fn dates_are_read_in_the_forms_that_clients_write() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(Ticks::parse(text).map(|ticks| ticks.to_string()).as_deref(), expected, "{text}");
        };
        check("2024-01-31", Some("2024-01-31T00:00:00.0000000Z"));
        check("2024-01-31T12:30", Some("2024-01-31T12:30:00.0000000Z"));
        check("2024-01-31T12:30:59Z", Some("2024-01-31T12:30:59.0000000Z"));
        check("2024-01-31T12:30:59.1Z", Some("2024-01-31T12:30:59.1000000Z"));
        check("2024-01-31T12:30:59.123456Z", Some("2024-01-31T12:30:59.1234560Z"));
        check("2024-01-31T12:30:59.1234567", Some("2024-01-31T12:30:59.1234567Z"));
        check("2024-01-31T00:30:00+01:00", Some("2024-01-30T23:30:00.0000000Z"));
        check("2024-01-31T23:30:00-05:30", Some("2024-02-01T05:00:00.0000000Z"));
        check("0001-01-01T00:00:00Z", Some("0001-01-01T00:00:00.0000000Z"));
        for wrong in ["", "2024", "2024-13-01", "2023-02-29", "2024-01-31T", "2024-01-31T24:00", "2024-1-31"]
        {
            check(wrong, None);
        }
        for wrong in
            ["2024-01-31T12:30:59.12345678Z", "2024-01-31T12:30:59.", "2024-01-31 12:30", "0000-01-01"]
        {
            check(wrong, None);
        }
        for wrong in ["0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "2024-01-31T12:30z"] {
            check(wrong, None);
        }
    }
}
