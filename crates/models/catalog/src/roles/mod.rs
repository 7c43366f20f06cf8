//! Roles: which actions somebody may do to which data (Cosmos DB's native role-based access).
//!
//! ```text
//! action       what can be done, by its name in a role
//! scope        to what: the account, a database, a container
//! definition   a set of actions; two are built in
//! assignment   a definition given to a principal over a scope
//! model        all of them in memory; the one question: may they?
//! record       the rows
//! operations   define, assign, remove; in the catalog's scope
//! ```

mod definition;
mod memory;
mod operations;

pub use definition::Scope;
pub use definition::{Action, Assignment};
pub use definition::{CONTRIBUTOR, Definition, READER};
pub use memory::Roles;
pub use operations::{RoleError, assign, define, remove_assignment, remove_definition};
