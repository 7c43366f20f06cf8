//! The limits of blobs. Those that Azure publishes have its value.

/// The name of a blob.
pub const BLOB_NAME_CHARS_MAX: usize = 1024;
/// Leases, unless they are for ever, and the time until a broken one ends.
pub const LEASE_SECONDS_MIN: u8 = 15;
pub const LEASE_SECONDS_MAX: u8 = 60;
pub const LEASE_BREAK_SECONDS_MAX: u8 = 60;
/// Index tags of a blob.
pub const TAGS_MAX: usize = 10;
pub const TAG_KEY_CHARS_MAX: usize = 128;
pub const TAG_VALUE_CHARS_MAX: usize = 256;
/// Comparisons of a filter and of a condition.
pub const TAG_FILTER_TERMS_MAX: usize = 64;
pub const TAG_EXPRESSION_TERMS_MAX: usize = 64;
/// Content that lies in the ordered store; what is larger goes to chunks.
pub const INLINE_BYTES_MAX: usize = 32 * 1024;
/// Blocks of this size lie there too, until they are committed and then as a piece each.
pub const INLINE_BLOCK_BYTES_MAX: usize = 1024;
/// Blocks in one row of a list of committed blocks.
pub const BLOCK_LIST_PAGE_BLOCKS: usize = 1_000;
/// One put of a whole blob, one block, one appended block, one write of pages.
pub const PUT_BYTES_MAX: u64 = 5000 * 1024 * 1024;
pub const BLOCK_BYTES_MAX: u64 = 4000 * 1024 * 1024;
pub const APPEND_BYTES_MAX: u64 = 100 * 1024 * 1024;
pub const PAGES_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Blocks of a blob, those that wait to be committed, and appended ones.
pub const BLOCKS_MAX: usize = 50_000;
pub const UNCOMMITTED_BLOCKS_MAX: u64 = 100_000;
pub const APPENDED_BLOCKS_MAX: u32 = 50_000;
pub const BLOCK_ID_BYTES_MAX: usize = 64;
/// Days until blocks that were not committed are dropped.
pub const UNCOMMITTED_DAYS_MAX: u64 = 7;
/// Page blobs.
pub const PAGE_BYTES: u64 = 512;
pub const PAGE_BLOB_BYTES_MAX: u64 = 8 * 1024 * 1024 * 1024 * 1024;
/// Ranges of one page of a list of pages.
pub const PAGE_RANGES_MAX: usize = 10_000;
/// A range whose MD5 or CRC64 is computed.
pub const RANGE_HASH_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Copying from an address while the caller waits.
pub const SYNC_COPY_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Entries of one page of a list.
pub const LIST_ENTRIES_MAX: usize = 5_000;
/// Entries, or rows, that one page of a list looks at before it ends early.
pub const LIST_ROWS_SEEN_MAX: usize = 50_000;
/// Retention of what was deleted.
pub const RETENTION_DAYS_MAX: u16 = 365;
/// How long the log of changes is kept, by default.
pub const LOG_RETENTION_SECONDS: u64 = 7 * 24 * 60 * 60;
/// Entries and bytes that one step of trimming removes.
pub const LOG_TRIM_ENTRIES_MAX: usize = 1024;
pub const LOG_TRIM_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Rows that one step of background work removes or looks at.
pub const SWEEP_ROWS_MAX: usize = 512;
pub const DUE_ROWS_MAX: usize = 256;
/// A lifecycle policy.
pub const LIFECYCLE_RULES_MAX: usize = 100;
pub const LIFECYCLE_RULE_NAME_CHARS_MAX: usize = 256;
pub const LIFECYCLE_FILTER_ENTRIES_MAX: usize = 10;
pub const LIFECYCLE_DAYS_MAX: f64 = 99_999.0;
/// Runs of a policy that are remembered.
pub const LIFECYCLE_RUNS_KEPT_MAX: usize = 100;
/// An inventory policy.
pub const INVENTORY_RULES_MAX: usize = 100;
/// Runs of inventory rules that are remembered.
pub const INVENTORY_RUNS_KEPT_MAX: usize = 1_000;
