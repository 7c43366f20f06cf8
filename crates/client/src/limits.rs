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
