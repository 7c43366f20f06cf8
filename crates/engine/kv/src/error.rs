//! What can go wrong in the store, by what the caller can do about it.

use orrery_core::Lsn;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The disk or the engine refused; nothing of the write is promised. Reads go on.
    #[error("the data folder cannot be written to: {0}")]
    Unavailable(String),
    /// What was read is not what was written. Never repaired by guessing.
    #[error("the stored data is damaged: {0}")]
    Corrupt(String),
    /// The log ends before the last write that was acknowledged.
    #[error(
        "the data folder lost writes that were acknowledged: it ends at {found}, but {promised} was promised; \
         restore a backup, or start with --accept-loss to go on without them"
    )]
    Cut { found: Lsn, promised: Lsn },
}
