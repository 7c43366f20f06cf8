//! The services as callers meet them, over a store in memory and a clock that is moved.

#![expect(clippy::unwrap_used, reason = "a helper of a test that cannot go on panics, as the test does")]

mod access;
mod centre;
mod description;
mod devices;
mod events;
mod inputs;
mod limits;
mod second_service;
mod streams;
mod world;
