//! The limits of the services' REST interface.

/// The body of a request to a service, the key that makes it idempotent or its tag, and a place in a live stream.
pub const SERVICE_BODY_BYTES_MAX: usize = 256 * 1024;
pub const SERVICE_KEY_BYTES_MAX: usize = 255;
pub const SERVICE_CURSOR_BYTES_MAX: usize = 4 * 1024;
/// Live streams of a server, and how often each says that it is still there.
pub const SERVICE_STREAMS_MAX: usize = 1_024;
pub const SERVICE_HEARTBEAT_SECONDS: u64 = 15;
/// Requests a second that one caller may make, unless the server is told otherwise.
pub const SERVICE_REQUESTS_PER_SECOND: u32 = 10_000;
