//! Months of the calendar in hours since 1970, UTC.

use orrery_core::Timestamp;

pub const HOUR_SECONDS: u64 = 3600;

/// A month: its name, its first hour, and the first hour after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Month {
    pub name: String,
    pub from: u32,
    pub to: u32,
}

impl Month {
    /// Of `2026-11`.
    pub fn parse(text: &str) -> Option<Self> {
        let (year, month) =
            text.split_once('-').filter(|(year, month)| year.len() == 4 && month.len() == 2)?;
        let digits =
            |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<i64>().ok())?;
        let (year, month) = (digits(year)?, digits(month)?);
        ((1970..10_000).contains(&year) && (1..=12).contains(&month)).then(|| Self::new(year, month))
    }

    /// The one that a moment lies in.
    pub fn of(at: Timestamp) -> Self {
        let days = (at.seconds() / 86_400) as i64;
        let mut year = 1970 + days / 366;
        while first_day(year + 1, 1) <= days {
            year += 1;
        }
        let month = (1..=12).rev().find(|month| first_day(year, *month) <= days).unwrap_or(1);
        Self::new(year, month)
    }

    pub fn hours(&self) -> u32 {
        self.to - self.from
    }

    fn new(year: i64, month: i64) -> Self {
        let hour = |day: i64| (day * 24) as u32;
        let next = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
        let (from, to) = (hour(first_day(year, month)), hour(first_day(next.0, next.1)));
        Self { name: format!("{year:04}-{month:02}"), from, to }
    }
}

/// The hour that a moment lies in.
pub fn hour_of(at: Timestamp) -> u32 {
    u32::try_from(at.seconds() / HOUR_SECONDS).unwrap_or(u32::MAX)
}

/// Days from the first of 1970 to the first of a month.
fn first_day(year: i64, month: i64) -> i64 {
    const BEFORE: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let leaps = |year: i64| year / 4 - year / 100 + year / 400;
    let days = (year - 1970) * 365 + leaps(year - 1) - leaps(1969);
    days + BEFORE[(month - 1) as usize] + i64::from(is_leap && month > 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_begin_and_end_where_the_calendar_says() {
        let check = |text: &str, hours: u32, at: u64| {
            let month = Month::parse(text).expect(text);
            assert_eq!((month.hours(), u64::from(month.from) * HOUR_SECONDS), (hours, at), "{text}");
            assert_eq!(Month::of(Timestamp::from_seconds(at)), month);
            assert_eq!(Month::of(Timestamp::from_seconds(u64::from(month.to) * HOUR_SECONDS - 1)), month);
        };
        check("1970-01", 744, 0);
        check("2000-02", 696, 949_363_200);
        check("2024-02", 696, 1_706_745_600);
        check("2026-11", 720, 1_793_491_200);
        check("2026-12", 744, 1_796_083_200);
        check("2100-02", 672, 4_105_123_200);
        for wrong in ["", "2026", "2026-13", "2026-00", "26-01", "2026-1", "1969-12", "2026-+1", "x-y"] {
            assert_eq!(Month::parse(wrong), None, "{wrong}");
        }
    }
}
