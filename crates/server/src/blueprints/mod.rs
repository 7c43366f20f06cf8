//! The blueprints that a server knows: applied at its start, and asked through its own endpoint.

mod at_start;
mod own_queries;
mod own_storage;

pub use at_start::{Blueprints, apply_at_start};
pub use own_queries::OwnQueries;
pub use own_storage::OwnStorage;
