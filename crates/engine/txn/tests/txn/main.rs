//! What transactions promise to many writers and readers, over the memory engine.
//!
//! `gate` is an engine whose writes wait until a test lets them go, so that a test and not the clock decides
//! what is durable when.

#![expect(clippy::unwrap_used, reason = "a helper of a test that cannot go on panics, as the test does")]

mod closing;
mod failing;
mod gate;
mod group;
mod lone;
mod optimistic;
mod panicking;
mod pending;
mod place;
