//! The blueprints that a server knows: `serve --blueprint`, and `/v1/blueprints`.

mod at_start;
mod endpoints;

pub use at_start::{Blueprints, apply_at_start};
pub use endpoints::{handle, has};
