//! What databases, users and containers own besides containers and items: users, permissions, stored procedures,
//! triggers, user-defined functions and client encryption keys.
//!
//! All of them are the same: a name, a few checked members, a version. One row each by owner and name, one that finds the
//! name by the number in the resource id, and one that counts an owner's. They are read from the store when they are
//! asked for, because there may be many and scripts are long; the catalog in memory does not know them.
//!
//! ```text
//! definition   the kinds, the members of a body, checked; permissions and triggers, typed
//! owner        the owner of a subresource, whether it is still there, and the sweep of what a dropped one leaves
//! record       the stored row; reading one, a page, or all of an owner's
//! operations   create, replace, upsert, delete; in the catalog's scope
//! ```

mod definition;
mod operations;
mod owner;
mod record;

pub use definition::{Definition, Kind};
pub use definition::{Mode, Permission, ResourceLink};
pub use definition::{Trigger, TriggerOperation, TriggerTime};
pub use operations::{SubresourceError, create, delete, replace, upsert};
pub use owner::Owner;
pub use owner::{schedule_database, sweep_database, sweep_scripts, sweep_user};
pub use record::Subresource;
pub use record::{Page, all, by_ordinal, each_after, find, page};
