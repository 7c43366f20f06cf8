//! Ports: the operations that services may use, one module per kind of store.
//!
//! ```text
//! documents    items in the containers of one database, with the guarantees of Cosmos DB
//! ```
//!
//! Every port has the same shape: an enum of its adapters, which services hold (`Documents`); `types` for
//! inputs and outputs; `embedded` for the store of this process; `remote` for an endpoint over the wire. One
//! contract suite runs on both adapters. *Absent: ports that no service uses yet.*

pub mod documents;
