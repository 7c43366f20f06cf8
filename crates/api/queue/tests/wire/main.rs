//! The service behind a real port, spoken to in raw HTTP: what each request gets, byte for byte where it matters.
//!
//! `world` is a store in memory with its clock in the test's hand; `call` is a signed request that may be wrong in any way.
//! Whatever a test is about, every reply is also held to what all replies owe.

#![expect(clippy::unwrap_used, reason = "a helper of a test that cannot go on panics, as the test does")]

mod authorization;
mod call;
mod failing;
mod limits;
mod messages;
mod queues;
mod roles;
mod service;
mod world;
