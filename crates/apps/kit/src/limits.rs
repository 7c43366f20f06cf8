//! The limits of what services share, and of their requests to stores.

/// Keys with a rate limit of their own; the rest share one.
pub const SERVICE_BUCKETS_MAX: usize = 100_000;
/// How long the answer to a request with an idempotency key is kept.
pub const SERVICE_IDEMPOTENCY_SECONDS: u64 = 24 * 60 * 60;
/// Items that a round of a relay looks at.
pub const SERVICE_RELAY_ITEMS_MAX: usize = 100;
/// What one request to a store over the wire may take, how long one operation goes on trying, and the waits between two
/// tries where the store names none.
pub const SERVICE_STORE_REQUEST_SECONDS_MAX: u64 = 20;
pub const SERVICE_STORE_SECONDS_MAX: u64 = 30;
pub const SERVICE_STORE_TRIES_MAX: usize = 12;
pub const SERVICE_STORE_WAIT_MILLIS_MIN: u64 = 20;
pub const SERVICE_STORE_WAIT_MILLIS_MAX: u64 = 2_000;
/// The largest answer of a store: a page and its envelope, or an item that its escapes make larger.
pub const SERVICE_STORE_ANSWER_BYTES_MAX: usize = 32 * 1024 * 1024;
/// How often one operation follows a store whose partitions move under it.
pub const SERVICE_STORE_MOVES_MAX: usize = 8;
/// How long to wait for the commit queue of tables and queues in this process.
pub const SERVICE_STORE_BUSY_MILLIS: u64 = 100;
