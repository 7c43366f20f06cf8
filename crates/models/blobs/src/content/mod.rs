//! Content: the bytes of a blob, in pieces.

/// Which content a blob has, and how much of it: its bytes from 0 up to `length`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    /// Given once; 0 is nothing.
    pub(crate) ordinal: u64,
    pub(crate) length: u64,
}

impl Content {
    pub fn length(&self) -> u64 {
        self.length
    }
}
