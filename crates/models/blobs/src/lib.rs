//! Blob containers and blobs: what they are and how they change.
//!
//! Plain functions over a transaction or a snapshot; time and randomness come in as a [`Stamp`].

pub mod address;
pub mod blob;
pub mod conditions;
pub mod container;
pub mod content;
pub mod etag;
pub mod lease;
pub mod limits;
pub mod operations;
mod refusal;
mod row;
pub mod settings;
pub mod spaces;
pub mod tags;
pub mod tier;

pub use address::{Address, BlobName, ContainerId, InvalidBlobName, Selector};
pub use blob::Blob;
pub use conditions::Conditions;
pub use etag::{BlobETag, ETagMatch};
pub use operations::Stamp;
pub use refusal::{BlobError, Refusal};
