//! The notification service of the real binary: asked over HTTP and by its verbs, killed, started again.
//!
//! Each test has folders and ports of its own. The clock is moved; what happens in another process is polled until it is
//! so.

#![expect(clippy::unwrap_used, reason = "a helper of a test that cannot go on panics, as the test does")]

mod asking;
mod crashes;
mod erasure;
mod fake;
mod quiet_hours;
mod refusals;
mod rest;
#[allow(dead_code, reason = "the other tests of the binary use the rest of it")]
#[path = "../process/server.rs"]
mod server;
mod stores;
mod streams;
mod verbs;
