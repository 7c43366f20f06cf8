//! What the queues of a process promise to many producers and consumers, over engines in memory.

#![expect(clippy::unwrap_used, reason = "a helper of a test that cannot go on panics, as the test does")]

mod background;
mod consumers;
mod crashing;
mod definitions;
mod failing;
mod model;
mod receipts;
mod tombstones;
mod usage;
mod work;
mod world;
