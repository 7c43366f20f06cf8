//! Limits that both ends of the protocol apply.

/// Permitted clock skew of a bearer token's times.
pub const BEARER_SKEW_SECONDS_MAX: u64 = 5 * 60;
