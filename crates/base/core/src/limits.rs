//! The limits that several crates share: those that Azure publishes have its value. A limit that one crate needs is in the
//! `limits.rs` of that crate. Names end in their unit.

/// The largest item, as the JSON text that is stored.
pub const ITEM_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Arrays and objects inside one another.
pub const NESTING_LEVELS_MAX: usize = 128;
/// Names of databases and containers.
pub const NAME_CHARS_MAX: usize = 255;
/// Ids of items.
pub const ITEM_ID_BYTES_MAX: usize = 1023;
/// Paths of a hierarchical partition key.
pub const PARTITION_KEY_PATHS_MAX: usize = 3;
/// Operations of one batch.
pub const BATCH_OPERATIONS_MAX: usize = 100;
/// What one logical partition may hold, of items' text.
pub const PARTITION_BYTES_MAX: u64 = 20_000_000_000;
/// A page of a feed, in payload bytes and in items when the caller names no number.
pub const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
pub const PAGE_ITEMS_DEFAULT: usize = 1000;
/// Levels of a query's tree: operators, members, calls and subqueries inside one another. Whoever walks the tree
/// may recurse, so it is a bound on stacks too. Chains of AND, OR and `||` are built balanced and cost little.
pub const QUERY_TREE_LEVELS_MAX: usize = 256;
/// How long one commit may take before the watchdog stops the process.
pub const COMMIT_SECONDS_MAX: u64 = 60;
/// Seconds between two log lines about a failure that repeats, such as writes that are refused.
pub const LOG_LINE_EVERY_SECONDS: u64 = 1;
/// The head of one request or response.
pub const HEAD_BYTES_MAX: usize = 64 * 1024;
/// How long a client may take for a whole body.
pub const BODY_SECONDS_MAX: u64 = 60;
/// No request takes longer than this from its first byte to its commit: body and commit, with room to spare.
pub const REQUEST_SECONDS_MAX: u64 = BODY_SECONDS_MAX + COMMIT_SECONDS_MAX + 60;
/// Levels of an array or object that a query builds for one row. An item has at most [`NESTING_LEVELS_MAX`] of these, and
/// the text of a query [`QUERY_TREE_LEVELS_MAX`] more.
pub const VALUE_LEVELS_MAX: usize = NESTING_LEVELS_MAX + QUERY_TREE_LEVELS_MAX;
/// How much of a string an index keeps. It is part of the stored format.
pub const INDEX_STRING_BYTES_MAX: usize = 128;
/// Request units a second of a range of a serverless container.
pub const SERVERLESS_UNITS_PER_SECOND_MAX: u64 = 5_000;
/// The JSON of a push, and the id by which devices replace one push by another.
pub const PUSH_PAYLOAD_BYTES_MAX: usize = 4_096;
pub const PUSH_COLLAPSE_ID_BYTES_MAX: usize = 64;
