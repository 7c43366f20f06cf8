//! The limits of transactions: groups, the commit queue, retries.

/// Transactions the committer puts under one sync.
pub const GROUP_TRANSACTIONS_MAX: usize = 1024;
/// Bytes of puts under one sync; a transaction larger than this goes alone.
pub const GROUP_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Transactions waiting for the committer before writers are told to come back.
pub const COMMIT_QUEUE_TRANSACTIONS_MAX: usize = 8192;
/// Bytes waiting for the committer before writers are told to come back.
pub const COMMIT_QUEUE_BYTES_MAX: usize = 256 * 1024 * 1024;
/// How often a transaction is run again because one it built on was refused.
pub const TRANSACTION_RETRIES_MAX: usize = 16;
/// Tries of a script while others write to its partition; in the last one they wait for it.
pub const SCRIPT_TRIES_MAX: usize = 3;
/// Mean time of commits up to which a lone writer blocks its worker instead of handing the worker's tasks to another thread.
pub const COMMIT_INLINE_MICROS_MAX: u64 = 500;
/// Commits in a row that had one writer each before a lone writer does so.
pub const COMMIT_INLINE_STREAK_MIN: u64 = 32;
