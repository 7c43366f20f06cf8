//! The limits of queues and messages. Those that Azure publishes have its value.

/// The text of a message, after XML is decoded.
pub const MESSAGE_TEXT_BYTES_MAX: usize = 64 * 1024;
/// Messages of one get or peek.
pub const MESSAGES_PER_GET_MAX: u64 = 32;
/// How long a message may be invisible.
pub const VISIBILITY_SECONDS_MAX: u64 = 7 * 24 * 60 * 60;
/// For how long a get hides messages, unless it says.
pub const VISIBILITY_SECONDS_DEFAULT: u64 = 30;
/// How long a message lives, unless its put says.
pub const TIME_TO_LIVE_SECONDS_DEFAULT: u64 = 7 * 24 * 60 * 60;
/// Expired messages that one get removes, or one peek passes over; if there are more, it is repeated.
pub const EXPIRED_PER_GET_MAX: usize = 256;
/// Visibility rows that one step of the search for expired messages reads.
pub const EXPIRY_ROWS_MAX: usize = 4096;
/// Rows of a dropped or cleared queue that one step removes, and the bytes of these rows.
pub const LEFTOVER_ROWS_MAX: usize = 512;
pub const LEFTOVER_BYTES_MAX: usize = 4 * 1024 * 1024;
