//! Parameters of operations on messages, checked once where they come in.

use crate::limits;
use bytes::Bytes;
use orrery_core::Timestamp;
use std::time::Duration;

/// A number that is not within the limits of its parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{value} is not within {min} and {max}")]
pub struct OutOfRange {
    pub value: i64,
    pub min: i64,
    pub max: i64,
}

/// For how long a message is invisible; not at all, unless its put says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VisibilityTimeout {
    seconds: u64,
}

impl VisibilityTimeout {
    /// Of a put or an update: 0 seconds to 7 days.
    pub fn for_put(seconds: i64) -> Result<Self, OutOfRange> {
        Self::at_least(0, seconds)
    }

    /// Of a get: 1 second to 7 days.
    pub fn for_get(seconds: i64) -> Result<Self, OutOfRange> {
        Self::at_least(1, seconds)
    }

    /// Of a get that does not say.
    pub const fn default_for_get() -> Self {
        Self { seconds: limits::VISIBILITY_SECONDS_DEFAULT }
    }

    fn at_least(min: u64, seconds: i64) -> Result<Self, OutOfRange> {
        within(seconds, min, limits::VISIBILITY_SECONDS_MAX).map(|seconds| Self { seconds })
    }

    pub const fn seconds(self) -> u64 {
        self.seconds
    }

    pub fn ends(self, now: Timestamp) -> Timestamp {
        now.plus(Duration::from_secs(self.seconds))
    }
}

/// For how long a message lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeToLive {
    Seconds(u64),
    Forever,
}

impl TimeToLive {
    /// At least a second; -1 is for ever.
    pub fn parse(seconds: i64) -> Result<Self, OutOfRange> {
        if seconds == -1 {
            return Ok(Self::Forever);
        }
        within(seconds, 1, i64::MAX as u64).map(Self::Seconds)
    }

    /// When a message that is put now expires; never, if that is further away than clocks go.
    pub fn ends(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Forever => None,
            Self::Seconds(seconds) => {
                let millis = seconds.checked_mul(1000)?.checked_add(now.millis())?;
                Some(Timestamp::from_millis(millis))
            }
        }
    }

    /// Whether a message that lives so long is visible at some time.
    pub fn outlasts(self, visibility: VisibilityTimeout) -> bool {
        match self {
            Self::Forever => true,
            Self::Seconds(seconds) => visibility.seconds() < seconds,
        }
    }
}

impl Default for TimeToLive {
    fn default() -> Self {
        Self::Seconds(limits::TIME_TO_LIVE_SECONDS_DEFAULT)
    }
}

/// How many messages a get or a peek asks for: 1 to 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageCount(u8);

impl MessageCount {
    pub const ONE: Self = Self(1);

    pub fn parse(count: i64) -> Result<Self, OutOfRange> {
        within(count, 1, limits::MESSAGES_PER_GET_MAX).map(|count| Self(count as u8))
    }

    pub fn get(self) -> usize {
        usize::from(self.0)
    }
}

fn within(value: i64, min: u64, max: u64) -> Result<u64, OutOfRange> {
    match u64::try_from(value) {
        Ok(number) if (min..=max).contains(&number) => Ok(number),
        _ => Err(OutOfRange { value, min: min as i64, max: max as i64 }),
    }
}

/// The text of a message, exactly as it was sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageText(Bytes);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text of a message has at most {} bytes, and this one {bytes}", limits::MESSAGE_TEXT_BYTES_MAX)]
pub struct TextTooLong {
    pub bytes: usize,
}

impl MessageText {
    pub fn new(text: String) -> Result<Self, TextTooLong> {
        if text.len() > limits::MESSAGE_TEXT_BYTES_MAX {
            return Err(TextTooLong { bytes: text.len() });
        }
        Ok(Self(Bytes::from(text)))
    }

    /// `None` if the bytes are not UTF-8.
    pub(crate) fn read(stored: Bytes) -> Option<Self> {
        std::str::from_utf8(&stored).ok()?;
        Some(Self(stored))
    }

    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("a message's text was checked when it was made")
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_outside_of_their_range_are_refused() {
        let week = 604_800;
        let refused = |value, min, max| Some(OutOfRange { value, min, max });
        let put = |value| VisibilityTimeout::for_put(value).err();
        assert_eq!([put(0), put(week)], [None, None]);
        assert_eq!([put(-1), put(week + 1)], [refused(-1, 0, week), refused(week + 1, 0, week)]);
        let get = |value| VisibilityTimeout::for_get(value).err();
        assert_eq!([get(1), get(week), get(0)], [None, None, refused(0, 1, week)]);
        let count = |value| MessageCount::parse(value).err();
        assert_eq!(
            [count(1), count(32), count(0), count(33)],
            [None, None, refused(0, 1, 32), refused(33, 1, 32)]
        );
        let live = |value| TimeToLive::parse(value).err();
        assert_eq!([live(-1), live(1), live(i64::MAX)], [None; 3]);
        assert_eq!([live(0), live(-2)], [refused(0, 1, i64::MAX), refused(-2, 1, i64::MAX)]);
    }

    #[test]
    fn a_message_outlasts_its_invisibility_or_is_refused() {
        let hidden = |seconds| VisibilityTimeout::for_put(seconds).expect("within a week");
        assert!(TimeToLive::Seconds(1).outlasts(hidden(0)));
        assert!(!TimeToLive::Seconds(10).outlasts(hidden(10)));
        assert!(TimeToLive::Seconds(11).outlasts(hidden(10)));
        assert!(TimeToLive::Forever.outlasts(hidden(604_800)));
    }

    #[test]
    fn a_life_longer_than_the_clock_is_for_ever() {
        let now = Timestamp::from_seconds(1_800_000_000);
        assert_eq!(TimeToLive::Seconds(5).ends(now), Some(Timestamp::from_seconds(1_800_000_005)));
        assert_eq!(TimeToLive::Seconds(i64::MAX as u64).ends(now), None);
        assert_eq!(TimeToLive::Forever.ends(now), None);
    }

    #[test]
    fn a_text_has_at_most_64_kib() {
        assert!(MessageText::new("é".repeat(32 * 1024)).is_ok());
        assert_eq!(MessageText::new("a".repeat(65_537)), Err(TextTooLong { bytes: 65_537 }));
    }
}
