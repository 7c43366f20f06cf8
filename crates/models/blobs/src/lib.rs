//! Blob containers and blobs: what they are and how they change.
//!
//! Plain functions over a transaction or a snapshot; time and randomness come in as a [`Stamp`], content as an
//! [`Upload`](content::Upload) that is on the disk already. Nothing here knows HTTP, threads or files.
//!
//! ```text
//! address.rs     containers, names, and which state of a blob is meant
//! etag.rs, conditions.rs, lease.rs, tier.rs   what requests and states are made of
//! tags/          index tags, the languages of conditions and filters, finding blobs
//! blob/          a state of a blob, and its record
//! content/       the bytes of a blob: pieces, lists of blocks, pages
//! staging.rs     blocks that wait to be committed
//! operations/    everything that is done to a blob; in the scope of its name
//! list/          lists of blobs
//! containers/    definitions of containers; in the catalog's scope
//! inventory/     policies, and the rows that they make of blobs and containers
//! lifecycle/     policies, and what they make of a blob
//! settings.rs    retention, versions and the like, of an account
//! events.rs      events of the change feed
//! changes.rs     the log of changes, and trimming it
//! refusal.rs     why the service's rules refuse an operation
//! row.rs, spaces.rs   every key that is stored, and where (`docs/formats/blobs.md`)
//! ```
//!
//! Invariants: a name has at most one current state, and its other states are never changed in their content; content belongs to
//! states of one name alone; whatever is replaced or removed is in the log until it is trimmed, and its bytes until then too.

pub mod address;
pub mod blob;
pub mod changes;
pub mod conditions;
pub mod containers;
pub mod content;
pub mod etag;
pub mod events;
pub mod inventory;
pub mod lease;
pub mod lifecycle;
pub mod limits;
mod list;
mod marker;
mod millis;
pub mod operations;
mod refusal;
mod row;
pub mod settings;
pub mod spaces;
mod staging;
pub mod tags;
pub mod tier;

pub use address::{Address, BlobName, ContainerId, InvalidBlobName, Selector};
pub use blob::Blob;
pub use conditions::Conditions;
pub use content::chunk_references;
pub use etag::{BlobETag, ETagMatch};
pub use list::list;
pub use operations::Stamp;
pub use refusal::{BlobError, Refusal};
