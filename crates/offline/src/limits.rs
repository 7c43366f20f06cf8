//! The limits of the verbs that need no server.

/// A development token.
pub const BEARER_MINTED_SECONDS_MAX: u64 = 30 * 24 * 60 * 60;
/// Items with schema violations that `orrery check --json` lists; all are counted.
pub const CHECK_MISMATCHES_MAX: usize = 10_000;
