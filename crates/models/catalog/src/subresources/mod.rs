//! What databases, users and containers own besides containers and items: users, permissions, stored procedures,
//! triggers, user-defined functions and client encryption keys.
//!
//! All of them are the same: a name, a few checked members, a version. One row each by owner and name, one that finds the
//! name by the number in the resource id, and one that counts an owner's. They are read from the store when they are
//! asked for, because there may be many and scripts are long; the catalog in memory does not know them.
//!
//! ```text
//! kind         what there is, and what each kind is called
//! owner        whose they are, and whether that is still there
//! definition   the members of a body, checked
//! permission   a permission's members, typed
//! trigger      a trigger's members, typed
//! record       the row
//! read         one, a page, or all of an owner's
//! operations   create, replace, upsert, delete; in the catalog's scope
//! sweep        what an owner that is gone leaves
//! ```

mod definition;
mod kind;
mod operations;
mod owner;
mod permission;
mod read;
mod record;
mod sweep;
mod trigger;

pub use definition::Definition;
pub use kind::Kind;
pub use operations::{SubresourceError, create, delete, replace, upsert};
pub use owner::Owner;
pub use permission::{Mode, Permission, ResourceLink};
pub use read::{Page, all, by_ordinal, each_after, find, page};
pub use record::Subresource;
pub use sweep::{schedule_database, sweep_database, sweep_scripts, sweep_user};
pub use trigger::{Trigger, TriggerOperation, TriggerTime};
