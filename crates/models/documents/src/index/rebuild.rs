//! Re-indexing every item after a change of the indexing policy, in the background.
//!
//! Items are taken in key order, some at a time; each partition's are entered in a transaction of that partition,
//! as any write of theirs. A job's row tells how far it has come, so a restart goes on from there. An item that was
//! written since the change is entered already; its locator row says so.

use super::entry_writer::EntryWriter;
use super::locator::Locator;
use crate::item::{self, ItemHead, ItemRow};
use crate::limits;
use crate::row;
use crate::spaces::{DOCUMENTS, INDEX};
use crate::{index, partition};
use orrery_catalog::Container;
use orrery_catalog::jobs::IndexJob;
use orrery_kv::{Error, KeyRange, Order, Read, Tally, Txn};

/// How much of the container's index is as its policy asks, in percent.
pub fn progress(state: &dyn Read, container: &Container) -> Result<u64, Error> {
    if container.generations().is_settled() {
        return Ok(100);
    }
    // Not quite done until the container says so.
    Ok(IndexJob::of(state, container.number())?.map_or(0, |job| (job.done * 100 / job.total.max(1)).min(99)))
}

/// Items of one partition that are to be entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    pub epk: Vec<u8>,
    ids: Vec<String>,
}

/// What a step enters, and how far that brings the job.
#[derive(Debug)]
pub struct Progress {
    pub chunks: Vec<Chunk>,
    job: IndexJob,
}

/// The next items; `None` when there is no such job, no chunks when it is done.
pub fn next_chunks(state: &dyn Read, container: &Container) -> Result<Option<Progress>, Error> {
    let Some(mut job) = IndexJob::of(state, container.number())? else { return Ok(None) };
    if job.generation != container.generations().number() {
        return Ok(None);
    }
    let mut range = row::of_container(container.number());
    if job.cursor.is_empty() {
        job.total = Tally::of(state, INDEX, &row::tally_key(container.number()))?.get(index::DOCUMENTS);
    } else {
        range = KeyRange { start: [&job.cursor[..], &[0]].concat(), end: range.end };
    }
    let (mut chunks, mut bytes): (Vec<Chunk>, usize) = (Vec::new(), 0);
    for row in state.range(DOCUMENTS, &range, Order::Ascending).take(limits::REINDEX_ITEMS_MAX) {
        let (key, value) = row?;
        let (epk, id) = row::read_item(&key).ok_or_else(|| Error::Corrupt("an item's key".into()))?;
        job.cursor = key.to_vec();
        job.done += 1;
        match chunks.last_mut() {
            Some(last) if last.epk == epk && last.ids.len() < limits::REINDEX_CHUNK_ITEMS_MAX => {
                last.ids.push(id)
            }
            _ => chunks.push(Chunk { epk, ids: vec![id] }),
        }
        bytes += ItemHead::read(value)?.text_length();
        if bytes > limits::REINDEX_BYTES_MAX {
            break;
        }
    }
    Ok(Some(Progress { chunks, job }))
}

/// Enters the items of a chunk, in a transaction of their partition.
pub fn reindex(txn: &mut Txn<'_>, container: &Container, chunk: &Chunk) -> Result<(), Error> {
    let is_large = partition::size(txn, container.number(), &chunk.epk)?.is_large;
    for id in &chunk.ids {
        let Some(found) = item::stored(txn, container, &chunk.epk, id)? else { continue };
        reindex_item(txn, container, &chunk.epk, id, &found, is_large)?;
    }
    item::require_container(txn, container);
    Ok(())
}

fn reindex_item(
    txn: &mut Txn<'_>,
    container: &Container,
    epk: &[u8],
    id: &str,
    found: &ItemRow,
    is_large: bool,
) -> Result<(), Error> {
    let generations = container.generations();
    let place = Locator::of(txn, container.number(), found.ordinal())?;
    if place.as_ref().is_some_and(|place| place.generation == generations.number()) {
        return Ok(());
    }
    let is_indexed = !generations.rules().is_none() && (place.is_some() || generations.is_automatic());
    let writer = EntryWriter { container, epk, id, ordinal: found.ordinal(), is_large };
    writer.replace(txn, Some(found), is_indexed.then_some(found)).map(drop)
}

/// Notes how far the job has come, unless another one has taken its place.
pub fn save_progress(txn: &mut Txn<'_>, container: &Container, progress: &Progress) -> Result<(), Error> {
    let stored = IndexJob::of(txn, container.number())?;
    if stored.is_some_and(|stored| stored.generation == progress.job.generation) {
        progress.job.put(txn, container.number());
    }
    Ok(())
}
