//! The HTTP client of this repository, and on it one signed client of our wires: the Cosmos DB endpoint and the storage
//! services (another Orrery's or Azure's), and the services port.
//!
//! ```text
//! http         HTTP/1.1 and HTTP/2, TLS or not; pools of connections
//! credential   an account key or a bearer token, and what it makes of a request
//! account      an endpoint and its credential
//! call         one request to the Cosmos DB endpoint
//! answer       status, headers and body, and what is read from them
//! remote       calls sent, and sent again while a server has no throughput or is away
//! ranges       the physical partitions of a container
//! merged       a query whose ranges the server leaves to its client to merge
//! bulk         several writes in one request
//! services     the services port, found from the Cosmos DB endpoint
//! storage/     tables and queues of a storage account
//! ```
//!
//! The verbs of the command line and the remote adapter of `apps/kit` send everything through here, each with its own
//! retry policy. Absent: stores, flags, output.

mod account;
mod answer;
mod bulk;
mod call;
mod connection;
mod credential;
pub mod http;
pub mod limits;
mod merged;
mod ranges;
mod remote;
mod services;
pub mod storage;

pub use account::{About, Account};
pub use answer::{Answer, allowed, elements, not_understood};
pub use bulk::bulk;
pub use call::{CROSS_PARTITION, Call, ENABLE_CROSS_PARTITION, PARTITION_KEY, RANGE, SEGMENT, segment};
pub use connection::{Connection, Host, trust};
pub use credential::Credential;
pub use http::Address;
pub use merged::{Exchange, Merged, is_left_to_client};
pub use ranges::Range;
pub use remote::Remote;
pub use services::Services;
