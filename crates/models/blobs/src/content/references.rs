//! Every reference that blobs have of chunks, for a check of the whole store.

use super::Piece;
use crate::changes::{self, Subject};
use crate::row;
use crate::spaces::{BLOBS, CONTENT, LOG};
use crate::staging::StagedBlock;
use orrery_catalog::change_log::{self, Entry};
use orrery_chunks::ChunkId;
use orrery_core::Lsn;
use orrery_kv::{Error, KeyRange, LogRecord, META, Order, Read};

/// Each chunk as often as a piece, a block that waits or an entry of the log has it.
pub fn chunk_references(state: &dyn Read) -> Result<Vec<ChunkId>, Error> {
    let mut found = Vec::new();
    for row in state.range(CONTENT, &KeyRange::all(), Order::Ascending) {
        let (key, value) = row?;
        if row::read_piece(&key).is_ok() {
            add(&mut found, &Piece::read(&value)?);
        }
    }
    for row in state.range(BLOBS, &KeyRange::all(), Order::Ascending) {
        let (key, value) = row?;
        if row::is_block(&key) {
            StagedBlock::read(&value)?.0.iter().for_each(|piece| add(&mut found, piece));
        }
    }
    for container in containers(state)? {
        let range = LogRecord::range(change_log::stream(container), released(state, container)?);
        for row in state.range(LOG, &range, Order::Ascending) {
            let entry = Entry::read(LogRecord::read(&row?)?)?;
            if let (Subject::Piece(_), Some(image)) = (changes::subject(&entry)?, entry.image()) {
                add(&mut found, &Piece::read(&image)?);
            }
        }
    }
    Ok(found)
}

/// The first commit whose entries still own what they are about.
fn released(state: &dyn Read, container: u32) -> Result<Lsn, Error> {
    Ok(Lsn(changes::horizons(state, container)?.released.0.saturating_add(1)))
}

fn add(found: &mut Vec<ChunkId>, piece: &Piece) {
    if let Piece::Chunk { id, .. } = piece {
        found.push(*id);
    }
}

/// The containers that have a log: those that are there, deleted, or being removed.
fn containers(state: &dyn Read) -> Result<Vec<u32>, Error> {
    let mut numbers = crate::containers::numbers(state)?;
    for row in state.range(META, &row::sweeps(), Order::Ascending) {
        numbers.push(row::read_sweep(&row?.0)?);
    }
    Ok(numbers)
}
