//! The limits of the process: its memory and how it stops.

/// How long a stop waits for threads that work for nobody any more, after it has waited for requests in flight. Both
/// together stay below the 20 seconds in which the process has ended.
pub const STOP_THREADS_SECONDS_MAX: u64 = 2;
/// The least that the server may be told to use for queries and for bodies of requests together.
pub const MEMORY_MEGABYTES_MIN: usize = 64;
/// How long a collector of measurements has to take them.
pub const OTLP_SECONDS_MAX: u64 = 10;
