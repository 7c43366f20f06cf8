//! Moments as storage writes them: ISO 8601 in UTC, in the forms that signatures, policies and answers have.

use orrery_core::Timestamp;

const DAY_MILLIS: u64 = 24 * 60 * 60 * 1000;

/// The moment of `2026-11-15`, `2026-11-15T01:02Z`, `2026-11-15T01:02:43Z`, or the last with up to seven digits of a fraction.
/// A time without `Z` is UTC, too. None for another form, or a date that no calendar has, or one before 1970.
pub fn parse_time(text: &str) -> Option<Timestamp> {
    let (date, time) = text.split_once('T').map_or((text, None), |(date, time)| (date, Some(time)));
    let midnight = days(date)?.checked_mul(DAY_MILLIS)?;
    let Some(time) = time else { return Some(Timestamp::from_millis(midnight)) };
    Some(Timestamp::from_millis(midnight + millis(time.strip_suffix('Z').unwrap_or(time))?))
}

/// `2026-11-15T01:02:43.0000000Z`, as answers have it.
pub fn format_time(at: Timestamp) -> String {
    let (seconds, millis) = (at.seconds(), at.millis() % 1000);
    format!("{}.{millis:03}0000Z", to_seconds(seconds))
}

/// `2026-11-15T01:02:43Z`, as signatures have it.
pub fn format_time_seconds(at: Timestamp) -> String {
    format!("{}Z", to_seconds(at.seconds()))
}

fn to_seconds(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60)
}

/// Whether the text is a date of the calendar, `2026-11-15`: the form of versions.
pub fn is_date(text: &str) -> bool {
    days(text).is_some()
}

/// Days after 1970-01-01.
fn days(text: &str) -> Option<u64> {
    let mut parts = text.split('-');
    let mut next = |length: usize| number(parts.next()?, length);
    let (year, month, day) = (next(4)?, next(2)?, next(2)?);
    let is_date = parts.next().is_none()
        && (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=month_days(year, month)).contains(&day);
    is_date.then(|| {
        days_before_year(year) + (1..month).map(|month| month_days(year, month)).sum::<u64>() + day - 1
    })
}

fn date(mut days: u64) -> (u64, u64, u64) {
    // Close below the year, then up to it.
    let mut year = 1970 + days / 366;
    while days_before_year(year + 1) <= days {
        year += 1;
    }
    days -= days_before_year(year);
    let mut month = 1;
    while days >= month_days(year, month) {
        days -= month_days(year, month);
        month += 1;
    }
    (year, month, days + 1)
}

fn days_before_year(year: u64) -> u64 {
    let leap_days = |year: u64| year / 4 - year / 100 + year / 400;
    (year - 1970) * 365 + leap_days(year - 1) - leap_days(1969)
}

fn month_days(year: u64, month: u64) -> u64 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Of `01:02`, `01:02:43` or `01:02:43.1234567`; what is below a millisecond is dropped.
fn millis(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(whole, part)| (whole, Some(part)));
    let mut parts = whole.split(':');
    let (hour, minute) = (number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    let second = parts.next().map(|part| number(part, 2));
    let is_time =
        hour < 24 && minute < 60 && parts.next().is_none() && (fraction.is_none() || second.is_some());
    let second = second.unwrap_or(Some(0)).filter(|second| is_time && *second < 60)?;
    let fraction = match fraction {
        None => 0,
        Some(digits) if (1..=7).contains(&digits.len()) => {
            number(&format!("{digits:0<7}"), 7).map(|ticks| ticks / 10_000)?
        }
        Some(_) => return None,
    };
    Some(((hour * 60 + minute) * 60 + second) * 1000 + fraction)
}

fn number(text: &str, length: usize) -> Option<u64> {
    let is_number = text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<u64>) {
        assert_eq!(parse_time(text).map(Timestamp::millis), expected, "{text}");
    }

    #[test]
    fn every_form_of_a_moment_is_read() {
        check("1970-01-01", Some(0));
        check("2026-11-15", Some(1_794_700_800_000));
        check("2026-11-15T01:02Z", Some(1_794_704_520_000));
        check("2026-11-15T01:02:43Z", Some(1_794_704_563_000));
        check("2026-11-15T01:02:43", Some(1_794_704_563_000));
        check("2026-11-15T01:02:43.1Z", Some(1_794_704_563_100));
        check("2026-11-15T01:02:43.1234567Z", Some(1_794_704_563_123));
        check("2024-02-29", Some(1_709_164_800_000));
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for text in [
            "",
            "2026",
            "2026-11",
            "2026-13-01",
            "2026-02-29",
            "2026-11-31",
            "2026-1-1",
            "2026-11-15T",
            "2026-11-15T01",
            "2026-11-15T24:00Z",
            "2026-11-15T01:60Z",
            "2026-11-15T01:02:60Z",
            "2026-11-15T01:02.5Z",
            "1969-12-31",
            "2026-11-15T01:02:43.Z",
            "2026-11-15T01:02:43.12345678Z",
            "2026-11-15T01:02:43+01:00",
            "2026-11-15 01:02Z",
            "２026-11-15",
            "-026-11-15",
            "2026-11-15-",
            "2026-11-15T01:02:43:1Z",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        for seconds in
            (0..3_000_000_000).step_by(86_399 * 7).chain([951_782_400, 4_107_542_399, 4_107_542_400])
        {
            let at = Timestamp::from_seconds(seconds);
            assert_eq!(parse_time(&format_time(at)), Some(at));
            assert_eq!(parse_time(&format_time_seconds(at)), Some(at));
        }
        assert_eq!(format_time(Timestamp::from_millis(1_794_704_563_042)), "2026-11-15T01:02:43.0420000Z");
    }
}
