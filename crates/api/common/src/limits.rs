//! The limits of the listener: connections, heads, bodies, tokens and issuers.

/// A bearer token.
pub const BEARER_BYTES_MAX: usize = 16 * 1024;
/// The keys of an issuer: their document, their number, how long it may take to come, how often it is asked for when a
/// key is unknown, and after which time in any case.
pub const ISSUER_BYTES_MAX: usize = 256 * 1024;
pub const ISSUER_KEYS_MAX: usize = 100;
pub const ISSUER_SECONDS_MAX: u64 = 5;
pub const ISSUER_REFRESH_SECONDS_MIN: u64 = 30;
pub const ISSUER_AGE_SECONDS_MAX: u64 = 24 * 60 * 60;
/// Open connections of a listener. One of so many is in reserve for clients that have shown a credential.
pub const CONNECTIONS_MAX: usize = 8192;
pub const CONNECTIONS_RESERVE_SHARE: usize = 8;
/// How often, at most, the log says that there is no room for more connections.
pub const PRESSURE_LOG_SECONDS: u64 = 10;
/// Headers of one request: what the HTTP/1.1 parser has room for without an allocation for each request.
pub const HEADERS_MAX: usize = 100;
/// Requests in flight on one HTTP/2 connection.
pub const STREAMS_MAX: u32 = 256;
/// How long a client may take for a TLS handshake or a request head.
pub const HEAD_SECONDS_MAX: u64 = 15;
/// How much of a body nobody wants is read and thrown away, so that the client hears why.
pub const BODY_DISCARD_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bodies up to this size take nothing of the memory for bodies; and how long a larger one waits for some.
pub const BODY_FREE_BYTES_MAX: usize = 16 * 1024;
pub const BODY_WAIT_MILLIS_MAX: u64 = 2_000;
/// How long a connection may be open without a request; clients keep theirs for minutes.
pub const IDLE_SECONDS_MAX: u64 = 10 * 60;
/// How long a browser may remember that a web page of an allowed origin may send a kind of request.
pub const PREFLIGHT_SECONDS: u64 = 10 * 60;
/// How often an HTTP/2 connection is asked whether anyone is there, and how long the answer may take.
pub const PING_SECONDS: u64 = 30;
pub const PING_ANSWER_SECONDS_MAX: u64 = 20;
/// How long a stop waits for requests in flight.
pub const STOP_SECONDS_MAX: u64 = 15;
/// What the server may use for queries and for bodies of requests together, unless it is told otherwise.
pub const MEMORY_MEGABYTES_DEFAULT: usize = 1024;
/// The part of it that is for bodies: a quarter.
pub const MEMORY_FOR_BODIES_DIVISOR: usize = 4;
