//! Content: the bytes of a blob, in pieces that are found by where they end.
//!
//! ```text
//! ordinal 7   piece …… 4 MiB   piece …… 8 MiB   piece …… 8.3 MiB      large: slices of chunks
//! ordinal 8   piece 900 bytes                                         small: the bytes themselves
//! ```
//!
//! Content is written once. Two kinds of blobs change theirs in place: an append blob, of which each state says how much of it
//! it has, and a page blob, whose snapshots therefore have copies of all pieces (the chunks are shared).
//!
//! Invariants: a piece owns one reference of its chunk; content that no state has any more is freed when the log entry that says
//! so is trimmed, and not before, so that earlier states can be restored.

mod block_list;
mod pages;
mod piece;
mod references;

pub(crate) use block_list::{put_block_list, read_block_list};
pub(crate) use pages::{copy_pieces, truncate, write_pages};
pub(crate) use piece::Piece;
pub use references::chunk_references;

use crate::row::{self, Row};
use crate::spaces::CONTENT;
use bytes::Bytes;
use orrery_chunks::{ChunkId, Synced};
use orrery_kv::{Error, Order, Read, Txn};

/// Which content a blob has, and how much of it: its bytes from 0 up to `length`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// Given once; 0 is nothing.
    pub(crate) ordinal: u64,
    pub(crate) length: u64,
}

/// Content on its way in: small, or in chunks that are on the disk.
#[derive(Clone, Copy)]
pub enum Upload<'a> {
    Inline(&'a Bytes),
    Chunks(&'a Synced),
}

/// A part of a blob's content, and where its bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentPart {
    /// Where in the blob it begins; bytes between two parts are zero.
    pub start: u64,
    pub length: u64,
    pub bytes: PartBytes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartBytes {
    Inline(Bytes),
    Chunk { id: ChunkId, offset: u32 },
}

impl Content {
    pub const EMPTY: Self = Self { ordinal: 0, length: 0 };

    pub fn length(&self) -> u64 {
        self.length
    }
}

impl Upload<'_> {
    pub fn length(&self) -> u64 {
        match self {
            Self::Inline(bytes) => bytes.len() as u64,
            Self::Chunks(synced) => synced.bytes(),
        }
    }

    /// The pieces, in order. Their chunks become part of the store with this transaction.
    pub(crate) fn pieces(&self, txn: &mut Txn<'_>) -> Vec<Piece> {
        match self {
            Self::Inline(bytes) if bytes.is_empty() => Vec::new(),
            Self::Inline(bytes) => vec![Piece::Inline((*bytes).clone())],
            Self::Chunks(synced) => {
                orrery_chunks::add(txn, synced);
                let piece = |chunk: orrery_chunks::Chunk| Piece::of_chunk(chunk.id, chunk.length);
                synced.chunks().map(piece).collect()
            }
        }
    }
}

/// Puts pieces one behind the other, from an offset on. Returns where the last one ends.
pub(crate) fn put_pieces(
    txn: &mut Txn<'_>,
    ordinal: u64,
    mut offset: u64,
    pieces: impl IntoIterator<Item = Piece>,
) -> u64 {
    for piece in pieces {
        offset += piece.length();
        txn.put(CONTENT, Row::Piece { content: ordinal, end: offset }.key(), piece.write());
    }
    offset
}

/// The pieces that have bytes of a range, cut to it, in order.
pub(crate) fn slices(
    state: &dyn Read,
    ordinal: u64,
    start: u64,
    end: u64,
) -> impl Iterator<Item = Result<(u64, Piece), Error>> + use<'_> {
    let rows = state.range(CONTENT, &row::pieces_from(ordinal, start), Order::Ascending);
    let pieces = rows.map(|row| {
        let (key, value) = row?;
        let piece = Piece::read(&value)?;
        let piece_end = row::read_piece(&key)?;
        let from = piece_end.checked_sub(piece.length());
        Ok((
            from.ok_or_else(|| Error::Corrupt("a piece of content is longer than where it ends".into()))?,
            piece,
        ))
    });
    let is_before_end = move |found: &Result<(u64, Piece), Error>| match found {
        Ok((from, _)) => *from < end,
        Err(_) => true,
    };
    pieces.take_while(is_before_end).map(move |found| {
        found.map(|(from, piece)| {
            let (begin, stop) = (start.max(from), end.min(from + piece.length()));
            (begin, piece.slice(begin - from, stop - from))
        })
    })
}

/// Where the bytes of a range are.
pub fn parts(
    state: &dyn Read,
    content: Content,
    start: u64,
    end: u64,
) -> impl Iterator<Item = Result<ContentPart, Error>> + use<'_> {
    let end = end.min(content.length);
    slices(state, content.ordinal, start, end).map(|found| {
        let (start, piece) = found?;
        let length = piece.length();
        let bytes = match piece {
            Piece::Inline(bytes) => PartBytes::Inline(bytes),
            Piece::Chunk { id, offset, .. } => PartBytes::Chunk { id, offset },
        };
        Ok(ContentPart { start, length, bytes })
    })
}

/// One state more has this content.
pub(crate) fn share(txn: &mut Txn<'_>, content: Content) -> Result<(), Error> {
    if content.ordinal != 0 {
        let sharers = sharers(txn, content)?;
        txn.put(
            CONTENT,
            Row::Sharers { content: content.ordinal }.key(),
            (sharers + 1).to_be_bytes().to_vec(),
        );
    }
    Ok(())
}

/// One state less has it. Returns whether none has it any more.
pub(crate) fn unshare(txn: &mut Txn<'_>, content: Content) -> Result<bool, Error> {
    if content.ordinal == 0 {
        return Ok(false);
    }
    let key = Row::Sharers { content: content.ordinal }.key();
    match sharers(txn, content)? {
        0 => return Ok(true),
        1 => txn.delete(CONTENT, key),
        more => txn.put(CONTENT, key, (more - 1).to_be_bytes().to_vec()),
    }
    Ok(false)
}

/// How many states beside one have it.
fn sharers(state: &dyn Read, content: Content) -> Result<u32, Error> {
    let Some(stored) = state.get(CONTENT, &Row::Sharers { content: content.ordinal }.key())? else {
        return Ok(0);
    };
    match stored.first_chunk() {
        Some(bytes) if stored.len() == 4 => Ok(u32::from_be_bytes(*bytes)),
        _ => Err(Error::Corrupt("the number of states that share content".into())),
    }
}

/// Removes rows of content that no state has, and releases its chunks: at most so many rows. Returns how many it removed.
pub(crate) fn free(txn: &mut Txn<'_>, ordinal: u64, rows_max: usize) -> Result<usize, Error> {
    let rows = txn.range(CONTENT, &row::content(ordinal), Order::Ascending).take(rows_max);
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    let removed = rows.len();
    for (key, value) in rows {
        if row::read_piece(&key).is_ok() {
            Piece::read(&value)?.release(txn);
        }
        txn.delete(CONTENT, key);
    }
    Ok(removed)
}
