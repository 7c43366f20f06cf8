//! A timestamp in milliseconds since 1970 (UTC).

use std::time::{Duration, UNIX_EPOCH};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    pub const fn from_seconds(seconds: u64) -> Self {
        Self(seconds.saturating_mul(1000))
    }

    pub const fn millis(self) -> u64 {
        self.0
    }

    /// Whole seconds, rounded down: the unit of `_ts` and of TTL.
    pub const fn seconds(self) -> u64 {
        self.0 / 1000
    }

    pub const fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration.as_millis() as u64))
    }

    pub const fn abs_diff(self, other: Self) -> Duration {
        Duration::from_millis(self.0.abs_diff(other.0))
    }

    /// `Sun, 15 Nov 2026 01:02:43 GMT`, the HTTP date format.
    pub fn to_http(self) -> String {
        httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_millis(self.0))
    }

    pub fn parse_http(text: &str) -> Option<Self> {
        let at = httpdate::parse_http_date(text).ok()?;
        let since = at.duration_since(UNIX_EPOCH).ok()?;
        Some(Self(since.as_millis() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_dates_round_trip_to_the_second() {
        let at = Timestamp::from_seconds(1_794_704_563);
        assert_eq!(at.to_http(), "Sun, 15 Nov 2026 01:02:43 GMT");
        assert_eq!(Timestamp::parse_http(&at.to_http()), Some(at));
        assert_eq!(Timestamp::parse_http("not a date"), None);
    }

    #[test]
    fn seconds_round_down() {
        assert_eq!(Timestamp::from_millis(1999).seconds(), 1);
    }
}
