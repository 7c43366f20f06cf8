//! The limits of the services' shared building blocks and of their requests to stores.

/// Keys with their own rate limit; further keys share one.
pub const SERVICE_BUCKETS_MAX: usize = 100_000;
/// Retention of the response to a request with an idempotency key.
pub const SERVICE_IDEMPOTENCY_SECONDS: u64 = 24 * 60 * 60;
/// Items that one round of a relay processes.
pub const SERVICE_RELAY_ITEMS_MAX: usize = 100;
/// Requests to a store over the wire: time limit per request and per operation with its retries, and the
/// back-off if the store specifies none.
pub const SERVICE_STORE_REQUEST_SECONDS_MAX: u64 = 20;
pub const SERVICE_STORE_SECONDS_MAX: u64 = 30;
pub const SERVICE_STORE_TRIES_MAX: usize = 12;
pub const SERVICE_STORE_WAIT_MILLIS_MIN: u64 = 20;
pub const SERVICE_STORE_WAIT_MILLIS_MAX: u64 = 2_000;
/// The largest response of a store: a page with its envelope, or an item enlarged by its escapes.
pub const SERVICE_STORE_ANSWER_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Attempts of one operation to follow partitions that move meanwhile.
pub const SERVICE_STORE_MOVES_MAX: usize = 8;
/// Requests that one read of many items has under way at once, one for each partition.
pub const SERVICE_STORE_READS_MAX: usize = 8;
/// How long to wait for the commit queue of tables and queues in this process.
pub const SERVICE_STORE_BUSY_MILLIS: u64 = 100;
