//! The blob store over an engine and chunk files in memory.

#![expect(clippy::unwrap_used, reason = "a helper of a test that cannot go on panics, as the test does")]

mod background;
mod containers;
mod content;
mod copies;
mod crashing;
mod faults;
mod feeds;
mod finds;
mod history;
mod lifecycle;
mod lists;
mod model;
mod properties;
mod racing;
mod undo;
mod world;
