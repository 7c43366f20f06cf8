//! The service behind a real port, spoken to in raw HTTP: what each request gets, byte for byte where it matters.
//!
//! `world` is a store in memory with its clock in the test's hand; `call` is a request, signed as an SDK signs it. Whatever a
//! test is about, every reply is also held to what all replies owe.

#![expect(clippy::unwrap_used, reason = "a helper of a test that cannot go on panics, as the test does")]

mod access_policies;
mod authorization;
mod bad_input;
mod batches;
mod bearers;
mod call;
mod conditions;
mod entities;
mod queries;
mod routes;
mod service;
mod signatures;
mod tables;
mod world;
