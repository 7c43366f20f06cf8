//! What attacks share; the attacks themselves are in the binary.

mod arena;

pub use arena::{Arena, Caller, QUEUE, TABLE};
