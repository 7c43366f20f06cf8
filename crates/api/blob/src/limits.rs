//! The limits of the blob protocol. Those of blobs are in `models/blobs`.

/// The list of blocks that a blob is made of: 50,000 ids of 64 bytes, and their elements.
pub const BLOCK_LIST_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The body of a batch, and its parts.
pub const BATCH_BYTES_MAX: usize = 4 * 1024 * 1024;
pub const BATCH_PARTS_MAX: usize = 256;
/// Blobs and containers in one page of a list, unless fewer are asked for.
pub const LIST_RESULTS_MAX: i64 = 5000;
