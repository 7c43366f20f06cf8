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
mod encode;
mod failure;
mod front_page;
#[doc(hidden)]
pub mod fuzz;
mod handlers;
mod header;
pub mod limits;
mod query;
mod reply;
mod request;
mod route;
mod scripts;
mod service;
mod session;

pub use authorize::{Access, signed_access};
pub use consistency::Consistency;
pub use failure::Failure;
pub use service::{Cosmos, Options, OtherPorts};
