//! The first byte of each kind of transaction scope, so that the scopes of one store are never those of another.
//!
//! The bytes after it are the store's own. They are never stored.

/// Definitions of every kind of data, and background work on them. The scope is this one byte.
pub const CATALOG: u8 = 0;
/// A logical partition of a container.
pub const DOCUMENT_PARTITION: u8 = 1;
/// A partition of a table.
pub const TABLE_PARTITION: u8 = 2;
/// A queue.
pub const QUEUE: u8 = 3;
