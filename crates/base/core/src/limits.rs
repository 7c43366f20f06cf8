//! Limits that several crates share; those that Azure publishes have its value. A limit that one crate needs
//! is in that crate's `limits.rs`. Names end in their unit.

/// The size of an item, as stored JSON text.
pub const ITEM_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Nesting of arrays and objects.
pub const NESTING_LEVELS_MAX: usize = 128;
/// Names of databases and containers.
pub const NAME_CHARS_MAX: usize = 255;
/// Ids of items.
pub const ITEM_ID_BYTES_MAX: usize = 1023;
/// Paths of a hierarchical partition key.
pub const PARTITION_KEY_PATHS_MAX: usize = 3;
/// Operations of one batch.
pub const BATCH_OPERATIONS_MAX: usize = 100;
/// The size of a logical partition, in bytes of item text.
pub const PARTITION_BYTES_MAX: u64 = 20_000_000_000;
/// A page of a feed: payload bytes, and items if the caller specifies no number.
pub const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
pub const PAGE_ITEMS_DEFAULT: usize = 1000;
/// Height of a query's tree: operators, members, calls and subqueries. Code that walks the tree may recurse,
/// so this also bounds stacks. Chains of AND, OR and `||` are built balanced and cost little.
pub const QUERY_TREE_LEVELS_MAX: usize = 256;
/// Duration of a commit after which the watchdog stops the process.
pub const COMMIT_SECONDS_MAX: u64 = 60;
/// Interval between log lines about a repeated failure, such as refused writes.
pub const LOG_LINE_EVERY_SECONDS: u64 = 1;
/// The head of a request or response.
pub const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Time limit for receiving a body.
pub const BODY_SECONDS_MAX: u64 = 60;
/// Time limit of a request from its first byte to its commit: body and commit, with a margin.
pub const REQUEST_SECONDS_MAX: u64 = BODY_SECONDS_MAX + COMMIT_SECONDS_MAX + 60;
/// Nesting of an array or object that a query builds for one row. An item contributes at most
/// [`NESTING_LEVELS_MAX`] levels, and the query text [`QUERY_TREE_LEVELS_MAX`] more.
pub const VALUE_LEVELS_MAX: usize = NESTING_LEVELS_MAX + QUERY_TREE_LEVELS_MAX;
/// The prefix of a string that an index keeps. It is part of the stored format.
pub const INDEX_STRING_BYTES_MAX: usize = 128;
/// Request units per second of a range of a serverless container.
pub const SERVERLESS_UNITS_PER_SECOND_MAX: u64 = 5_000;
/// The JSON of a push, and the id by which a device replaces one push by another.
pub const PUSH_PAYLOAD_BYTES_MAX: usize = 4_096;
pub const PUSH_COLLAPSE_ID_BYTES_MAX: usize = 64;
