//! References to chunks: rows in the transactions of models.
//!
//! A chunk is born with one reference, that of the transaction that adds it. More are counted in a tally, which no transaction
//! reads, so owners in different scopes never wait for each other.
//!
//! Every change of the count also writes the row [`Row::Changed`] with the LSN of its commit. Reclaiming decides about a chunk on a
//! snapshot, and commits under the condition that this row is as it was there: then the count is too. And whoever retains a chunk
//! requires that it is there. So of a retain and the removal of the chunk, whichever is committed second is refused.

use crate::row::{CHUNKS, LIVE_BYTES, LIVE_CHUNKS, RELEASED, RETAINED, Row, read_location, write_location};
use crate::{ChunkId, Location, Synced};
use orrery_kv::{Error, Expect, Read, Tally, Txn};

/// Makes the chunks of an upload part of the store, with one reference each. The caller keeps `synced` until the transaction is
/// durable or refused.
pub fn add(txn: &mut Txn<'_>, synced: &Synced) {
    for location in synced.locations() {
        txn.put(CHUNKS, Row::Location(location.chunk).key(), write_location(location));
        tally_live(txn, location, 1);
    }
}

/// One reference more. The transaction is refused at commit if the chunk is gone by then, so it must have been added by an earlier
/// one. A copy retains a chunk that its source refers to in what the transaction reads.
pub fn retain(txn: &mut Txn<'_>, id: ChunkId) {
    txn.require(CHUNKS, Row::Location(id).key(), Expect::Present);
    txn.tally(CHUNKS, Row::References(id).key(), RETAINED, 1);
    note_change(txn, id);
}

/// One reference less. Without any, the chunk is removed some time later.
pub fn release(txn: &mut Txn<'_>, id: ChunkId) {
    txn.tally(CHUNKS, Row::References(id).key(), RELEASED, 1);
    note_change(txn, id);
}

/// Where a chunk is; `None` if it is not in the store. The bytes can be read there while a [`Pin`](crate::Pin) is held that is older
/// than `state`.
pub fn locate(state: &dyn Read, id: ChunkId) -> Result<Option<Location>, Error> {
    let row = state.get(CHUNKS, &Row::Location(id).key())?;
    row.map(|value| read_location(id, &value)).transpose()
}

/// How many references a chunk has; 0 if it is not in the store.
pub fn count(state: &dyn Read, id: ChunkId) -> Result<u64, Error> {
    let is_there = state.get(CHUNKS, &Row::Location(id).key())?.is_some();
    if !is_there {
        return Ok(0);
    }
    Ok(count_in(&Tally::of(state, CHUNKS, &Row::References(id).key())?))
}

/// References of a chunk that is there, by its tally.
pub(crate) fn count_in(tally: &Tally) -> u64 {
    (1 + tally.get(RETAINED)).saturating_sub(tally.get(RELEASED))
}

/// Adds a chunk to what is live in its file, or subtracts it.
pub(crate) fn tally_live(txn: &mut Txn<'_>, location: &Location, by: i64) {
    let key = Row::Live(location.file).key();
    txn.tally(CHUNKS, key.clone(), LIVE_CHUNKS, by);
    txn.tally(CHUNKS, key, LIVE_BYTES, by * location.stored_bytes() as i64);
}

fn note_change(txn: &mut Txn<'_>, id: ChunkId) {
    txn.put_stamped(CHUNKS, Row::Changed(id).key(), vec![0; 8], 0);
    txn.tally(CHUNKS, Row::Changes.key(), 0, 1);
}
