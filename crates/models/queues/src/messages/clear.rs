//! Clear: all messages are gone at once. Their rows are of a generation that is past, and are left to the background.

use super::current;
use crate::leftovers::{self, Leftover};
use crate::record;
use crate::row::Row;
use orrery_kv::{Error, META, Txn};

pub fn clear(txn: &mut Txn<'_>, queue: u32) -> Result<(), Error> {
    let messages = current(txn, queue)?;
    let next = messages.generation.wrapping_add(1);
    txn.put(META, Row::Generation { queue }.key(), record::write_generation(next));
    leftovers::schedule(txn, Leftover::generation(messages));
    txn.frees();
    Ok(())
}
