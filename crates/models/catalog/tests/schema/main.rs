//! What schemas say of items, by cases, and what they may cost.

#![expect(clippy::unwrap_used, reason = "a helper of a test that cannot go on panics, as the test does")]

mod cases;
mod costs;
mod noise;
mod support;
