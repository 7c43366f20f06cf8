//! Tables: their definitions, and creating and dropping them.

mod definition;
mod operations;
mod record;

pub use definition::Table;
pub use operations::{TableError, all, create, delete, load, set_access_policies};
