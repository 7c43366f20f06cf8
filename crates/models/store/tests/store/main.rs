//! What the store promises to many writers and readers, over the memory engine.
//!
//! `gate` is an engine whose writes wait until a test lets them go, so that a test and not the clock decides
//! what is durable when. The auditor is the one of the documents' own tests.

#![expect(clippy::unwrap_used, reason = "a helper of a test that cannot go on panics, as the test does")]

#[path = "../../../documents/tests/model/audit.rs"]
mod audit;
mod background;
mod closing;
mod crashing;
mod failing;
mod gate;
mod group;
mod indexing;
mod long;
mod ordinals;
mod panicking;
mod pending;
mod place;
mod purging;
mod reaching;
mod schemas;
mod shop;
mod trimming;
