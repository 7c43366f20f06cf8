//! The limits of the blob store: what is cached and done in the background. Those of blobs are in the model.

pub use orrery_blobs::limits::*;

/// Accounts whose settings are cached.
pub const SETTINGS_CACHED_MAX: usize = 1024;
/// Dropped containers whose rows are removed in one round of background work.
pub const SWEEPS_PER_ROUND_MAX: usize = 64;
/// Interval between two looks at a container's log, to trim it.
pub const LOG_TRIM_EVERY_SECONDS: u64 = 60;
/// Bytes that an upload gives to the disk at once; two of them are in memory.
pub const UPLOAD_BATCH_BYTES: usize = 256 * 1024;
/// Bytes of one read of a chunk, and of what was never written.
pub const READ_BYTES_AT_ONCE: u64 = 1024 * 1024;
pub const READ_ZEROS_BYTES: usize = 64 * 1024;
/// Parts of content that are looked up at once.
pub const READ_PARTS_AT_ONCE: usize = 1024;
/// How often a transaction is run again that found what it depends on changed.
pub const PRECONDITION_RETRIES_MAX: usize = 8;
/// How long blobs are on their way out of the archive. Azure takes hours; who tests does not want to.
pub const REHYDRATION_STANDARD_SECONDS: u64 = 60;
pub const REHYDRATION_HIGH_SECONDS: u64 = 10;
/// States that one page of a lifecycle plan looks at before it ends.
pub const LIFECYCLE_PAGE_STATES_MAX: u64 = 5_000;
/// How often a policy runs, and how often it is looked whether one is due.
pub const LIFECYCLE_EVERY_SECONDS: u64 = 24 * 60 * 60;
pub const LIFECYCLE_LOOK_EVERY_SECONDS: u64 = 60;
/// How often it is looked whether an inventory is due.
pub const INVENTORY_LOOK_EVERY_SECONDS: u64 = 60;
/// Rows that an inventory in Parquet has in memory at once.
pub const INVENTORY_GROUP_ROWS: usize = 10_000;
/// Actions of a lifecycle run that are under way at once.
pub const LIFECYCLE_ACTIONS_AT_ONCE: usize = 64;
