//! The Azure Blob protocol: bytes on the wire to typed operations and back.
//!
//! ```text
//! request → account (api/storage) → operation (path, method, comp) → authorize → handler: decode → store → encode → reply
//! ```
//!
//! Content is never whole in memory: what arrives goes to a writer of the store piece by piece (`upload.rs`), and what is
//! read is sent as the store finds it (`answer.rs`). What goes wrong in any step is a `Failure`, which knows its status, code
//! and sentence (`errors.rs`). How the real SDKs behave is in the wire guide (§7 to §9); comments here name its sections.
//!
//! Absent: accounts, signatures and roles, which all storage services share (`api/storage`), and what a container or a blob
//! is (`models/blobs`).

mod answer;
mod batch;
mod call;
mod conditions;
mod encode;
mod errors;
mod handlers;
mod header;
pub mod limits;
mod operation;
mod parameters;
mod properties;
mod reply;
mod service;
mod service_settings;
mod source;
mod tags;
mod upload;
mod website;

pub use answer::Answer;
pub use service::Blobs;
pub use source::{Fetch, Fetched};
