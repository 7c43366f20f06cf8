//! The limits of the Cosmos DB protocol that no layer below needs.

use orrery_core::limits::ITEM_BYTES_MAX;

/// The largest request body read before the request is refused; a little above an item for its envelope.
pub const BODY_BYTES_MAX: usize = ITEM_BYTES_MAX + 64 * 1024;
/// The body of a batch.
pub const BATCH_BYTES_MAX: usize = 2 * 1024 * 1024;
/// The capacity of a range in the header with a container's quota: 50 GB.
pub const RANGE_KILOBYTES: u64 = 50 * 1024 * 1024;
/// The lifetime of a resource token: the bounds of a request, and the default.
pub const RESOURCE_TOKEN_SECONDS_MIN: u64 = 10;
pub const RESOURCE_TOKEN_SECONDS_DEFAULT: u64 = 60 * 60;
pub const RESOURCE_TOKEN_SECONDS_MAX: u64 = 5 * 60 * 60;
/// The length of an error's sentence, which may quote what a client sent.
pub const ERROR_MESSAGE_BYTES_MAX: usize = 4096;
/// The clock skew allowed for a request's date.
pub const DATE_SKEW_SECONDS_MAX: u64 = 15 * 60;
/// How long a read waits for a commit of its session token that is not durable yet.
pub const SESSION_WAIT_MILLIS: u64 = 100;
/// The bounds shown by an account with bounded staleness: the service's for several regions. Nothing is ever stale
/// here.
pub const STALENESS_COMMITS_SHOWN: u64 = 100_000;
pub const STALENESS_SECONDS_SHOWN: u64 = 300;
/// The size of a script's log in a header, escaped.
pub const SCRIPT_LOG_HEADER_BYTES_MAX: usize = 8 * 1024;
