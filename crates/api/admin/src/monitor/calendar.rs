//! Calendar months in hours since 1970, UTC.

use jiff::SignedDuration;
use jiff::civil::{self, Date};
use orrery_core::Timestamp;

pub const HOUR_SECONDS: u64 = 3600;

const EPOCH: Date = civil::date(1970, 1, 1);

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
            |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<i16>().ok())?;
        let (year, month) = (digits(year)?, digits(month)?);
        (year >= 1970).then(|| Date::new(year, month as i8, 1).ok().map(Self::beginning_at))?
    }

    /// The month of a time; times after the year 9999 are in its last month.
    pub fn of(at: Timestamp) -> Self {
        let seconds = i64::try_from(at.seconds()).unwrap_or(i64::MAX);
        Self::beginning_at(EPOCH.saturating_add(SignedDuration::from_secs(seconds)).first_of_month())
    }

    pub fn hours(&self) -> u32 {
        self.to - self.from
    }

    fn beginning_at(first: Date) -> Self {
        let from = first.duration_since(EPOCH).as_hours() as u32;
        let to = from + first.days_in_month() as u32 * 24;
        Self { name: format!("{:04}-{:02}", first.year(), first.month()), from, to }
    }
}

/// The hour of a time.
pub fn hour_of(at: Timestamp) -> u32 {
    u32::try_from(at.seconds() / HOUR_SECONDS).unwrap_or(u32::MAX)
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
