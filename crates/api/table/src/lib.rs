//! The Azure Table protocol: bytes on the wire to typed operations and back.
//!
//! ```text
//! request → account (api/storage) → operation (path, verb) → authorize → handler: decode → store → encode → reply
//! ```
//!
//! What goes wrong in any step is a `Failure`, which knows its status, code and sentence (`errors.rs`). A batch is one
//! request whose body has others in it: each is read as if it had come by itself, all of them are one call of the store.
//! How the real SDKs behave is in the wire guide (§5); comments here name its sections.
//!
//! Absent: accounts, signatures and roles, which all storage services share (`api/storage`), and what an entity or a filter
//! is (`models/tables`).

mod address;
mod call;
mod continuation;
mod decode;
mod encode;
mod errors;
#[doc(hidden)]
pub mod fuzz;
mod handlers;
mod head;
mod json;
mod key_predicate;
pub mod limits;
mod multipart;
mod operation;
mod options;
mod reply;
mod route;
mod service;
mod verb;

pub use service::Table;
