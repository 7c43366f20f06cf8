//! The limits of the stand-ins for push providers.

/// What the stand-ins of the providers remember: pushes, and answers that are scripted.
pub const PUSH_RECEIVED_MAX: usize = 100_000;
pub const PUSH_RULES_MAX: usize = 10_000;
