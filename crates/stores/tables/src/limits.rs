//! The limits of the table store: what is counted, cached, and done in the background.

/// Accounts whose service properties are cached.
pub const SERVICE_PROPERTIES_CACHED_MAX: usize = 1024;
/// Partitions of a table whose requests are counted, each by itself.
pub const USAGE_PARTITIONS_MAX: usize = 64;
/// Shapes of filters that are remembered of a table, and the characters of one that are kept.
pub const USAGE_SCANS_MAX: usize = 64;
pub const USAGE_FILTER_CHARS_MAX: usize = 300;
/// Dropped tables whose rows are removed in one round of background work.
pub const SWEEPS_PER_ROUND_MAX: usize = 64;
/// Interval between two looks at a table's log, to trim it.
pub const LOG_TRIM_EVERY_SECONDS: u64 = 60;
