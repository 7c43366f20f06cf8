//! Ports: the operations that services may use, one module per kind of store.
//!
//! ```text
//! documents    items in the containers of one database, with the guarantees of Cosmos DB
//! tables       entities in the tables of one storage account, with the guarantees of Azure Table storage
//! queues       messages in the queues of one storage account, with the guarantees of Azure Queue storage
//! ```
//!
//! Every port has the same shape: an enum of its adapters, which services hold (`Documents`); `types` for
//! inputs and outputs; `embedded` for the store of this process; `remote` for an endpoint over the wire. One
//! contract suite runs on both adapters. *Absent: ports that no service uses yet.*

pub mod documents;
mod error;
pub mod queues;
mod storage;
pub mod tables;

pub use error::StoreError;
pub use storage::StorageOptions;
