//! The limits of the queues of a process, and those of messages.

pub use orrery_queues::limits::MESSAGE_TEXT_BYTES_MAX;

/// Queues of one page of a list, as Azure publishes.
pub const QUEUES_PER_PAGE_MAX: usize = 5_000;
/// Seconds between two searches for expired messages.
pub const EXPIRY_EVERY_SECONDS: u64 = 60 * 60;
