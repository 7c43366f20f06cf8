//! Subresources of databases, users and containers: users, permissions, stored procedures, triggers,
//! user-defined functions and client encryption keys.
//!
//! All share one mechanism: a name, a few validated members, a version. Each has a row by owner and name and
//! one that finds the name by the number in the resource id; another row counts an owner's subresources. They
//! are read from the store on demand, because there may be many and scripts are long; the in-memory catalog
//! does not contain them.
//!
//! ```text
//! definition   the kinds, the members of a body, checked; permissions and triggers, typed
//! owner        the owner of a subresource, whether it still exists, and the sweep after a drop
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
