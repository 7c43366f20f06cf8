//! The limits of the queues of a process.

/// Queues of one page of a list, as Azure publishes.
pub const QUEUES_PER_PAGE_MAX: usize = 5_000;
/// Seconds between two searches for expired messages.
pub const EXPIRY_EVERY_SECONDS: u64 = 60 * 60;
