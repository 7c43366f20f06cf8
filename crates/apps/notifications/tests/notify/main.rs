//! The invariants K1 to K8 and the scenarios B-2 to B-8 of the notification service, on a store in memory with the clock
//! moved. What needs a process that is killed is with the server's tests.

#![expect(clippy::unwrap_used, reason = "a helper of a test that cannot go on panics, as the test does")]

mod centre;
mod crashes;
mod dedupe;
mod devices;
mod erasure;
mod events;
mod jobs;
mod limits;
mod quiet;
mod random;
mod retries;
mod schemas;
mod together;
mod world;
