//! The limits of tables and entities: those that Azure publishes, and bounds on the work of one query or job step.

/// An entity, counted as the service does: two bytes a UTF-16 code unit, and a few for each property.
pub const ENTITY_BYTES_MAX: usize = 1024 * 1024;
/// Properties beside PartitionKey, RowKey and Timestamp.
pub const PROPERTIES_MAX: usize = 252;
pub const PROPERTY_NAME_CHARS_MAX: usize = 255;
/// A string, in UTF-16 code units (64 KiB), and a binary.
pub const STRING_UTF16_UNITS_MAX: usize = 32 * 1024;
pub const BINARY_BYTES_MAX: usize = 64 * 1024;
/// A partition key or a row key, in UTF-16 code units (1 KiB).
pub const KEY_UTF16_UNITS_MAX: usize = 512;
/// The first year that a DateTime property may be in.
pub const DATE_TIME_YEAR_MIN: u64 = 1601;
/// Operations of an entity group transaction, and the bytes of the entities in them.
pub const GROUP_OPERATIONS_MAX: usize = 100;
pub const GROUP_BYTES_MAX: usize = 4 * 1024 * 1024;
/// A page of a query or of a list of tables.
pub const PAGE_ROWS_MAX: usize = 1000;
/// What a page looks at before it ends with what it has found.
pub const PAGE_ROWS_SCANNED_MAX: usize = 20_000;
pub const PAGE_BYTES_SCANNED_MAX: usize = 32 * 1024 * 1024;
/// The text of a filter, and its levels: `not` and parentheses that change between `and` and `or`. Whoever walks the tree
/// recurses, so it is a bound on stacks too. A chain of `and` or `or` is one level, however it is parenthesised.
pub const FILTER_BYTES_MAX: usize = 64 * 1024;
pub const FILTER_TREE_LEVELS_MAX: usize = 256;
/// Key ranges that a query reads. More are merged with their neighbours.
pub const SCAN_RANGES_MAX: usize = 512;
/// Ranges of row keys, over all ranges of partition keys, that planning holds at a time.
pub const PLAN_INTERVALS_MAX: usize = 8 * 1024;
/// Rows that one step of removing a dropped table removes.
pub const SWEEP_ROWS_MAX: usize = 512;
/// How long what an entity was is kept.
pub const LOG_RETENTION_SECONDS: u64 = 7 * 24 * 60 * 60;
/// Log entries that one step of trimming removes, and their bytes.
pub const LOG_TRIM_ENTRIES_MAX: usize = 4096;
pub const LOG_TRIM_BYTES_MAX: usize = 16 * 1024 * 1024;
