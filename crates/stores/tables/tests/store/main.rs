//! The store over the memory engine, as a server would use it.

#![expect(clippy::unwrap_used, reason = "a helper of a test that cannot go on panics, as the test does")]

mod background;
mod crashing;
mod entities;
mod harness;
mod racing;
mod tables;
mod usage;
