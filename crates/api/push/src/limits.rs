//! The limits of the stand-ins for push providers.

/// Recorded pushes and scripted responses.
pub const PUSH_RECEIVED_MAX: usize = 100_000;
pub const PUSH_RULES_MAX: usize = 10_000;
