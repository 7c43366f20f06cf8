//! The limits of the listener: connections, heads, bodies, tokens and issuers.

/// A bearer token.
pub const BEARER_BYTES_MAX: usize = 16 * 1024;
/// The keys of an issuer: the size of their document, their number, the time limit of a request, the interval between
/// requests for an unknown key, and the age at which they are refreshed in any case.
pub const ISSUER_BYTES_MAX: usize = 256 * 1024;
pub const ISSUER_KEYS_MAX: usize = 100;
pub const ISSUER_SECONDS_MAX: u64 = 5;
pub const ISSUER_REFRESH_SECONDS_MIN: u64 = 30;
pub const ISSUER_AGE_SECONDS_MAX: u64 = 24 * 60 * 60;
/// Open connections of a listener. One in this many is reserved for clients with a credential.
pub const CONNECTIONS_MAX: usize = 8192;
pub const CONNECTIONS_RESERVE_SHARE: usize = 8;
/// Interval between log lines about a full connection table.
pub const PRESSURE_LOG_SECONDS: u64 = 10;
/// Headers of one request: as many as the HTTP/1.1 parser holds without an allocation per request.
pub const HEADERS_MAX: usize = 100;
/// Requests in flight on one HTTP/2 connection.
pub const STREAMS_MAX: u32 = 256;
/// How long a client may take for a TLS handshake or a request head.
pub const HEAD_SECONDS_MAX: u64 = 15;
/// How much of a refused body is read and discarded, so that the client gets the reason.
pub const BODY_DISCARD_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bodies up to this size draw nothing from the memory budget; and how long a larger one waits for memory.
pub const BODY_FREE_BYTES_MAX: usize = 16 * 1024;
pub const BODY_WAIT_MILLIS_MAX: u64 = 2_000;
/// How long a connection may be open without a request; clients keep theirs for minutes.
pub const IDLE_SECONDS_MAX: u64 = 10 * 60;
/// How long a browser may remember that a web page of an allowed origin may send a kind of request.
pub const PREFLIGHT_SECONDS: u64 = 10 * 60;
/// Interval between pings of an HTTP/2 connection, and the time limit of the response.
pub const PING_SECONDS: u64 = 30;
pub const PING_ANSWER_SECONDS_MAX: u64 = 20;
/// How long a stop waits for requests in flight.
pub const STOP_SECONDS_MAX: u64 = 15;
/// The default memory budget for queries and request bodies together.
pub const MEMORY_MEGABYTES_DEFAULT: usize = 1024;
/// The share of it for bodies: a quarter.
pub const MEMORY_FOR_BODIES_DIVISOR: usize = 4;
