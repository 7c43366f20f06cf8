//! What both ends of the storage protocols (blobs, queues, tables) agree on: what is signed, and how a signature travels.
//!
//! ```text
//! query              the query of a URL: as it is signed, and as it is meant
//! time               moments in ISO 8601, in the forms that signatures have
//! ```

mod query;
pub mod sas;
mod time;

pub use query::{NotText, Query};
pub use time::{format_time, format_time_seconds, is_date, parse_time};

/// The account of emulators, and the key published for it; accepted only on loopback.
pub const DEVELOPMENT_ACCOUNT: &str = "devstoreaccount1";
pub const DEVELOPMENT_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
