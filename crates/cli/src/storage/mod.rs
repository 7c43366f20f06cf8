//! Storage accounts, tables and queues: `orrery account`, `orrery table`, `orrery queue`.
//!
//! ```text
//! flags        which account, where its services are, as whom
//! account      accounts of a running server: add, list, replace a key, remove
//! tables/      tables and entities; how a query is answered
//! queues/      queues and messages
//! refused      what a service refuses, as a sentence about what was named
//! ```
//!
//! Tables and queues are spoken to on their own ports, as every client does: so the verbs work with Azure and any other
//! server too, by connection string. Accounts are the services port's.

mod account;
mod flags;
mod queues;
mod refused;
mod tables;

pub use account::{AccountVerbFlags, account};
pub use queues::{QueueFlags, queue};
pub use tables::{TableFlags, table};

pub(crate) use flags::{is_storage_service, service_address};
