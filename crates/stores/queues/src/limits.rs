//! The limits of the queues of a process, and those of messages.

pub use orrery_queues::limits::MESSAGE_TEXT_BYTES_MAX;

/// Queues of one page of a list, as Azure publishes.
pub const QUEUES_PER_PAGE_MAX: usize = 5_000;
/// Seconds between two searches for expired messages.
pub const EXPIRY_EVERY_SECONDS: u64 = 60 * 60;
/// Gets after which a message counts as one that its consumers fail on, as Azure Functions count them; and how many such
/// messages of a queue are remembered.
pub const REPEATED_GETS_MIN: u32 = 5;
pub const REPEATED_MESSAGES_MAX: usize = 16;
