//! Operations on definitions of queues. All of them run in the catalog's scope, so each sees the last.

use crate::error::QueueError;
use crate::leftovers::{self, Leftover};
use crate::record;
use crate::row::{self, Row};
use crate::{Metadata, Queue, QueueId};
use bytes::Bytes;
use orrery_catalog::storage::{SignedIdentifiers, next_resource_number};
use orrery_kv::{Error, META, Order, Read, Txn};

/// A queue that was asked for: it was there before with the same metadata, or it is new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Created {
    New(Queue),
    Existing(Queue),
}

pub fn load(state: &dyn Read, id: &QueueId) -> Result<Option<Queue>, Error> {
    let key = definition_key(id);
    let stored = state.get(META, &key)?;
    stored.map(|value| record::read_queue(&(key, value))).transpose()
}

/// All queues of all accounts.
pub fn load_all(state: &dyn Read) -> Result<Vec<Queue>, Error> {
    let rows = state.range(META, &row::queues(), Order::Ascending);
    rows.map(|row| record::read_queue(&row?)).collect()
}

pub fn create(txn: &mut Txn<'_>, id: &QueueId, metadata: &Metadata) -> Result<Created, QueueError> {
    match load(txn, id)? {
        Some(existing) if existing.metadata == *metadata => return Ok(Created::Existing(existing)),
        Some(_) => return Err(QueueError::AlreadyExists),
        None => {}
    }
    let number = next_resource_number(txn)?;
    let policies = SignedIdentifiers::default();
    let queue = Queue { id: id.clone(), number, metadata: metadata.clone(), policies };
    save(txn, &queue);
    let alive = Row::Alive { queue: number };
    txn.put(alive.space(), alive.key(), Bytes::new());
    Ok(Created::New(queue))
}

/// Removes the queue at once, and leaves its messages to the background.
pub fn delete(txn: &mut Txn<'_>, id: &QueueId) -> Result<Queue, QueueError> {
    let queue = existing(txn, id)?;
    txn.delete(META, definition_key(id));
    txn.delete(META, Row::Alive { queue: queue.number }.key());
    leftovers::schedule(txn, Leftover::queue(queue.number));
    txn.frees();
    Ok(queue)
}

/// Replaces all metadata.
pub fn set_metadata(txn: &mut Txn<'_>, id: &QueueId, metadata: &Metadata) -> Result<(), QueueError> {
    let queue = Queue { metadata: metadata.clone(), ..existing(txn, id)? };
    save(txn, &queue);
    Ok(())
}

/// Replaces all stored access policies.
pub fn set_policies(txn: &mut Txn<'_>, id: &QueueId, policies: &SignedIdentifiers) -> Result<(), QueueError> {
    let queue = Queue { policies: policies.clone(), ..existing(txn, id)? };
    save(txn, &queue);
    Ok(())
}

fn existing(state: &dyn Read, id: &QueueId) -> Result<Queue, QueueError> {
    load(state, id)?.ok_or(QueueError::NotFound)
}

fn save(txn: &mut Txn<'_>, queue: &Queue) {
    txn.put(META, definition_key(&queue.id), record::write_queue(queue));
}

fn definition_key(id: &QueueId) -> Bytes {
    Row::Queue { account: &id.account, name: &id.name }.key()
}
