//! The limits of the verbs that work on a folder.

/// A development token.
pub const BEARER_MINTED_SECONDS_MAX: u64 = 30 * 24 * 60 * 60;
/// Lines on items that do not match their schema which `orrery check --json` lists; the count goes on.
pub const CHECK_MISMATCHES_MAX: usize = 10_000;
