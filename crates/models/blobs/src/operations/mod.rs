//! Operations on blobs: each is a function over a transaction in the scope of the blob's name, or over a snapshot.
//!
//! ```text
//! requests.rs    what they are asked and what they answer
//! write.rs       a write to the states of one name: its rows, log entries and index rows are kept in step here
//! put.rs         whole blobs           blocks.rs    blocks that are staged and committed
//! append.rs      append blobs          pages.rs     page blobs
//! properties.rs  properties, metadata, tags, tiers, leases, protection
//! snapshot.rs    snapshots             delete.rs    deletes, soft or not, and undeletes
//! copy.rs        copies                read.rs      reads
//! background.rs  what happens when its time has come
//! ```

mod append;
pub mod background;
mod blocks;
mod copy;
mod delete;
mod pages;
mod properties;
mod put;
mod read;
mod requests;
mod snapshot;
mod write;

pub use append::{append, seal};
pub use blocks::{commit_block_list, stage_block};
pub use copy::{
    CopySource, abort_copy, begin_copy, copy_blob, fail_copy, finish_copy, note_copy_progress, source,
};
pub use delete::{delete, undelete};
pub use pages::{clear_pages, page_ranges, put_pages};
pub use properties::{
    RehydrationTimes, delete_immutability, lease, note_access, records_access, set_immutability,
    set_legal_hold, set_metadata, set_properties, set_tags, set_tier,
};
pub use put::{NewBlob, put};
pub use read::{block_lists, check_write, find, read};
pub use requests::*;
pub use snapshot::snapshot;
pub(crate) use write::load_blob;
pub use write::{Place, has_history};
