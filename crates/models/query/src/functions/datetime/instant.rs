//! An instant: 100-nanosecond ticks since 1970, in the years 1 to 9999, and its textual form.
//!
//! ```text
//! 2020-07-03T01:02:03.4567891Z      what is written, always
//! 2020-07-03[Z]                     what is read as well: no time,
//! 2020-07-03( |T)01:02:03[.4][Z]    a space for the T, one to seven digits of a fraction or none, no Z
//! ```
//!
//! Everything is UTC; offsets are not accepted. The forms are those of `IS_DATETIME`.

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, Time, date};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Instant {
    ticks: i64,
}

pub(super) const TICKS_PER_SECOND: i64 = 10_000_000;
pub(super) const TICKS_PER_MS: i64 = 10_000;
pub(super) const TICKS_PER_DAY: i64 = 86_400 * TICKS_PER_SECOND;
const NANOS_PER_TICK: i32 = 100;
const EPOCH: DateTime = date(1970, 1, 1).at(0, 0, 0, 0);
/// 0001-01-01T00:00:00.0000000Z.
const TICKS_MIN: i64 = -719_162 * TICKS_PER_DAY;
/// 9999-12-31T23:59:59.9999999Z.
const TICKS_MAX: i64 = 2_932_897 * TICKS_PER_DAY - 1;

impl Instant {
    pub(super) fn from_ticks(ticks: i64) -> Option<Self> {
        (TICKS_MIN..=TICKS_MAX).contains(&ticks).then_some(Self { ticks })
    }

    /// Ticks since 1970.
    pub(super) fn ticks(self) -> i64 {
        self.ticks
    }

    /// Truncates to whole ticks.
    pub(super) fn from_civil(civil: DateTime) -> Option<Self> {
        let since = civil.duration_since(EPOCH);
        let fraction = i64::from(since.subsec_nanos().div_euclid(NANOS_PER_TICK));
        Self::from_ticks(since.as_secs() * TICKS_PER_SECOND + fraction)
    }

    /// The calendar date and time of day.
    pub(super) fn civil(self) -> DateTime {
        let fraction = (self.ticks % TICKS_PER_SECOND) as i32;
        let since = SignedDuration::new(self.ticks / TICKS_PER_SECOND, fraction * NANOS_PER_TICK);
        EPOCH.checked_add(since).expect("an instant is in the calendar's years")
    }

    /// The fraction of the second, in ticks.
    pub(super) fn fraction(self) -> i64 {
        self.ticks.rem_euclid(TICKS_PER_SECOND)
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut rest = Reader(text.as_bytes());
        let date = rest.date()?;
        let time = match rest.0.first() {
            Some(b'T' | b' ') => rest.time()?,
            _ => Time::midnight(),
        };
        matches!(rest.0, b"" | b"Z").then_some(())?;
        Self::from_civil(date.to_datetime(time))
    }

    pub(super) fn print(self) -> String {
        let civil = self.civil();
        let (year, month, day) = (civil.year(), civil.month(), civil.day());
        let (hour, minute, second, fraction) =
            (civil.hour(), civil.minute(), civil.second(), self.fraction());
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:07}Z")
    }
}

/// A valid calendar date.
pub(super) fn date_of(year: i64, month: i64, day: i64) -> Option<Date> {
    Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?).ok()
}

/// A valid time of day; `fraction` is in ticks.
pub(super) fn time_of(hour: i64, minute: i64, second: i64, fraction: i64) -> Option<Time> {
    let nanos = i32::try_from(fraction).ok()?.checked_mul(NANOS_PER_TICK)?;
    Time::new(hour.try_into().ok()?, minute.try_into().ok()?, second.try_into().ok()?, nanos).ok()
}

/// The remaining text.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn date(&mut self) -> Option<Date> {
        let year = self.digits(4)?;
        self.byte(b'-')?;
        let month = self.digits(2)?;
        self.byte(b'-')?;
        date_of(year, month, self.digits(2)?)
    }

    /// A separator, hour, minute, second, and optionally a fraction.
    fn time(&mut self) -> Option<Time> {
        self.0 = self.0.get(1..)?;
        let hour = self.digits(2)?;
        self.byte(b':')?;
        let minute = self.digits(2)?;
        self.byte(b':')?;
        let second = self.digits(2)?;
        let fraction = if self.byte(b'.').is_some() { self.fraction()? } else { 0 };
        time_of(hour, minute, second, fraction)
    }

    /// One to seven digits after the point, as ticks.
    fn fraction(&mut self) -> Option<i64> {
        let count = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let missing = 7usize.checked_sub(count).filter(|_| count > 0)?;
        Some(self.digits(count)? * 10i64.pow(missing as u32))
    }

    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        let mut number = 0;
        for digit in digits {
            number = number * 10 + i64::from(digit.is_ascii_digit().then(|| digit - b'0')?);
        }
        self.0 = rest;
        Some(number)
    }

    fn byte(&mut self, expected: u8) -> Option<()> {
        let (first, rest) = self.0.split_first()?;
        (*first == expected).then(|| self.0 = rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(Instant::parse(text).map(Instant::print).as_deref(), Some(expected), "{text}");
    }

    #[test]
    fn shorter_forms_are_read_and_the_full_one_is_written() {
        check("2024-12-12", "2024-12-12T00:00:00.0000000Z");
        check("2024-12-12Z", "2024-12-12T00:00:00.0000000Z");
        check("2024-12-12 20:21:25", "2024-12-12T20:21:25.0000000Z");
        check("2024-12-12T20:21:25Z", "2024-12-12T20:21:25.0000000Z");
        check("2024-12-12T20:21:25.1", "2024-12-12T20:21:25.1000000Z");
        check("2024-12-12 20:21:25.0123Z", "2024-12-12T20:21:25.0123000Z");
        check("0001-01-01T00:00:00.0000000Z", "0001-01-01T00:00:00.0000000Z");
        check("9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.9999999Z");
    }

    #[test]
    fn everything_else_is_malformed() {
        for text in [
            "",
            "2024",
            "2024-12",
            "2024-12-1",
            "24-12-12",
            "2024-1-12",
            "2024/12/12",
            "02024-12-12",
            "-024-12-12",
            "2024-12-12T",
            "2024-12-12TZ",
            "2024-12-12T20Z",
            "2024-12-12T20:21",
            "2024-12-12T20:21Z",
            "2024-12-12T20:21:2",
            "2024-12-12 20:21:25.",
            "2024-12-12T20:21:25.Z",
            "2024-12-12T20:21:25.12345678Z",
            "2024-12-12T20:21:25+00:00",
            "2024-12-12T20:21:25z",
            "2024-12-12t20:21:25Z",
            "2024-12-12T20:21:25ZZ",
            " 2024-12-12",
            "2024-12-12 ",
            "2024-12-12T24:00:00Z",
            "2024-12-12T23:60:00Z",
            "2024-12-12T23:59:60Z",
            "2023-02-29",
            "0000-01-01",
            "2024-12-12T20:21:25,5Z",
            "2024-12-1é",
            "２０２４-12-12",
            "2024-+1-12",
        ] {
            assert_eq!(Instant::parse(text), None, "{text}");
        }
    }

    #[test]
    fn ticks_outside_four_digit_years_are_refused() {
        let first = Instant::parse("0001-01-01").unwrap().ticks();
        let last = Instant::parse("9999-12-31T23:59:59.9999999").unwrap().ticks();
        assert!(Instant::from_ticks(first).is_some() && Instant::from_ticks(last).is_some());
        assert!(Instant::from_ticks(first - 1).is_none() && Instant::from_ticks(last + 1).is_none());
        assert!(Instant::from_ticks(i64::MIN).is_none() && Instant::from_ticks(i64::MAX).is_none());
    }

    /// The days of each month, computed from the leap year rule alone.
    fn days_in_month(year: i64, month: i64) -> i64 {
        const DAYS: [i64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        DAYS[month as usize - 1] + i64::from(is_leap && month == 2)
    }

    #[test]
    fn month_boundaries_agree_with_counting_days() {
        let mut ticks = TICKS_MIN;
        for (year, month) in (1..=9999).flat_map(|year| (1..=12).map(move |month| (year, month))) {
            let days = days_in_month(year, month);
            let first = date_of(year, month, 1).unwrap().at(0, 0, 0, 0);
            let last = date_of(year, month, days).unwrap().at(23, 59, 59, 999_999_900);
            let end = ticks + days * TICKS_PER_DAY;
            for (ticks, civil) in [(ticks, first), (end - 1, last)] {
                let instant = Instant::from_ticks(ticks).unwrap();
                assert_eq!((instant.civil(), Instant::from_civil(civil)), (civil, Some(instant)));
            }
            ticks = end;
        }
        assert_eq!(ticks, TICKS_MAX + 1);
    }

    #[test]
    fn days_that_do_not_exist_are_refused() {
        for (year, month, day) in [
            (2021, 2, 29),
            (1900, 2, 29),
            (2000, 2, 30),
            (2020, 4, 31),
            (2020, 0, 1),
            (2020, 13, 1),
            (2020, 1, 0),
            (2020, 1, i64::MAX),
            (0, 1, 1),
            (-1, 1, 1),
            (10_000, 1, 1),
        ] {
            let instant = date_of(year, month, day).and_then(|date| Instant::from_civil(date.at(0, 0, 0, 0)));
            assert_eq!(instant, None, "{year}-{month}-{day}");
        }
    }

    proptest! {
        #[test]
        fn printed_instants_parse_back(ticks in -621_355_968_000_000_000i64..2_534_023_008_000_000_000) {
            let instant = Instant::from_ticks(ticks).unwrap();
            prop_assert_eq!(Instant::parse(&instant.print()), Some(instant));
            prop_assert_eq!(Instant::from_civil(instant.civil()), Some(instant));
        }

        #[test]
        fn any_text_parses_or_is_refused(text in "[0-9TZ:. é-]{0,30}") {
            if let Some(instant) = Instant::parse(&text) {
                prop_assert_eq!(&instant.print()[..10], &text[..10]);
            }
        }
    }
}
