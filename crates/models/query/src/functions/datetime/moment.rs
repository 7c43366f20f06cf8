//! A moment: 100-nanosecond ticks since 1970, in the years 1 to 9999, and the text that says it.
//!
//! ```text
//! 2020-07-03T01:02:03.4567891Z      what is written, always
//! 2020-07-03[Z]                     what is read as well: no time,
//! 2020-07-03( |T)01:02:03[.4][Z]    a space for the T, one to seven digits of a fraction or none, no Z
//! ```
//!
//! Everything is UTC: an offset is not read. The forms are those of `IS_DATETIME`.

use super::calendar::Date;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    ticks: i64,
}

/// A moment taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fields {
    pub date: Date,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    /// Of a second, in ticks.
    pub fraction: i64,
}

pub(super) const TICKS_PER_SECOND: i64 = 10_000_000;
pub(super) const TICKS_PER_MS: i64 = 10_000;
pub(super) const TICKS_PER_DAY: i64 = 86_400 * TICKS_PER_SECOND;

impl Moment {
    pub(super) fn from_ticks(ticks: i64) -> Option<Self> {
        Date::from_days(ticks.div_euclid(TICKS_PER_DAY)).map(|_| Self { ticks })
    }

    /// Since 1970.
    pub(super) fn ticks(self) -> i64 {
        self.ticks
    }

    pub(super) fn from_fields(fields: Fields) -> Option<Self> {
        let exists = (0..24).contains(&fields.hour)
            && (0..60).contains(&fields.minute)
            && (0..60).contains(&fields.second)
            && (0..TICKS_PER_SECOND).contains(&fields.fraction);
        let seconds = (fields.date.to_days() * 24 + fields.hour) * 3600 + fields.minute * 60 + fields.second;
        exists.then_some(Self { ticks: seconds * TICKS_PER_SECOND + fields.fraction })
    }

    pub(super) fn date(self) -> Date {
        Date::from_days(self.ticks.div_euclid(TICKS_PER_DAY)).expect("a moment is in the calendar's years")
    }

    pub(super) fn fields(self) -> Fields {
        let seconds = self.ticks.div_euclid(TICKS_PER_SECOND);
        Fields {
            date: self.date(),
            hour: seconds.div_euclid(3600).rem_euclid(24),
            minute: seconds.div_euclid(60).rem_euclid(60),
            second: seconds.rem_euclid(60),
            fraction: self.ticks.rem_euclid(TICKS_PER_SECOND),
        }
    }

    /// The same time on another date.
    pub(super) fn on(self, date: Date) -> Self {
        Self { ticks: date.to_days() * TICKS_PER_DAY + self.ticks.rem_euclid(TICKS_PER_DAY) }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut rest = Reader(text.as_bytes());
        let date = rest.date()?;
        let (hour, minute, second, fraction) = match rest.0.first() {
            Some(b'T' | b' ') => rest.time()?,
            _ => (0, 0, 0, 0),
        };
        matches!(rest.0, b"" | b"Z").then_some(())?;
        Self::from_fields(Fields { date, hour, minute, second, fraction })
    }

    pub(super) fn print(self) -> String {
        let Fields { date, hour, minute, second, fraction } = self.fields();
        let (year, month, day) = (date.year(), date.month(), date.day());
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:07}Z")
    }
}

/// The text that is still to be read.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn date(&mut self) -> Option<Date> {
        let year = self.digits(4)?;
        self.byte(b'-')?;
        let month = self.digits(2)?;
        self.byte(b'-')?;
        Date::new(year, month, self.digits(2)?)
    }

    /// A separator, hour, minute, second, and the fraction if there is one.
    fn time(&mut self) -> Option<(i64, i64, i64, i64)> {
        self.0 = self.0.get(1..)?;
        let hour = self.digits(2)?;
        self.byte(b':')?;
        let minute = self.digits(2)?;
        self.byte(b':')?;
        let second = self.digits(2)?;
        let fraction = if self.byte(b'.').is_some() { self.fraction()? } else { 0 };
        Some((hour, minute, second, fraction))
    }

    /// One to seven digits right of the point, as ticks.
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
        assert_eq!(Moment::parse(text).map(Moment::print).as_deref(), Some(expected), "{text}");
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
    fn everything_else_is_no_moment() {
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
            assert_eq!(Moment::parse(text), None, "{text}");
        }
    }

    #[test]
    fn ticks_outside_four_digit_years_are_no_moment() {
        let first = Moment::parse("0001-01-01").unwrap().ticks();
        let last = Moment::parse("9999-12-31T23:59:59.9999999").unwrap().ticks();
        assert!(Moment::from_ticks(first).is_some() && Moment::from_ticks(last).is_some());
        assert!(Moment::from_ticks(first - 1).is_none() && Moment::from_ticks(last + 1).is_none());
        assert!(Moment::from_ticks(i64::MIN).is_none() && Moment::from_ticks(i64::MAX).is_none());
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(ticks in -621_355_968_000_000_000i64..2_534_023_008_000_000_000) {
            let moment = Moment::from_ticks(ticks).unwrap();
            prop_assert_eq!(Moment::parse(&moment.print()), Some(moment));
            prop_assert_eq!(Moment::from_fields(moment.fields()), Some(moment));
            prop_assert_eq!(moment.on(moment.date()), moment);
        }

        #[test]
        fn no_text_makes_the_reader_fail(text in "[0-9TZ:. é-]{0,30}") {
            if let Some(moment) = Moment::parse(&text) {
                prop_assert_eq!(&moment.print()[..10], &text[..10]);
            }
        }
    }
}
