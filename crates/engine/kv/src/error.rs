//! What can go wrong in the store, grouped by what the caller can do about it.

use orrery_core::Lsn;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The disk or the engine refused before anything was written. Retrying is safe; reads go on.
    #[error("the data folder cannot be written to: {0}")]
    Unavailable(String),
    /// The disk has too little room. Nothing was written; writes that make room are still accepted
    /// for a while.
    #[error("the data folder cannot be written to: {0}")]
    Full(String),
    /// The disk failed during the write or its sync. A failed sync must not be repeated: the system
    /// may have dropped what it could not write. So nothing more is written until a restart, which
    /// finds all of this write or nothing.
    #[error(
        "the disk failed during this write ({0}); whether it is stored is unknown until the server is restarted. \
         Until then writes are refused and reads go on"
    )]
    Uncertain(String),
    /// An earlier write or its sync failed; nothing of this one was written.
    #[error(
        "an earlier write failed at the disk; nothing of this one was stored. Writes are refused until the server is \
         restarted, and reads go on"
    )]
    Halted,
    /// The folder has rows that this build would overlook.
    #[error(
        "the data folder has the space {0}, which this build does not know; use the newer orrery that made it, or give \
         another --data"
    )]
    UnknownSpace(String),
    /// Stored bytes differ from what was written. Never repaired by guessing.
    #[error("the stored data is damaged: {0}")]
    Corrupt(String),
    /// The log ends before the last acknowledged write.
    #[error(
        "the data folder lost writes that were acknowledged: it ends at {found}, but {promised} was promised; \
         restore a backup, or start with --accept-loss to go on without them"
    )]
    Truncated { found: Lsn, promised: Lsn },
}
