//! Removing the rows of chunks that nobody refers to any more.
//!
//! The decision is made on a snapshot and committed under the condition that the chunk's [`Row::Changed`] is as it was there. Every
//! change of the count writes that row with the LSN of its commit, so the count is as it was too.

use crate::reclaim::{Commits, ReclaimError, Reclaimed, Reclaimer};
use crate::references::{count_in, locate, tally_live};
use crate::row::{self, CHUNKS, RELEASED, RETAINED, Row, write_location};
use crate::{ChunkId, Location, limits};
use bytes::Bytes;
use orrery_kv::{Error, Expect, Order, Read, Tally, Txn};

/// A chunk whose references changed, as of a snapshot.
struct Changed {
    id: ChunkId,
    stamp: Bytes,
    verdict: Verdict,
}

enum Verdict {
    Keep,
    Remove { location: Option<Location>, tally: Tally },
}

/// How often references changed since the store was made.
pub(crate) fn changes(state: &dyn Read) -> Result<u64, Error> {
    Ok(Tally::of(state, CHUNKS, &Row::Changes.key())?.get(0))
}

/// A page of the pass over all chunks whose references changed.
pub(crate) fn remove<C: Commits>(
    reclaimer: &mut Reclaimer,
    commits: &C,
    step: &mut Reclaimed,
) -> Result<(), ReclaimError<C::Error>> {
    let snapshot = commits.snapshot();
    let page = page(&*snapshot, reclaimer.cursor.unwrap_or(ChunkId(0)))?;
    let Some(last) = page.last().map(|changed| changed.id) else {
        // The pass begins again at the front if it did not begin there.
        step.has_more |= reclaimer.cursor.take().is_some();
        return Ok(());
    };
    reclaimer.cursor = Some(ChunkId(last.0 + 1));
    step.has_more = true;
    if commit(commits, &page)? {
        step.chunks_removed += page.iter().filter(|changed| changed.is_removal()).count() as u64;
        return Ok(());
    }
    // One that is retained and released all the time must not keep the others.
    for changed in page.chunks(1) {
        if commit(commits, changed)? {
            step.chunks_removed += u64::from(changed[0].is_removal());
        }
    }
    Ok(())
}

fn page(state: &dyn Read, from: ChunkId) -> Result<Vec<Changed>, Error> {
    let rows = state.range(CHUNKS, &row::changed_from(from), Order::Ascending);
    let changed = rows.take(limits::RECLAIM_STEP_CHUNKS).map(|row| {
        let (key, stamp) = row?;
        let id = ChunkId(row::read_number(&key)?);
        Ok(Changed { id, stamp, verdict: judge(state, id)? })
    });
    changed.collect()
}

fn judge(state: &dyn Read, id: ChunkId) -> Result<Verdict, Error> {
    let (location, tally) = (locate(state, id)?, Tally::of(state, CHUNKS, &Row::References(id).key())?);
    if location.is_some() && count_in(&tally) > 0 {
        return Ok(Verdict::Keep);
    }
    Ok(Verdict::Remove { location, tally })
}

fn commit<C: Commits>(commits: &C, page: &[Changed]) -> Result<bool, ReclaimError<C::Error>> {
    let body = |txn: &mut Txn<'_>| {
        page.iter().for_each(|changed| changed.settle(txn));
        txn.frees();
    };
    commits.commit(&body).map_err(ReclaimError::Commit)
}

impl Changed {
    fn is_removal(&self) -> bool {
        matches!(self.verdict, Verdict::Remove { location: Some(_), .. })
    }

    fn settle(&self, txn: &mut Txn<'_>) {
        let key = Row::Changed(self.id).key();
        txn.require(CHUNKS, key.clone(), Expect::Is(self.stamp.clone()));
        txn.delete(CHUNKS, key);
        let Verdict::Remove { location, tally } = &self.verdict else { return };
        for field in [RETAINED, RELEASED] {
            let count = tally.get(field) as i64;
            if count > 0 {
                txn.tally(CHUNKS, Row::References(self.id).key(), field, -count);
            }
        }
        if let Some(location) = location {
            remove_location(txn, location);
        }
    }
}

fn remove_location(txn: &mut Txn<'_>, location: &Location) {
    let key = Row::Location(location.chunk).key();
    txn.require(CHUNKS, key.clone(), Expect::Is(write_location(location)));
    txn.delete(CHUNKS, key);
    if !location.is_first() {
        txn.delete(CHUNKS, Row::Moved(location.file, location.chunk).key());
    }
    tally_live(txn, location, -1);
}
