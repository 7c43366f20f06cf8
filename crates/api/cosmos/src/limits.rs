//! The limits of the Cosmos DB protocol that no layer below needs.

use orrery_core::limits::ITEM_BYTES_MAX;

/// The largest request body read before the request is refused; a little above an item for its envelope.
pub const BODY_BYTES_MAX: usize = ITEM_BYTES_MAX + 64 * 1024;
/// The body of a batch.
pub const BATCH_BYTES_MAX: usize = 2 * 1024 * 1024;
/// What a range is said to hold, in the header that tells a container's quota: 50 GB.
pub const RANGE_KILOBYTES: u64 = 50 * 1024 * 1024;
/// How long a resource token works: what may be asked for, and what is given if nothing is.
pub const RESOURCE_TOKEN_SECONDS_MIN: u64 = 10;
pub const RESOURCE_TOKEN_SECONDS_DEFAULT: u64 = 60 * 60;
pub const RESOURCE_TOKEN_SECONDS_MAX: u64 = 5 * 60 * 60;
/// The sentence of an error: it may repeat what a client sent, but not at any length.
pub const ERROR_MESSAGE_BYTES_MAX: usize = 4096;
/// How far a request's date may be from ours.
pub const DATE_SKEW_SECONDS_MAX: u64 = 15 * 60;
/// How long a read waits for a commit that its session token speaks of and that is not durable yet.
pub const SESSION_WAIT_MILLIS: u64 = 100;
/// What an account with bounded staleness shows as its bounds, the service's for several regions. Nothing is ever stale here.
pub const STALENESS_COMMITS_SHOWN: u64 = 100_000;
pub const STALENESS_SECONDS_SHOWN: u64 = 300;
/// How much of a script's log travels in a header, escaped.
pub const SCRIPT_LOG_HEADER_BYTES_MAX: usize = 8 * 1024;
