//! What the verbs that ask a running server share: where it is, signed requests, one connection or several.
//!
//! ```text
//! AccountFlags ─▶ Account ─▶ Remote ─▶ Database      the Cosmos DB endpoint: signed calls, databases, items, queries
//! ServerFlags  ─▶ Services                           the services port of the same server
//! ```

mod account;
mod address;
mod answer;
mod bulk;
mod call;
mod connection;
mod database;
mod merged;
mod progress;
mod remote;
mod services;

pub use account::{Account, AccountFlags, SEGMENT};
pub use address::Address;
pub use answer::{Answer, allowed, elements, header, not_understood};
pub use bulk::bulk;
pub use call::{CROSS_PARTITION, Call, segment};
pub use connection::{Connection, Host};
pub use database::{Database, Stored, Written, stored};
pub use merged::{Merged, is_needed as is_left_to_client};
pub use progress::{bar, share_bar};
pub use remote::Remote;
pub use services::{ServerFlags, Services};

/// Runs a verb's requests, one after another, on this thread.
pub fn block_on<T>(work: impl Future<Output = T>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    Ok(runtime.map_err(|error| format!("the network cannot be used: {error}"))?.block_on(work))
}
