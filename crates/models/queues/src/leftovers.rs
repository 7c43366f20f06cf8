//! Rows of dropped and cleared queues. Nobody finds them any more; the background removes them, some at a time.

use crate::limits;
use crate::record;
use crate::row::{self, Messages, Row};
use crate::spaces::MESSAGES;
use bytes::Bytes;
use orrery_catalog::jobs::Step;
use orrery_kv::{Error, KeyRange, META, Order, Read, Txn};

/// What is to be removed: the messages of one generation of a queue, or all that a dropped queue left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leftover {
    queue: u32,
    generation: Option<u32>,
}

impl Leftover {
    pub(crate) fn queue(queue: u32) -> Self {
        Self { queue, generation: None }
    }

    pub(crate) fn generation(Messages { queue, generation }: Messages) -> Self {
        Self { queue, generation: Some(generation) }
    }

    /// The number of the queue, in whose scope [`remove_leftover`] runs.
    pub fn queue_number(self) -> u32 {
        self.queue
    }

    fn key(self) -> Bytes {
        Row::Leftover { queue: self.queue, generation: self.generation }.key()
    }

    fn rows(self) -> KeyRange {
        match self.generation {
            None => row::of_queue(self.queue),
            Some(generation) => Messages { queue: self.queue, generation }.all(),
        }
    }
}

pub(crate) fn schedule(txn: &mut Txn<'_>, leftover: Leftover) {
    txn.put(META, leftover.key(), Bytes::new());
}

/// The generation of a queue's messages; clearing the queue raises it.
pub(crate) fn current_generation(state: &dyn Read, queue: u32) -> Result<Messages, Error> {
    let stored = state.get(META, &Row::Generation { queue }.key())?;
    let generation = stored.map_or(Ok(0), |bytes| record::read_generation(&bytes))?;
    Ok(Messages { queue, generation })
}

/// Everything that is to be removed.
pub fn leftovers(state: &dyn Read) -> Result<Vec<Leftover>, Error> {
    let rows = state.range(META, &row::leftovers(), Order::Ascending);
    let read = |key: &[u8]| row::read_leftover(key);
    rows.map(|row| read(&row?.0).map(|(queue, generation)| Leftover { queue, generation })).collect()
}

/// Removes some rows; done when none is left. The value of the job's row is the last key that was removed, because a
/// walk from the beginning would go through all that was removed before.
pub fn remove_leftover(txn: &mut Txn<'_>, leftover: Leftover) -> Result<Step, Error> {
    txn.frees();
    let job = leftover.key();
    let Some(reached) = txn.get(META, &job)? else { return Ok(Step::Done) };
    let mut range = leftover.rows();
    if !reached.is_empty() {
        range.start = reached.to_vec();
    }
    let keys = next_keys(txn, &range)?;
    if let Some(last) = keys.last() {
        txn.put(META, job, last.clone());
        keys.into_iter().for_each(|key| txn.delete(MESSAGES, key));
        return Ok(Step::More);
    }
    txn.delete(META, job);
    if leftover.generation.is_none() {
        txn.delete(META, Row::Generation { queue: leftover.queue }.key());
    }
    Ok(Step::Done)
}

fn next_keys(state: &dyn Read, range: &KeyRange) -> Result<Vec<Bytes>, Error> {
    let (mut keys, mut bytes) = (Vec::new(), 0);
    for row in state.range(MESSAGES, range, Order::Ascending).take(limits::LEFTOVER_ROWS_MAX) {
        let (key, value) = row?;
        keys.push(key);
        bytes += value.len();
        if bytes > limits::LEFTOVER_BYTES_MAX {
            break;
        }
    }
    Ok(keys)
}
