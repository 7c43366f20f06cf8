//! What can go wrong with chunks, grouped by what the caller can do about it.

use crate::FileId;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The disk has too little room. Nothing was stored; deletes make room.
    #[error("the chunk files cannot be written to: {0}")]
    Full(String),
    /// The disk refused. Nothing was stored, and trying again is safe: it goes to another file.
    #[error("the chunk files cannot be used: {0}")]
    Unavailable(String),
    /// A file that rows refer to is not there.
    #[error("the chunk file {0} is missing")]
    Missing(FileId),
    /// A file ends before its chunk does.
    #[error("the chunk file {file} ends before its chunk at {offset} does")]
    Torn { file: FileId, offset: u64 },
    /// Stored bytes differ from what was written; the offset is that of their frame.
    #[error("the chunk file {file} is damaged at {offset}")]
    Corrupt { file: FileId, offset: u64 },
}

impl Error {
    /// Whether stored bytes are lost.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Full(_) | Self::Unavailable(_) => false,
            Self::Missing(_) | Self::Torn { .. } | Self::Corrupt { .. } => true,
        }
    }

    pub(crate) fn unavailable(error: &std::io::Error) -> Self {
        Self::Unavailable(error.to_string())
    }
}

impl From<Error> for orrery_kv::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Full(reason) => Self::Full(reason),
            Error::Unavailable(reason) => Self::Unavailable(reason),
            damage => Self::Corrupt(damage.to_string()),
        }
    }
}
