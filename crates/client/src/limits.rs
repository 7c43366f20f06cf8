//! The limits of HTTP requests to other servers.

/// How long a migration waits for a server that does not answer or has no throughput left.
pub const MIGRATION_PATIENCE_SECONDS_MAX: u64 = 300;
/// Requests to others: hosts at once, connections to each, requests that share one of HTTP/2 before another is opened.
pub const HTTP_HOSTS_MAX: usize = 64;
pub const HTTP_CONNECTIONS_PER_HOST_MAX: usize = 16;
pub const HTTP_STREAMS_PER_CONNECTION: usize = 100;
/// How long dialling may take, how long an unused connection of HTTP/1.1 is kept, and how one of HTTP/2 is known to be alive.
pub const HTTP_CONNECT_SECONDS_MAX: u64 = 5;
pub const HTTP_IDLE_SECONDS_MAX: u64 = 50;
pub const HTTP_PING_SECONDS: u64 = 30;
pub const HTTP_PING_ANSWER_SECONDS_MAX: u64 = 10;
/// What one request to a storage service may take, how long one operation goes on trying, and the pauses between two tries
/// where the service names none.
pub const STORAGE_REQUEST_SECONDS_MAX: u64 = 20;
pub const STORAGE_SECONDS_MAX: u64 = 30;
pub const STORAGE_TRIES_MAX: usize = 12;
pub const STORAGE_PAUSE_MILLIS_MIN: u64 = 20;
pub const STORAGE_PAUSE_MILLIS_MAX: u64 = 2_000;
/// The largest answer: a page of entities whose texts JSON makes longer.
pub const STORAGE_ANSWER_BYTES_MAX: usize = 32 * 1024 * 1024;
