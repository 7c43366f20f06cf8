//! The limits of the document store: queues, caches, statistics, throttling and scripts.

/// Time limit of the conditions of one request's patches, since a partition waits for them.
pub const PATCH_CONDITIONS_MILLIS_MAX: u64 = 500;
/// The size of a received continuation token.
pub const CONTINUATION_BYTES_MAX: usize = 16 * 1024;
/// Items of one read by keys (the SDKs' limit per request), and the size of their text together.
pub const READ_MANY_ITEMS_MAX: usize = 1000;
pub const READ_MANY_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Queries that run at once, in the brief lane and in the long lane; more wait for a slot.
pub const QUERIES_BRIEF_MAX: usize = 16;
pub const QUERIES_LONG_MAX: usize = 16;
/// Time limit in the brief lane, after which a query restarts in the long lane, if it has looked at the clock at least
/// so often (about once per thousand rows).
pub const QUERY_BRIEF_MILLIS_MAX: u64 = 50;
pub const QUERY_BRIEF_LOOKS_MIN: u32 = 8;
/// How long a query waits for a slot in the long lane, or for memory, before it is refused.
pub const QUERY_WAIT_SECONDS_MAX: u64 = 20;
/// The retry time that such a client is given.
pub const QUERY_BUSY_RETRY_MILLIS: u64 = 1_000;
/// Memory reserved for a query that found none left: as much as a query may hold.
pub const QUERY_OWN_MEMORY_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Partitions re-indexed concurrently.
pub const REINDEX_THREADS: usize = 16;
/// Recorded usage: containers, and for each of them shapes of queries with a prefix of their text, paths, and busiest
/// partitions.
pub const USAGE_CONTAINERS_MAX: usize = 256;
pub const USAGE_SHAPES_MAX: usize = 256;
pub const USAGE_SHAPE_CHARS_MAX: usize = 300;
pub const USAGE_PATHS_MAX: usize = 1024;
pub const USAGE_PARTITIONS_MAX: usize = 64;
/// The recorded prefix of a path, and composite indexes that would have helped one shape.
pub const USAGE_PATH_BYTES_MAX: usize = 256;
pub const USAGE_COMPOSITES_MAX: usize = 4;
/// The size from which an item is recorded as large, and how many are recorded per container.
pub const ITEM_LARGE_BYTES: usize = 64 * 1024;
pub const USAGE_LARGE_ITEMS_MAX: usize = 16;
/// Queries, with their parameters, in the plan cache.
pub const PLAN_CACHE_ENTRIES_MAX: usize = 2_048;
/// Memory of the constants of a cached plan: a short text can stand for a large value.
pub const QUERY_REMEMBERED_CONSTANTS_BYTES_MAX: usize = 4 * 1024;
/// A query that took no longer runs on its request's own thread.
pub const QUERY_SHORT_MICROS_MAX: u64 = 1_000;
/// A query that takes longer there restarts on a thread of its own.
pub const QUERY_PATIENCE_MILLIS: u64 = 10;
/// Request units per second: of one logical partition, and of all requests for databases, containers and offers.
pub const PARTITION_UNITS_PER_SECOND_MAX: u64 = 10_000;
pub const METADATA_UNITS_PER_SECOND_MAX: u64 = 240;
/// Burst capacity: how long unused request units are kept, and the rate at which they may be spent, by ranges with a
/// lower rate.
pub const BURST_SECONDS_MAX: i64 = 300;
pub const BURST_UNITS_PER_SECOND_MAX: u64 = 3_000;
/// Logical partitions whose request units are counted.
pub const PARTITIONS_METERED_MAX: usize = 65_536;
/// Interval between checks of a container's log for trimming.
pub const LOG_TRIM_EVERY_SECONDS: u64 = 60;
/// How long the caller of a script waits, including retries.
pub const SCRIPT_ANSWER_MILLIS_MAX: u64 = 20_000;
/// The text that one script writes, replaces and deletes.
pub const SCRIPT_CHANGED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Items of a partition whose ordinals are cached for a script that names them by link.
pub const SCRIPT_ORDINALS_MAX: usize = 100_000;
/// Concurrent short scripts and concurrent long ones; more wait for a slot.
pub const SCRIPTS_MAX: usize = 8;
pub const SCRIPTS_LONG_MAX: usize = 8;
/// Triggers of one write.
pub const WRITE_TRIGGERS_MAX: usize = 16;
/// Containers and logical partitions that are measured individually, and the length of such a partition's key as sent;
/// the rest is counted together.
pub const MONITOR_CONTAINERS_MAX: usize = 256;
pub const MONITOR_PARTITIONS_MAX: usize = 2_048;
pub const MONITOR_PARTITION_KEY_BYTES_MAX: usize = 512;
