//! The limits of the table protocol: those that Azure publishes have its value.

use orrery_core::limits::BATCH_OPERATIONS_MAX;

/// The body of an entity group transaction, and of any other request.
pub const BATCH_BYTES_MAX: usize = 4 * 1024 * 1024;
pub const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Parts of a batch that are looked at: one more than may be in it, so that the surplus is seen.
pub const BATCH_PARTS_MAX: usize = BATCH_OPERATIONS_MAX + 1;
/// The id that a client gives a request of a batch, and gets back.
pub const CONTENT_ID_CHARS_MAX: usize = 64;
/// How much of a client's own text a sentence repeats.
pub const SHOWN_CHARS_MAX: usize = 256;
/// Headers of one request in a batch, or of one part.
pub const BATCH_HEADERS_MAX: usize = 64;
/// Pages of entities that are read at once, for each core; others wait for their turn.
pub const PAGES_PER_CORE_MAX: usize = 2;
/// Room at the end of a page that is given back before the page waits for its reader.
pub const PAGE_ROOM_BYTES_MAX: usize = 64 * 1024;
