//! The limits that both ends of our wires hold to.

/// How far the times of a bearer token may be off ours.
pub const BEARER_SKEW_SECONDS_MAX: u64 = 5 * 60;
