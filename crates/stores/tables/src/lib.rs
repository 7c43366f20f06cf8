//! The tables of a process: typed asynchronous operations, the one boundary that `api` and `apps` call (D12).
//!
//! ```text
//! tables.rs      create, list, get and delete tables; access policies
//! entities.rs    get, insert, merge, replace, delete; entity group transactions
//! queries.rs     query, explain
//! service.rs     the properties of an account's table service
//! background.rs  rows of dropped tables, old entries of the log
//! usage/         what is asked of each table, for measurements and advice
//! ```
//!
//! Everything that must happen whoever asks is in here once: finding the table, Timestamps, the condition that the table
//! is still there, counting. Reads are of the newest durable state and wait for nothing.
//!
//! Absent: how commits are grouped and synced (`engine/txn`), what an entity is (`models/tables`), and every wire format
//! (`api`).

mod background;
mod catalog_cache;
mod entities;
mod error;
mod handle;
pub mod limits;
mod queries;
mod scope;
mod service;
mod store;
mod tables;
mod trimming;
pub mod usage;

pub use error::Error;
pub use handle::TableHandle;
pub use orrery_tables as model;
pub use store::{Options, TableStore};
pub use tables::{TableList, TableListRequest};
