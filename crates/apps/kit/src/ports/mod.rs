//! The ports: what a service may ask of a kind of store, one module for each kind.
//!
//! ```text
//! documents    items in the containers of one database, as Cosmos DB promises them
//! tables       entities in the tables of one storage account, as Azure Table storage promises them
//! queues       messages in the queues of one storage account, as Azure Queue storage promises them
//! ```
//!
//! Every port has the same shape: an enum of its adapters, which is what a service holds (`Documents`); `types` for what
//! goes in and comes out; `embedded` for the store of this process; `remote` for an endpoint over the wire. One contract
//! suite runs on both adapters. *Absent: ports that no service uses yet.*

pub mod documents;
mod error;
pub mod queues;
mod storage;
pub mod tables;

pub use error::StoreError;
pub use storage::StorageOptions;
