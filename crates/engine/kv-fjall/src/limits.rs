//! The limits of the engine on disk.

/// Free disk space below which writes are refused, before the engine meets a full disk.
pub const DISK_FREE_BYTES_MIN: u64 = 256 * 1024 * 1024;
/// The share of that reserve, one in so many, that deletes leave too: the engine needs room to merge what they removed.
pub const DISK_FREE_LAST_SHARE: u64 = 4;
