//! A piece of content as it is stored: bytes, or a slice of a chunk.

use bytes::Bytes;
use orrery_chunks::ChunkId;
use orrery_kv::{Error, Txn};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Inline(Bytes),
    Chunk { id: ChunkId, offset: u32, length: u32 },
}

const INLINE: u8 = 1;
const CHUNK: u8 = 2;
const CHUNK_BYTES: usize = 16;

impl Piece {
    /// A whole chunk.
    pub fn of_chunk(id: ChunkId, length: u32) -> Self {
        Self::Chunk { id, offset: 0, length }
    }

    pub fn length(&self) -> u64 {
        match self {
            Self::Inline(bytes) => bytes.len() as u64,
            Self::Chunk { length, .. } => u64::from(*length),
        }
    }

    /// The bytes of a range of it.
    pub fn slice(&self, start: u64, end: u64) -> Self {
        match self {
            Self::Inline(bytes) => Self::Inline(bytes.slice(start as usize..end as usize)),
            Self::Chunk { id, offset, .. } => {
                Self::Chunk { id: *id, offset: offset + start as u32, length: (end - start) as u32 }
            }
        }
    }

    /// Another piece has bytes of the same chunk.
    pub fn retain(&self, txn: &mut Txn<'_>) {
        if let Self::Chunk { id, .. } = self {
            orrery_chunks::retain(txn, *id);
        }
    }

    /// The piece goes.
    pub fn release(&self, txn: &mut Txn<'_>) {
        if let Self::Chunk { id, .. } = self {
            orrery_chunks::release(txn, *id);
        }
    }

    pub fn write(&self) -> Vec<u8> {
        match self {
            Self::Inline(bytes) => [&[INLINE], &bytes[..]].concat(),
            Self::Chunk { id, offset, length } => {
                [&[CHUNK], &id.0.to_be_bytes()[..], &offset.to_be_bytes(), &length.to_be_bytes()].concat()
            }
        }
    }

    pub fn read(bytes: &Bytes) -> Result<Self, Error> {
        let damaged = || Error::Corrupt("a piece of content".to_owned());
        match bytes.split_first() {
            Some((&INLINE, rest)) if !rest.is_empty() => Ok(Self::Inline(bytes.slice(1..))),
            Some((&CHUNK, rest)) if rest.len() == CHUNK_BYTES => {
                let word = |at: usize, bytes: usize| {
                    rest[at..at + bytes].iter().fold(0u64, |word, byte| word << 8 | u64::from(*byte))
                };
                let length = word(12, 4) as u32;
                if length == 0 {
                    return Err(damaged());
                }
                Ok(Self::Chunk { id: ChunkId(word(0, 8)), offset: word(8, 4) as u32, length })
            }
            _ => Err(damaged()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_read_back_and_cut() {
        let inline = Piece::Inline(Bytes::from_static(b"0123456789"));
        let chunk = Piece::Chunk { id: ChunkId(77), offset: 100, length: 50 };
        for piece in [&inline, &chunk] {
            assert_eq!(Piece::read(&piece.write().into()).as_ref(), Ok(piece));
        }
        assert_eq!(inline.slice(2, 5), Piece::Inline(Bytes::from_static(b"234")));
        assert_eq!(chunk.slice(10, 50), Piece::Chunk { id: ChunkId(77), offset: 110, length: 40 });
    }

    #[test]
    fn what_is_damaged_is_no_piece() {
        for bytes in [&b""[..], b"\x01", b"\x02", b"\x03abc", &[2; 18], &[&[2][..], &[0; 16]].concat()] {
            assert!(Piece::read(&Bytes::copy_from_slice(bytes)).is_err(), "{bytes:?}");
        }
    }
}
