//! The client of the storage protocols: tables and queues of an account, another Orrery's or Azure's.
//!
//! ```text
//! endpoint     one service of an account: where it is, as whom, and requests sent to it again and again
//! credential   an account key, a shared access signature or a bearer token, and what it makes of a request
//! call         one request
//! error        why there is no answer, and what a refusal says
//! xml          answers in XML
//! access       stored access policies
//! tables/      tables and entities
//! queues/      queues and messages
//! ```
//!
//! What is signed is in `base/protocol`, which servers check with. Values of properties are those of `models/tables`, so
//! that each comes back as it was, whatever JSON can say of it. Limits are the service's to enforce: whatever is sent is
//! sent as it is, and refused there.

mod access;
mod call;
mod credential;
mod endpoint;
mod error;
pub mod queues;
pub mod tables;
#[cfg(test)]
mod tests;
mod xml;

pub use access::StoredPolicy;
pub use credential::StorageCredential;
pub use endpoint::Endpoint;
pub use error::{Refusal, StorageError};
