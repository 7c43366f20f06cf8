//! The limits of HTTP requests to other servers.

/// How long a migration waits for a server that does not respond or has no throughput left.
pub const MIGRATION_PATIENCE_SECONDS_MAX: u64 = 300;
/// Outgoing requests: hosts, connections per host, and requests on an HTTP/2 connection before another is opened.
pub const HTTP_HOSTS_MAX: usize = 64;
pub const HTTP_CONNECTIONS_PER_HOST_MAX: usize = 16;
pub const HTTP_STREAMS_PER_CONNECTION: usize = 100;
/// The connect timeout, the idle time of an HTTP/1.1 connection, and the pings of an HTTP/2 connection.
pub const HTTP_CONNECT_SECONDS_MAX: u64 = 5;
pub const HTTP_IDLE_SECONDS_MAX: u64 = 50;
pub const HTTP_PING_SECONDS: u64 = 30;
pub const HTTP_PING_ANSWER_SECONDS_MAX: u64 = 10;
/// The time limit of one request to a storage service and of one operation with its retries, and the back-off if the
/// service specifies none.
pub const STORAGE_REQUEST_SECONDS_MAX: u64 = 20;
pub const STORAGE_SECONDS_MAX: u64 = 30;
pub const STORAGE_TRIES_MAX: usize = 12;
pub const STORAGE_PAUSE_MILLIS_MIN: u64 = 20;
pub const STORAGE_PAUSE_MILLIS_MAX: u64 = 2_000;
/// The largest response: a page of entities, enlarged by JSON escapes.
pub const STORAGE_ANSWER_BYTES_MAX: usize = 32 * 1024 * 1024;
