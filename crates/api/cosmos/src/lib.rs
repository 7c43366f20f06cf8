//! The Cosmos DB REST protocol: bytes on the wire to typed operations and back.
//!
//! ```text
//! request → route (path) → authorize → handler: decode → store → encode → reply
//! ```
//!
//! A handler is three steps; what goes wrong in any of them is a [`Failure`], which knows its status, code,
//! sub-status and sentence (wire guide §7). How the real SDKs behave is in the wire guide; comments here
//! name its sections.

mod authorize;
mod change_feed;
mod consistency;
mod continuation;
mod encode;
mod failure;
mod front_page;
#[doc(hidden)]
pub mod fuzz;
mod handlers;
mod header;
pub mod monitor;
mod partition_key;
mod query;
mod reply;
mod request;
mod route;
mod script;
mod service;
mod session;
mod throttle;
pub mod usage;

pub use authorize::{Access, change_roles, signed_access};
pub use consistency::Consistency;
pub use failure::Failure;
pub use query::cross_partition::CrossPartition;
pub use service::{Cosmos, Options};
pub use throttle::Throttling;
