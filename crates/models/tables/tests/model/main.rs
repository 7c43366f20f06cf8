//! The model over the memory engine: what is stored, found, refused, logged and removed.

#![expect(clippy::unwrap_used, reason = "a helper of a test that cannot go on panics, as the test does")]

mod agreement;
mod changes;
mod groups;
mod naive;
mod paging;
mod records;
mod sizes;
mod sweeping;
mod world;
mod writing;
