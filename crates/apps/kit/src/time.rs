//! Timestamps in the services' format: ISO 8601 in UTC with milliseconds, `2026-11-15T10:00:00.000Z`.
//!
//! There is one form of fixed length, so that strings sort as the times do; the seed's queries compare them
//! as strings. External input may have other fractions or an offset; it is parsed and stored in this form.

use jiff::SignedDuration;
use jiff::civil::{self, DateTime};
use orrery_core::Timestamp;

const EPOCH: DateTime = civil::date(1970, 1, 1).at(0, 0, 0, 0);
/// The last millisecond of the year 9999.
const MILLIS_MAX: u64 = 253_402_300_799_999;

/// `2026-11-15T10:00:00.000Z`. Times after the year 9999 become its last millisecond.
pub fn format(at: Timestamp) -> String {
    let at = EPOCH.saturating_add(SignedDuration::from_millis(at.millis().min(MILLIS_MAX) as i64));
    let (year, month, day) = (at.year(), at.month(), at.day());
    let (hour, minute, second, fraction) = (at.hour(), at.minute(), at.second(), at.millisecond());
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:03}Z")
}

/// Parses a date with a time and a zone: `Z` or an offset such as `+02:00`; up to nine fraction digits, of
/// which milliseconds are kept. Dates before 1970 and dates that do not exist are refused.
pub fn parse(text: &str) -> Option<Timestamp> {
    let (date, rest) = text.split_at_checked(10)?;
    let rest = rest.strip_prefix(['T', 't'])?;
    let (clock, rest) = rest.split_at_checked(8)?;
    let (millis, zone) = parse_fraction(rest)?;
    let local = parse_date(date)?.to_datetime(parse_clock(clock)?).duration_since(EPOCH);
    let seconds = local.as_secs() - i64::from(parse_zone(zone)?) * 60;
    let millis = u64::try_from(seconds).ok()?.checked_mul(1000)?.checked_add(millis)?;
    (millis <= MILLIS_MAX).then_some(Timestamp::from_millis(millis))
}

fn parse_date(text: &str) -> Option<civil::Date> {
    let mut parts = text.split('-');
    let (year, month, day) =
        (digits(parts.next()?, 4)?, digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let is_whole = parts.next().is_none() && year > 0;
    is_whole.then(|| civil::Date::new(year, month as i8, day as i8).ok())?
}

fn parse_clock(text: &str) -> Option<civil::Time> {
    let mut parts = text.split(':');
    let (hour, minute, second) =
        (digits(parts.next()?, 2)?, digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let is_whole = parts.next().is_none();
    is_whole.then(|| civil::Time::new(hour as i8, minute as i8, second as i8, 0).ok())?
}

/// The milliseconds of a fraction, and the text after it.
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

/// The zone's offset from UTC in minutes.
fn parse_zone(text: &str) -> Option<i16> {
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

/// A number with a fixed count of digits, at most four.
fn digits(text: &str, length: usize) -> Option<i16> {
    let is_number = text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_survives_a_round_trip() {
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
    fn every_day_of_four_centuries_survives_a_round_trip() {
        let mut before = String::new();
        for day in 0..146_097 {
            let at = Timestamp::from_millis(day * 86_400_000 + 1);
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
    fn malformed_timestamps_are_refused() {
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
