//! The Azure Queue protocol: bytes on the wire to typed operations and back.
//!
//! ```text
//! request → account (api/storage) → operation (path, method) → authorize → handler: decode → store → encode → reply
//! ```
//!
//! What goes wrong in any step is a `Failure`, which knows its status, code and sentence (`errors.rs`). How the real SDKs
//! behave is in the wire guide (§6); comments here name its sections.
//!
//! Absent: accounts, signatures and roles, which all storage services share (`api/storage`), and what a queue or a message
//! is (`models/queues`).

mod call;
#[cfg(test)]
mod cases;
mod decode;
mod encode;
mod errors;
#[doc(hidden)]
pub mod fuzz;
mod handlers;
mod header;
pub mod limits;
mod operation;
mod parameters;
mod reply;
mod service;

pub use service::Queue;
