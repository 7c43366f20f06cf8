//! Schemas of containers: the routes that set them, and `orrery check --schemas`.

mod check;
mod endpoints;

pub use check::check_items;
pub use endpoints::{handle, has};
