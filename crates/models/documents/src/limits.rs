//! The limits of items: their rows and indexes, change feed, removal and reindexing.

/// A text of so many bytes lies apart from its item's row and is written once; a smaller one lies in the row.
pub const TEXT_APART_BYTES_MIN: usize = 16 * 1024;
/// A partition key value, each component.
pub const PARTITION_KEY_BYTES_MAX: usize = 2048;
/// The values of one unique key, as they are written into a row's key; the engine's keys end at 65,535 bytes.
pub const UNIQUE_KEY_BYTES_MAX: usize = 32 * 1024;
/// Operations of one patch.
pub const PATCH_OPERATIONS_MAX: usize = 10;
/// Text of items that one batch may read, write and replace, and so may answer with.
pub const BATCH_WORK_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Text of items that one transaction of a bulk request writes and replaces; what is left goes into the next.
pub const BULK_TRANSACTION_BYTES_MAX: usize = 8 * 1024 * 1024;
/// What one transaction of a partition's removal removes and looks at, and partitions that a round goes on with.
pub const PURGE_ITEMS_MAX: usize = 256;
pub const PURGE_BYTES_MAX: usize = 4 * 1024 * 1024;
pub const PURGE_ROWS_MAX: usize = 4096;
pub const PURGES_PER_ROUND_MAX: usize = 64;
/// Rows (live or expired) that one page may look at before it returns with a continuation.
pub const PAGE_ROWS_SCANNED_MAX: usize = 50_000;
pub const PAGE_BYTES_SCANNED_MAX: usize = 64 * 1024 * 1024;
/// Items of a container up to which reads without an order come in the order of creation; larger containers are read in the order
/// of keys. So many are collected and sorted, in a container or in the partitions that are asked for.
pub const INSERTION_ORDER_ITEMS_MAX: u64 = 20_000;
pub const INSERTION_ORDER_COLLECTED_MAX: u64 = 1_000;
/// Expired items that the reaper looks at in one round.
pub const REAP_ITEMS_MAX: usize = 512;
/// Text of expired items that one commit removes.
pub const REAP_BYTES_MAX: usize = 4 * 1024 * 1024;
/// From this much text on, a logical partition has index entries of its own; a smaller one is read through as fast.
pub const PARTITION_LARGE_BYTES: u64 = 512 * 1024;
/// Items that a step of entering a container's items anew looks at, and how much of their text.
pub const REINDEX_ITEMS_MAX: usize = 1024;
pub const REINDEX_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Items of one partition that are entered anew in one transaction.
pub const REINDEX_CHUNK_ITEMS_MAX: usize = 64;
/// Terms that an item is entered in indexes by. One that has more, such as a megabyte of different numbers, is left
/// out of them, so that a commit stays small.
pub const INDEX_TERMS_MAX: usize = 50_000;
/// Walks along an index that are merged into one: partitions that are read by their own entries.
pub const INDEX_WALKS_MAX: usize = 64;
/// Items that have expired and are not removed yet, as a query without documents remembers them.
pub const EXPIRED_CACHED_MAX: usize = 1024;
/// Cells that a shape is entered under in a spatial index, and stretches of cells that a question about one looks at.
pub const SPATIAL_CELLS_MAX: usize = 8;
pub const SPATIAL_LOOKUPS_MAX: usize = 64;
/// Examples that a check of stored data gives of each kind of fault.
pub const CHECK_EXAMPLES_MAX: usize = 3;
/// What a survey of a container looks at: partitions, items, their text, and names of paths; and how many of the
/// largest partitions it names.
pub const SURVEY_PARTITIONS_MAX: usize = 200_000;
pub const SURVEY_ITEMS_MAX: usize = 1024;
pub const SURVEY_BYTES_MAX: usize = 32 * 1024 * 1024;
pub const SURVEY_PATHS_MAX: usize = 4096;
pub const SURVEY_LARGEST_MAX: usize = 8;
/// What a page of the change feed looks at before it ends with what it has: log entries, and their bytes. Two SDKs take
/// an empty page for the end of what is new, so it is much.
pub const CHANGE_FEED_ENTRIES_SCANNED_MAX: usize = 200_000;
pub const CHANGE_FEED_BYTES_SCANNED_MAX: usize = 256 * 1024 * 1024;
/// Items of a partition or container that are read instead of a longer log, and how much of their text.
pub const CHANGE_FEED_ITEMS_READ_MAX: u64 = 1_000;
pub const CHANGE_FEED_ITEMS_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The same after a page's worth of log entries that none of them was found by.
pub const CHANGE_FEED_ITEMS_READ_INSTEAD_MAX: u64 = 20_000;
pub const CHANGE_FEED_ITEMS_BYTES_INSTEAD_MAX: usize = 32 * 1024 * 1024;
/// How far a clock may have been set back for a start at a time to miss nothing.
pub const CHANGE_FEED_CLOCK_SETBACK_MILLIS_MAX: u64 = 10_000;
/// Log entries that one step of trimming looks at, and their bytes.
pub const LOG_TRIM_ENTRIES_MAX: usize = 4096;
pub const LOG_TRIM_BYTES_MAX: usize = 16 * 1024 * 1024;
