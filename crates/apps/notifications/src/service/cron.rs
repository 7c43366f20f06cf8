//! Cron schedules: minute, hour, day of the month, month, day of the week, in UTC.
//!
//! ```text
//! 0 3 1 1,4,7,10 *     at 03:00 of the first day of each quarter
//! */15 * * * *         every quarter of an hour
//! ```
//!
//! Each field is `*`, a number or a range `a-b`, optionally with a step `/n`, or several of them separated by
//! commas. Days of the week are 0 to 7, with Sunday twice; if both day fields are restricted, either may
//! match, as in cron.

use jiff::{Span, Timestamp as Moment, civil, tz::TimeZone};
use orrery_core::Timestamp;
use std::str::FromStr;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cron {
    text: String,
    /// Bits of the matching numbers.
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Whether either day field may match.
    is_either: bool,
}

/// Days searched ahead: a leap day comes every eight years at the latest.
const DAYS_MAX: usize = 8 * 366 + 1;

impl FromStr for Cron {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        let [minutes, hours, days, months, weekdays] = fields.as_slice() else {
            return Err(format!(
                "'{text}' has {} fields; give minute, hour, day, month, weekday",
                fields.len()
            ));
        };
        let weekday_bits = bits(weekdays, 0, 7)?;
        let cron = Self {
            text: text.to_owned(),
            minutes: bits(minutes, 0, 59)?,
            hours: bits(hours, 0, 23)?,
            days: bits(days, 1, 31)?,
            months: bits(months, 1, 12)?,
            // Sunday is 0 and 7.
            weekdays: (weekday_bits | (weekday_bits >> 7)) & 0x7f,
            is_either: !days.starts_with('*') && !weekdays.starts_with('*'),
        };
        match cron.next_after(Timestamp::default()) {
            Some(_) => Ok(cron),
            None => Err(format!("'{text}' never comes")),
        }
    }
}

impl std::fmt::Display for Cron {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl Cron {
    /// The first match after this moment.
    pub fn next_after(&self, now: Timestamp) -> Option<Timestamp> {
        let now = Moment::from_millisecond(i64::try_from(now.millis()).ok()?).ok()?;
        let from = now.to_zoned(TimeZone::UTC).datetime();
        let mut date = from.date();
        for _ in 0..DAYS_MAX {
            if self.has_day(date)
                && let Some(at) = self.times(date).find(|at| *at > from)
            {
                let at = at.to_zoned(TimeZone::UTC).ok()?.timestamp().as_millisecond();
                return u64::try_from(at).ok().map(Timestamp::from_millis);
            }
            date = date.checked_add(Span::new().days(1)).ok()?;
        }
        None
    }

    fn has_day(&self, date: civil::Date) -> bool {
        let has = |bits: u64, at: i8| bits & (1 << at) != 0;
        let (day, weekday) =
            (has(self.days, date.day()), has(self.weekdays, date.weekday().to_sunday_zero_offset()));
        has(self.months, date.month()) && if self.is_either { day || weekday } else { day && weekday }
    }

    fn times(&self, date: civil::Date) -> impl Iterator<Item = civil::DateTime> + '_ {
        let set = |bits: u64, most: i8| (0..=most).filter(move |at| bits & (1 << at) != 0);
        set(self.hours, 23)
            .flat_map(move |hour| set(self.minutes, 59).map(move |minute| date.at(hour, minute, 0, 0)))
    }
}

fn bits(field: &str, least: u64, most: u64) -> Result<u64, String> {
    let mut bits = 0;
    for part in field.split(',') {
        bits |= part_bits(part, least, most)
            .ok_or_else(|| format!("'{part}' is no number, range or step from {least} to {most}"))?;
    }
    Ok(bits)
}

fn part_bits(part: &str, least: u64, most: u64) -> Option<u64> {
    let (range, step) = match part.split_once('/') {
        None => (part, 1),
        Some((range, step)) => (range, step.parse().ok().filter(|step| (1..=most).contains(step))?),
    };
    let (first, last) = match (range, range.split_once('-')) {
        ("*", _) => (least, most),
        (_, Some((first, last))) => (first.parse().ok()?, last.parse().ok()?),
        (one, None) => {
            let one = one.parse().ok()?;
            (one, if part.contains('/') { most } else { one })
        }
    };
    if first < least || last > most || first > last {
        return None;
    }
    let numbers = (first..=last).step_by(usize::try_from(step).ok()?);
    Some(numbers.fold(0, |bits, number| bits | (1 << number)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_kit::time;

    fn check(cron: &str, after: &str, expected: &str) {
        let cron: Cron = cron.parse().expect(cron);
        let after = time::parse(after).expect(after);
        let next = cron.next_after(after).map(time::format);
        assert_eq!(next.as_deref(), Some(expected), "{cron} after {after:?}");
    }

    #[test]
    fn the_next_moment_is_after_now() {
        let quarterly = "0 3 1 1,4,7,10 *";
        check(quarterly, "2026-11-15T10:00:00Z", "2027-01-01T03:00:00.000Z");
        check(quarterly, "2027-01-01T02:59:59.999Z", "2027-01-01T03:00:00.000Z");
        check(quarterly, "2027-01-01T03:00:00Z", "2027-04-01T03:00:00.000Z");
        check("*/15 * * * *", "2026-11-15T10:16:00Z", "2026-11-15T10:30:00.000Z");
        check("5-7/2 8 * * *", "2026-11-15T08:05:00Z", "2026-11-15T08:07:00.000Z");
        check("0 0 29 2 *", "2026-11-15T10:00:00Z", "2028-02-29T00:00:00.000Z");
        // 15 November 2026 is a Sunday.
        check("0 12 * * 0", "2026-11-15T10:00:00Z", "2026-11-15T12:00:00.000Z");
        check("0 12 * * 7", "2026-11-15T12:00:00Z", "2026-11-22T12:00:00.000Z");
        check("0 12 20 * 1", "2026-11-15T12:00:00Z", "2026-11-16T12:00:00.000Z");
        check("10/20 * * * *", "2026-11-15T10:30:00Z", "2026-11-15T10:50:00.000Z");
    }

    #[test]
    fn malformed_schedules_are_refused() {
        for text in [
            "",
            "* * * *",
            "60 * * * *",
            "a * * * *",
            "5-1 * * * *",
            "*/0 * * * *",
            "0 0 31 2 *",
            "0 0 0 * *",
        ] {
            assert!(text.parse::<Cron>().is_err(), "{text}");
        }
    }
}
