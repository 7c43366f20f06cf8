//! Large bytes outside the ordered store ([ADR 37](../../../../docs/adr/0037-chunk-files.md)).
//!
//! Content is streamed into append-only files while it arrives, in *chunks*: contiguous pieces of some megabytes. A row of the ordered
//! store says where each chunk is, and how many refer to it; models keep the [`ChunkId`].
//!
//! ```text
//! upload    Chunks::writer ─ write… ─ finish ─▶ Appended ─ sync ─▶ Synced        files
//! commit    add(txn, &synced), together with the row that refers to its chunks   rows
//! share     retain(txn, id), release(txn, id): copies, snapshots, history        rows
//! read      Chunks::pin ─▶ snapshot ─▶ locate(snapshot, id) ─▶ Pin::read         rows, then files
//! reclaim   Chunks::reclaim, a bounded step at a time, as a background job       both
//! ```
//!
//! Invariants: a row refers only to bytes that were synced before its commit; bytes are checked against their checksums whenever
//! they are read, and damaged ones are reported, never returned; a file is removed only when no row refers to it, no upload is in
//! flight in it, and no pin is older than that.
//!
//! Absent: blobs, names, threads and their scheduling, async (callers use threads that may block).

mod append_file;
mod check;
mod chunks;
mod compact;
mod error;
pub mod files;
mod format;
mod garbage;
pub mod limits;
mod location;
mod pins;
mod pool;
mod read;
mod reclaim;
mod references;
mod room;
mod row;
mod writer;

pub use check::{Checked, check};
pub use chunks::{Chunks, Options};
pub use error::Error;
pub use location::{Chunk, ChunkId, FileId, Location};
pub use pins::Pin;
pub use reclaim::{Commits, ReclaimError, Reclaimed};
pub use references::{add, count, locate, release, retain};
pub use row::{CHUNKS, SPECS};
pub use writer::{Appended, Synced, Writer};
