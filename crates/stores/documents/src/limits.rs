//! The limits of the document store: queues, caches, statistics, throttling and scripts.

/// How long the conditions of one request's patches may take, since a partition waits for them.
pub const PATCH_CONDITIONS_MILLIS_MAX: u64 = 500;
/// A continuation token as it arrives.
pub const CONTINUATION_BYTES_MAX: usize = 16 * 1024;
/// Items that are read by one request that names them, as many as SDKs ask for at once, and their text together.
pub const READ_MANY_ITEMS_MAX: usize = 1000;
pub const READ_MANY_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Queries that run at once: those that have just begun, and those that take long. More wait for one of them to end.
pub const QUERIES_BRIEF_MAX: usize = 16;
pub const QUERIES_LONG_MAX: usize = 16;
/// A query that has not ended by then is begun again among those that take long, if it has looked at the clock so often: about
/// once in a thousand rows.
pub const QUERY_BRIEF_MILLIS_MAX: u64 = 50;
pub const QUERY_BRIEF_LOOKS_MIN: u32 = 8;
/// How long a query waits for its turn among those that take long, or for memory, before it is refused.
pub const QUERY_WAIT_SECONDS_MAX: u64 = 20;
/// When a client that was refused so is told to try again.
pub const QUERY_BUSY_RETRY_MILLIS: u64 = 1_000;
/// Memory that is kept for one query that found none left: as much as a query may hold.
pub const QUERY_OWN_MEMORY_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Partitions whose items are entered anew at once.
pub const REINDEX_THREADS: usize = 16;
/// What is remembered of how containers are used, to advise on it: so many containers, and of each so many shapes of
/// queries with the beginning of their text, paths that they asked for, and partitions that were asked most.
pub const USAGE_CONTAINERS_MAX: usize = 256;
pub const USAGE_SHAPES_MAX: usize = 256;
pub const USAGE_SHAPE_CHARS_MAX: usize = 300;
pub const USAGE_PATHS_MAX: usize = 1024;
pub const USAGE_PARTITIONS_MAX: usize = 64;
/// How much of one path is remembered, and composite indexes that would have helped one shape.
pub const USAGE_PATH_BYTES_MAX: usize = 256;
pub const USAGE_COMPOSITES_MAX: usize = 4;
/// Items from this size on are remembered as large ones, so many of each container.
pub const ITEM_LARGE_BYTES: usize = 64 * 1024;
pub const USAGE_LARGE_ITEMS_MAX: usize = 16;
/// Queries with their parameters whose plans are kept, because they came before.
pub const PLAN_CACHE_ENTRIES_MAX: usize = 2_048;
/// Memory that the constants of such a plan may take: a short text can stand for a large value.
pub const QUERY_REMEMBERED_CONSTANTS_BYTES_MAX: usize = 4 * 1024;
/// A query that took no longer is run where its request is.
pub const QUERY_SHORT_MICROS_MAX: u64 = 1_000;
/// One that is run there and takes longer than this is begun again on a thread of its own.
pub const QUERY_PATIENCE_MILLIS: u64 = 10;
/// Request units a second: of one logical partition, and of all requests about databases, containers and offers.
pub const PARTITION_UNITS_PER_SECOND_MAX: u64 = 10_000;
pub const METADATA_UNITS_PER_SECOND_MAX: u64 = 240;
/// Unused request units are saved for so long and spent at most so fast, by ranges that have less than that.
pub const BURST_SECONDS_MAX: i64 = 300;
pub const BURST_UNITS_PER_SECOND_MAX: u64 = 3_000;
/// Logical partitions whose request units are counted at once.
pub const PARTITIONS_METERED_MAX: usize = 65_536;
/// Interval between two looks at a container's log, to trim it.
pub const LOG_TRIM_EVERY_SECONDS: u64 = 60;
/// How long whoever asked waits, tries and all, before it is told that the time is over.
pub const SCRIPT_ANSWER_MILLIS_MAX: u64 = 20_000;
/// What a script changes in all, with the text of what it replaces and deletes; more is refused.
pub const SCRIPT_CHANGED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Items of a partition whose numbers are remembered for a script that names them by link.
pub const SCRIPT_ORDINALS_MAX: usize = 100_000;
/// Short scripts that run at once, and long ones beside them; more wait for one of them to end.
pub const SCRIPTS_MAX: usize = 8;
pub const SCRIPTS_LONG_MAX: usize = 8;
/// Triggers that one write may name.
pub const WRITE_TRIGGERS_MAX: usize = 16;
/// What is measured of each by itself: containers, and logical partitions of all of them, whose keys are this long at most
/// as they are sent; the rest is counted together.
pub const MONITOR_CONTAINERS_MAX: usize = 256;
pub const MONITOR_PARTITIONS_MAX: usize = 2_048;
pub const MONITOR_PARTITION_KEY_BYTES_MAX: usize = 512;
