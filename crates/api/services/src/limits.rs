//! The limits of the services' REST interface.

/// The sizes of a request's body, of its idempotency key or etag, and of a position in a live stream.
pub const SERVICE_BODY_BYTES_MAX: usize = 256 * 1024;
pub const SERVICE_KEY_BYTES_MAX: usize = 255;
pub const SERVICE_CURSOR_BYTES_MAX: usize = 4 * 1024;
/// Live streams of a server, and the interval of their keep-alive comments.
pub const SERVICE_STREAMS_MAX: usize = 1_024;
pub const SERVICE_HEARTBEAT_SECONDS: u64 = 15;
/// The default of requests per second of one caller.
pub const SERVICE_REQUESTS_PER_SECOND: u32 = 10_000;
