//! The limits of the process: its memory and how it stops.

/// How long a stop waits for threads without a waiting client, after it has waited for requests in flight. Both
/// together stay below the 20 seconds within which the process ends.
pub const STOP_THREADS_SECONDS_MAX: u64 = 2;
/// The minimum memory for queries and request bodies together.
pub const MEMORY_MEGABYTES_MIN: usize = 64;
/// The time limit of a push of measurements to a collector.
pub const OTLP_SECONDS_MAX: u64 = 10;
