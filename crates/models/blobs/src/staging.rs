//! Blocks that wait to be committed, as they are stored.

use crate::blob::BlockId;
use crate::content::Piece;
use crate::limits;
use crate::row::{self, Row};
use crate::spaces::BLOBS;
use bytes::Bytes;
use orrery_core::{Ticks, Timestamp};
use orrery_kv::{Error, Order, Read, Txn};
use std::time::Duration;

/// What the blocks of a name have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Staging {
    /// When the first of them came.
    pub created: Ticks,
    /// All ids are of this length.
    pub id_bytes: usize,
    pub blocks: u64,
}

/// The pieces of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StagedBlock(pub Vec<Piece>);

impl Staging {
    pub fn load(state: &dyn Read, container: u32, name: &str) -> Result<Option<Self>, Error> {
        let stored = state.get(BLOBS, &Row::Staging { container, name }.key())?;
        stored.map(|bytes| Self::read(&bytes)).transpose()
    }

    pub fn expires(&self) -> Timestamp {
        self.created.timestamp().plus(Duration::from_secs(limits::UNCOMMITTED_DAYS_MAX * 24 * 60 * 60))
    }

    pub fn write(&self) -> Vec<u8> {
        let Self { created, id_bytes, blocks } = self;
        [&created.count().to_be_bytes()[..], &[*id_bytes as u8], &blocks.to_be_bytes()].concat()
    }

    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let word = |bytes: &[u8]| bytes.iter().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
        match bytes.len() {
            17 => Ok(Self {
                created: Ticks::from_count(word(&bytes[..8])),
                id_bytes: usize::from(bytes[8]),
                blocks: word(&bytes[9..]),
            }),
            _ => Err(Error::Corrupt("what is known of uncommitted blocks".into())),
        }
    }
}

impl StagedBlock {
    pub fn length(&self) -> u64 {
        self.0.iter().map(Piece::length).sum()
    }

    pub fn release(&self, txn: &mut Txn<'_>) {
        self.0.iter().for_each(|piece| piece.release(txn));
    }

    /// Each piece after its length.
    pub fn write(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for piece in &self.0 {
            let piece = piece.write();
            bytes.extend_from_slice(&(piece.len() as u32).to_be_bytes());
            bytes.extend_from_slice(&piece);
        }
        bytes
    }

    pub fn read(stored: &Bytes) -> Result<Self, Error> {
        let (mut rest, mut pieces) = (stored.clone(), Vec::new());
        while !rest.is_empty() {
            let length = rest.first_chunk().map(|length| u32::from_be_bytes(*length) as usize);
            let length = length.filter(|length| rest.len() - 4 >= *length);
            let length = length.ok_or_else(|| Error::Corrupt("an uncommitted block".into()))?;
            let mut piece = rest.split_to(4 + length);
            pieces.push(Piece::read(&piece.split_off(4))?);
        }
        Ok(Self(pieces))
    }
}

/// The blocks of a name, by their ids.
pub(crate) fn staged(
    state: &dyn Read,
    container: u32,
    name: &str,
) -> Result<Vec<(BlockId, StagedBlock)>, Error> {
    let rows = state.range(BLOBS, &row::blocks_of(container, name), Order::Ascending);
    rows.map(|row| {
        let (key, value) = row?;
        let id = BlockId::from_bytes(row::read_block(&key)?);
        let id = id.map_err(|error| Error::Corrupt(format!("the key of a block: {error}")))?;
        Ok((id, StagedBlock::read(&value)?))
    })
    .collect()
}
