//! The first byte of each kind of transaction scope, so that the scopes of different stores never coincide.
//!
//! The bytes after it belong to the store. Scopes are never stored.

/// Definitions of every kind of data, and background jobs on them. The scope is this one byte.
pub const CATALOG: u8 = 0;
/// A logical partition of a container.
pub const DOCUMENT_PARTITION: u8 = 1;
/// A partition of a table.
pub const TABLE_PARTITION: u8 = 2;
/// A queue.
pub const QUEUE: u8 = 3;
/// The states of a blob: all that have one name in one container.
pub const BLOB: u8 = 4;
/// Reclaiming of chunks. The scope is this one byte.
pub const CHUNKS: u8 = 5;
