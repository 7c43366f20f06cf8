//! Timestamps as services write them: ISO 8601 in UTC with milliseconds, `2026-11-15T10:00:00.000Z`.
//!
//! One form, always as long, so that texts sort as the moments do; the seed's queries compare them as text. What comes
//! from outside may have other fractions or an offset; it is read and written in this form again.

use orrery_core::Timestamp;

const MILLIS_PER_DAY: u64 = 86_400_000;
const DAYS_PER_CYCLE: i64 = 146_097;
/// From 0000-03-01 to 1970-01-01.
const DAYS_TO_EPOCH: i64 = 719_468;
const YEAR_MAX: i64 = 9999;
/// The last millisecond of the year 9999.
const MILLIS_MAX: u64 = 253_402_300_799_999;

/// `2026-11-15T10:00:00.000Z`. What lies after the year 9999 is its last moment.
pub fn format(at: Timestamp) -> String {
    let millis = at.millis().min(MILLIS_MAX);
    let (days, rest) = (millis / MILLIS_PER_DAY, millis % MILLIS_PER_DAY);
    let (year, month, day) = date_of(days as i64);
    let (hour, minute, second) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60);
    let fraction = rest % 1000;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:03}Z")
}

/// Reads a date with a time and a zone: `Z` or an offset such as `+02:00`; up to nine digits of a fraction, of which
/// milliseconds are kept. Nothing before 1970, and no date that does not exist.
pub fn parse(text: &str) -> Option<Timestamp> {
    let (date, rest) = text.split_at_checked(10)?;
    let (year, month, day) = parse_date(date)?;
    let rest = rest.strip_prefix(['T', 't'])?;
    let (clock, rest) = rest.split_at_checked(8)?;
    let seconds = parse_clock(clock)?;
    let (millis, zone) = parse_fraction(rest)?;
    let offset = parse_zone(zone)?;
    let seconds = days_of(year, month, day) * 86_400 + seconds - offset * 60;
    let millis = u64::try_from(seconds).ok()?.checked_mul(1000)?.checked_add(millis)?;
    (millis <= MILLIS_MAX).then_some(Timestamp::from_millis(millis))
}

fn parse_date(text: &str) -> Option<(i64, i64, i64)> {
    let mut parts = text.split('-');
    let (year, month, day) =
        (digits(parts.next()?, 4)?, digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let exists = parts.next().is_none()
        && (1..=YEAR_MAX).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_in_month(year, month)).contains(&day);
    exists.then_some((year, month, day))
}

/// Seconds since midnight.
fn parse_clock(text: &str) -> Option<i64> {
    let mut parts = text.split(':');
    let (hour, minute, second) =
        (digits(parts.next()?, 2)?, digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let exists = parts.next().is_none() && hour < 24 && minute < 60 && second < 60;
    exists.then_some(hour * 3600 + minute * 60 + second)
}

/// The milliseconds of a fraction, and what follows it.
fn parse_fraction(text: &str) -> Option<(u64, &str)> {
    let Some(text) = text.strip_prefix('.') else { return Some((0, text)) };
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    let (fraction, zone) = text.split_at_checked(length)?;
    if !(1..=9).contains(&length) {
        return None;
    }
    let millis =
        fraction.bytes().chain(*b"00").take(3).fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
    Some((millis, zone))
}

/// Minutes that the zone is ahead of UTC.
fn parse_zone(text: &str) -> Option<i64> {
    if text == "Z" || text == "z" {
        return Some(0);
    }
    let (sign, text) = match text.split_at_checked(1)? {
        ("+", text) => (1, text),
        ("-", text) => (-1, text),
        _ => return None,
    };
    let (hours, minutes) = text.split_once(':')?;
    let (hours, minutes) = (digits(hours, 2)?, digits(minutes, 2)?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes))
}

fn digits(text: &str, length: usize) -> Option<i64> {
    let is_number = text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// The date so many days after 1970-01-01. A year is taken to begin in March, so that the leap day is its last.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + DAYS_TO_EPOCH;
    let (cycle, day_of_cycle) = (days.div_euclid(DAYS_PER_CYCLE), days.rem_euclid(DAYS_PER_CYCLE));
    let year_of_cycle =
        (day_of_cycle - day_of_cycle / 1_460 + day_of_cycle / 36_524 - day_of_cycle / 146_096) / 365;
    let day_of_year = day_of_cycle - (year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100);
    let month_of_year = (day_of_year * 5 + 2) / 153;
    let day = day_of_year - (month_of_year * 153 + 2) / 5 + 1;
    let month = if month_of_year < 10 { month_of_year + 3 } else { month_of_year - 9 };
    (cycle * 400 + year_of_cycle + i64::from(month <= 2), month, day)
}

fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let month_of_year = (month + 9) % 12;
    let (cycle, year_of_cycle) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (month_of_year * 153 + 2) / 5 + day - 1;
    let day_of_cycle = year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100 + day_of_year;
    cycle * DAYS_PER_CYCLE + day_of_cycle - DAYS_TO_EPOCH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_and_read_again() {
        let check = |millis: u64, text: &str| {
            assert_eq!(format(Timestamp::from_millis(millis)), text);
            assert_eq!(parse(text), Some(Timestamp::from_millis(millis)), "{text}");
        };
        check(0, "1970-01-01T00:00:00.000Z");
        check(1_794_704_563_007, "2026-11-15T01:02:43.007Z");
        check(951_782_400_000, "2000-02-29T00:00:00.000Z");
        check(4_107_542_399_999, "2100-02-28T23:59:59.999Z");
        check(MILLIS_MAX, "9999-12-31T23:59:59.999Z");
    }

    #[test]
    fn every_day_of_four_centuries_comes_back() {
        let mut before = String::new();
        for day in 0..DAYS_PER_CYCLE as u64 {
            let at = Timestamp::from_millis(day * MILLIS_PER_DAY + 1);
            let text = format(at);
            assert_eq!(parse(&text), Some(at));
            assert!(before < text, "texts sort as moments do");
            before = text;
        }
    }

    #[test]
    fn offsets_and_fractions_are_understood() {
        let same = Timestamp::from_millis(1_794_704_563_120);
        for text in [
            "2026-11-15T01:02:43.12Z",
            "2026-11-15T01:02:43.120999999Z",
            "2026-11-15T03:02:43.12+02:00",
            "2026-11-14T19:32:43.12-05:30",
            "2026-11-15t01:02:43.120z",
        ] {
            assert_eq!(parse(text), Some(same), "{text}");
        }
        assert_eq!(parse("2026-11-15T01:02:43Z"), Some(Timestamp::from_seconds(1_794_704_563)));
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for text in [
            "",
            "2026-11-15",
            "2026-11-15T01:02:43",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-11-15T24:00:00Z",
            "2026-11-15T01:60:00Z",
            "2026-11-15T01:02:43.Z",
            "2026-11-15T01:02:43.1234567890Z",
            "2026-11-15T01:02:43+0200",
            "2026-11-15T01:02:43+24:00",
            "2026-11-15T01:02:43ZZ",
            "+026-11-15T01:02:43Z",
            "1969-12-31T23:59:59Z",
            "1970-01-01T00:00:00+00:01",
            "9999-12-31T23:59:59-00:01",
            "２026-11-15T01:02:43Z",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
