//! What the blob, queue and table protocols share: addresses, authorization, versions, errors, service properties.
//!
//! A port answers a request in five steps, and only the fourth is its own:
//!
//! ```text
//! storage.begin(headers)                     envelope   ids, version, date: what every answer says
//! storage.read(service, head, peer, …)       request    account, path and query as they travelled, version
//! storage.authorize(&request, &need, …)      authorize  who asks, and whether they may
//! …                                                     the operation
//! envelope.finish(response.headers_mut())               on answers and on refusals
//! ```
//!
//! Beside it, for what services have in common: their properties and access policies as XML, metadata, CORS, statistics.
//! *Absent: bodies, routes and every operation of one service.*

pub mod access_policies;
mod address;
mod authorize;
pub mod cors;
mod envelope;
mod error;
mod error_body;
#[doc(hidden)]
pub mod fuzz;
pub mod header;
pub mod limits;
pub mod metadata;
mod replica;
mod request;
pub mod service_properties;
pub mod statistics;
mod storage;
#[cfg(test)]
mod testing;
pub mod user_delegation_key;
mod version;
pub mod xml;

pub use address::{Addressing, Style};
pub use authorize::{
    Action, Bound, Caller, Grant, Letters, Level, Moment, Need, Resource, Rules, TableRange,
};
pub use cors::CorsHeaders;
pub use envelope::Envelope;
pub use error::StorageError;
pub use metadata::Metadata;
pub use request::StorageRequest;
pub use storage::{Assigned, Options, Storage};
pub use version::Version;
