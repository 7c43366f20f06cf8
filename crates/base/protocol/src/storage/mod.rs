//! What both ends of the storage protocols (blobs, queues, tables) agree on: what is signed, and how a signature travels.
//!
//! ```text
//! connection_string  accounts as people paste them
//! query              the query of a URL: as it is signed, and as it is meant
//! sas                shared access signatures: of an account, of a resource, of a user
//! shared_key         requests signed with an account's key; collation: the order of headers in it
//! time               moments in ISO 8601, in the forms that signatures have
//! ```
//!
//! Signing and checking are one text here: a client signs the first reading of a request, a server takes any.

mod collation;
mod connection_string;
#[doc(hidden)]
pub mod fuzz;
mod query;
pub mod sas;
mod service;
pub mod shared_key;
mod time;

pub use connection_string::{ConnectionString, Endpoints, InvalidConnectionString, azurite_accounts};
pub use query::{NotText, Query};
pub use service::Service;
pub use time::{format_time, format_time_seconds, is_date, parse_time};

/// The account of emulators, and the key published for it; accepted only on loopback.
pub const DEVELOPMENT_ACCOUNT: &str = "devstoreaccount1";
pub const DEVELOPMENT_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
