//! Roles: which principals may perform which actions on which data (Cosmos DB's native role-based access).
//!
//! ```text
//! definition   role definitions (two are built in), assignments, scopes and data actions
//! memory       all of them in memory; answers whether a principal may perform an action
//! operations   define, assign, remove; in the catalog's scope; and the rows
//! ```

mod definition;
mod memory;
mod operations;

pub use definition::Scope;
pub use definition::{Action, Assignment};
pub use definition::{CONTRIBUTOR, Definition, READER};
pub use memory::Roles;
pub use operations::{RoleError, assign, define, remove_assignment, remove_definition};
