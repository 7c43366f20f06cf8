//! The limits of the engine's log and tallies.

/// When a folder is opened, the checksum chain of this many last commits is verified, up to so many bytes. Logs are
/// trimmed before them, so the number of commits may be lowered but not raised: holes would come to be looked at.
pub const LOG_VERIFY_COMMITS: u64 = 10_000;
pub const LOG_VERIFY_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Counts that one tally keeps, and tallies that are kept in memory.
pub const TALLY_FIELDS_MAX: usize = 256;
pub const TALLIES_CACHED_MAX: usize = 4096;
