//! The embedded engine: fjall, a log-structured merge tree in pure Rust, in one data folder.
//!
//! ```text
//! FORMAT    the version of everything in the folder, in words
//! lock      held while a process has the folder open
//! promised  the last acknowledged commit, written after every group, never synced; promised-copy the same once more
//! engine/   fjall's own files: one journal for all spaces, so that a batch is atomic over them
//! ```
//!
//! This is the only crate that opens data files. What we know of fjall's weak spots, and the answer here:
//! a journal cut in the middle is recovered silently (so `promised`, and `orrery_kv` chains the log); after
//! an I/O error it takes no more writes (so a nearly full disk is refused before fjall meets it); its thread can wait for
//! itself when it is asked for a new memtable too often (so `memtables` exchanges them before); it gives back nothing of what is
//! removed from rows that were written in the order of their keys (so `gather` merges texts and the log); a row in a memtable costs a search
//! through it (so `recent` keeps the newest rows of the index, most of all there are, in another way).

mod engine;
mod folder;
mod gather;
mod helper;
mod journals;
mod memtables;
mod promise;
mod recent;
mod spaces;
mod turns;
mod verify;

pub use engine::{FjallEngine, Options};
pub use folder::{FORMAT_VERSION, Folder, FolderError};
pub use promise::{NoteCopy, read_copies};
pub use verify::Verified;
