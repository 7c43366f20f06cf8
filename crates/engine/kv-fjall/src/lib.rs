//! The embedded engine: fjall, a log-structured merge tree in pure Rust, in one data folder.
//!
//! ```text
//! FORMAT    the version of everything in the folder, in words
//! lock      held while a process has the folder open
//! promised  the last acknowledged commit, written after every group, never synced; promised-copy is its copy
//! engine/   fjall's own files: one journal for all spaces, so that a batch is atomic over them
//! ```
//!
//! Of the folder's data files it opens all but the chunk files. Known weak spots of fjall, and the answers here:
//!
//! - a journal cut in the middle is recovered silently: hence `promised`, [`journals`], and the log's chain;
//! - after an I/O error it takes no more writes: a nearly full disk is refused before fjall meets it;
//! - its worker can deadlock when asked for a new memtable too often: [`memtables`] rotates them earlier;
//! - it never compacts files that do not overlap, so removals from append-only spaces give nothing back:
//!   those are a ring of [`segments`], which [`compaction`] compacts;
//! - every row in a memtable costs a search through it: [`run_memtable`] keeps sorted runs instead.

mod compaction;
mod data_folder;
mod engine;
mod folder;
mod journals;
mod keyspaces;
pub mod limits;
mod memtables;
mod promise;
mod run_memtable;
mod segments;
mod verify;
mod worker;

pub use data_folder::{DataFolder, restrict};
pub use engine::{FjallEngine, Options};
pub use folder::{FORMAT_VERSION, Folder, FolderError};
pub use promise::{NoteCopy, read_copies};
pub use verify::Verified;
