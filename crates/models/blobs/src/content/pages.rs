//! Pages: content that is changed in place. What a change replaces goes to the log with its reference of the chunk, so a
//! transaction here only counts what is new.

use super::{Content, Piece, put_pieces, slices};
use crate::changes;
use crate::row::{self, Row};
use crate::spaces::CONTENT;
use orrery_core::Timestamp;
use orrery_kv::{Error, Order, Read, Txn};

/// Replaces the bytes of a range; without pieces, they become zero.
pub(crate) fn write_pages(
    txn: &mut Txn<'_>,
    container: u32,
    ordinal: u64,
    start: u64,
    end: u64,
    pieces: Vec<Piece>,
    now: Timestamp,
) -> Result<(), Error> {
    cut_out(txn, container, ordinal, start, end, now)?;
    put_pieces(txn, ordinal, start, pieces);
    Ok(())
}

/// Removes everything from an offset on.
pub(crate) fn truncate(
    txn: &mut Txn<'_>,
    container: u32,
    ordinal: u64,
    length: u64,
    now: Timestamp,
) -> Result<(), Error> {
    cut_out(txn, container, ordinal, length, u64::MAX, now)
}

/// Removes the pieces that have bytes of a range, and puts back what they have outside of it.
fn cut_out(
    txn: &mut Txn<'_>,
    container: u32,
    ordinal: u64,
    start: u64,
    end: u64,
    now: Timestamp,
) -> Result<(), Error> {
    let mut touched = Vec::new();
    for row in txn.range(CONTENT, &row::pieces_from(ordinal, start), Order::Ascending) {
        let (key, value) = row?;
        let (piece, piece_end) = (Piece::read(&value)?, row::read_piece(&key)?);
        let piece_start = piece_end.saturating_sub(piece.length());
        if piece_start >= end {
            break;
        }
        touched.push((key, value, piece, piece_start, piece_end));
    }
    for (key, value, piece, piece_start, piece_end) in touched {
        changes::log_piece(txn, container, &key, &value, now);
        txn.delete(CONTENT, key);
        for (from, to) in [(piece_start, start.min(piece_end)), (end.max(piece_start), piece_end)] {
            if from < to {
                let left = piece.slice(from - piece_start, to - piece_start);
                left.retain(txn);
                txn.put(CONTENT, Row::Piece { content: ordinal, end: to }.key(), left.write());
            }
        }
    }
    Ok(())
}

/// Makes new content of the pieces of another, which keeps them: both have references of the chunks.
pub(crate) fn copy_pieces(txn: &mut Txn<'_>, from: Content, to: u64) -> Result<Content, Error> {
    let pieces = slices(txn, from.ordinal, 0, from.length).collect::<Result<Vec<_>, _>>()?;
    for (start, piece) in pieces {
        piece.retain(txn);
        put_pieces(txn, to, start, [piece]);
    }
    Ok(Content { ordinal: to, length: from.length })
}
