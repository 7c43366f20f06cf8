//! Schema verdicts on items, by cases, and their cost limits.

#![expect(clippy::unwrap_used, reason = "a helper of a test that cannot go on panics, as the test does")]

mod cases;
mod costs;
mod noise;
mod support;
