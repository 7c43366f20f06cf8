//! What the verbs that ask a running server share: the flags that say where it is, databases and items of it.
//!
//! ```text
//! AccountFlags ─▶ Account ─▶ Remote ─▶ Database      the Cosmos DB endpoint: signed calls, databases, items, queries
//! ServerFlags  ─▶ Services                           the services port of the same server
//! ```

mod database;
mod flags;

pub use database::{Database, Stored, Written, stored};
pub use flags::{AccountFlags, ServerFlags};
pub use orrery_client::{
    Account, Address, Answer, CROSS_PARTITION, Call, Host, Merged, Remote, SEGMENT, Services, allowed, bulk,
    elements, is_left_to_client, not_understood, segment,
};

/// Runs a verb's requests, one after another, on this thread.
pub fn block_on<T>(work: impl Future<Output = T>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    Ok(runtime.map_err(|error| format!("the network cannot be used: {error}"))?.block_on(work))
}
