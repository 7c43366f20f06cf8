//! The limits of the blob store: what is cached and done in the background. Those of blobs are in the model.

pub use orrery_blobs::limits::*;

/// Accounts whose settings are cached.
pub const SETTINGS_CACHED_MAX: usize = 1024;
/// Dropped containers whose rows are removed in one round of background work.
pub const SWEEPS_PER_ROUND_MAX: usize = 64;
/// Interval between two looks at a container's log, to trim it.
pub const LOG_TRIM_EVERY_SECONDS: u64 = 60;
