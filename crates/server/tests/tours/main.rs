//! The tours in `docs/tour`, walked: a server receives the example of each tour and logs the steps that it takes. The steps of
//! the tour's table must be among them, in the order of the table.
//!
//! A step that was renamed, moved to another file, or is no longer on the way fails its tour's test. So does a function that
//! is marked as a step on the way and is in no tour.

#![expect(clippy::unwrap_used, reason = "a helper of a test that cannot go on panics, as the test does")]
// A release has no level `trace`.
#![cfg(debug_assertions)]

#[allow(dead_code, reason = "the tests of notifications use the rest of it")]
#[path = "../notifications/asking.rs"]
mod asking;
#[allow(dead_code, reason = "the tests of notifications use the rest of it")]
#[path = "../notifications/fake.rs"]
mod fake;
#[allow(dead_code, reason = "the other tests of the binary use the rest of it")]
#[path = "../process/server.rs"]
mod server;
mod tour;
mod walks;
