//! Time to live: when an item is gone, and the removal of what is.
//!
//! Whether an item has expired is decided from its own row and the container's policy on every read, so it
//! is gone at its second. Expiry rows only tell the reaper where to look: one that is stale (the policy
//! changed, the item was written again) is dropped when it comes up.

use crate::catalog::Container;
use crate::definition::DefaultTtl;
use crate::item::{self, ItemRow, Ttl};
use crate::row::{self, JobKind, Row};
use bytes::Bytes;
use orrery_core::{Timestamp, limits};
use orrery_kv::{Error, KeyRange, Order, Read, Space, Txn};

/// The second from which on the item is gone; `None` if it stays.
pub fn expires_at(container: &Container, item: &ItemRow) -> Option<u64> {
    let default = container.definition().default_ttl()?;
    let seconds = match (item.ttl(), default) {
        (Ttl::Seconds(seconds), _) | (Ttl::Default, DefaultTtl::Seconds(seconds)) => seconds,
        (Ttl::Never, _) | (Ttl::Default, DefaultTtl::Never) => return None,
    };
    Some(item.written().seconds() + u64::from(seconds))
}

pub fn is_expired(container: &Container, item: &ItemRow, now: Timestamp) -> bool {
    expires_at(container, item).is_some_and(|at| at <= now.seconds())
}

/// An expiry row that has come up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    at: u64,
    pub epk: Vec<u8>,
    id: String,
}

/// The next expiry rows that have come up, oldest first; rows of one partition stand together per second.
pub fn due(state: &dyn Read, container: &Container, now: Timestamp) -> Result<Vec<Due>, Error> {
    if container.definition().default_ttl().is_none() {
        return Ok(Vec::new());
    }
    let range = row::expiring(container.number(), now.seconds());
    let rows = state.range(Space::Index, &range, Order::Ascending).take(limits::REAP_ITEMS_MAX);
    rows.map(|row| {
        let (key, _) = row?;
        let (at, epk, id) = row::read_expiry(&key).ok_or_else(|| Error::Corrupt("an expiry row's key".into()))?;
        Ok(Due { at, epk, id })
    })
    .collect()
}

/// Removes the items of one partition that are due and have really expired. Says how many.
pub fn reap(txn: &mut Txn<'_>, container: &Container, due: &[Due], now: Timestamp) -> Result<usize, Error> {
    let mut removed = 0;
    for Due { at, epk, id } in due {
        txn.delete(Space::Index, Row::Expiry { container: container.number(), at: *at, epk, id }.key());
        let Some(found) = item::stored(txn, container, epk, id)? else { continue };
        if is_expired(container, &found, now) {
            item::remove(txn, container, epk, id, &found, now, item::Removal::Expired);
            removed += 1;
        }
    }
    Ok(removed)
}

/// Notes that every item of the container must be entered anew, because its policy changed.
pub fn schedule_rebuild(txn: &mut Txn<'_>, container: u32) {
    txn.put(Space::Meta, Row::Job { kind: JobKind::Expiry, container }.key(), Bytes::new());
}

/// One step of entering items anew: some items after the job's cursor. True when the job is done.
///
/// The items are read without their locks. One that changes meanwhile leaves a stale row behind, which `reap` drops.
pub fn rebuild_step(txn: &mut Txn<'_>, container: &Container) -> Result<bool, Error> {
    let job = Row::Job { kind: JobKind::Expiry, container: container.number() }.key();
    let Some(cursor) = txn.get(Space::Meta, &job)? else { return Ok(true) };
    let mut range = row::of_container(container.number());
    if !cursor.is_empty() {
        range = KeyRange { start: [&cursor[..], &[0]].concat(), end: range.end };
    }
    let rows = txn.range(Space::Documents, &range, Order::Ascending).take(limits::SWEEP_ROWS_MAX);
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    let Some((last, _)) = rows.last().cloned() else {
        txn.delete(Space::Meta, job);
        return Ok(true);
    };
    for (key, value) in rows {
        let item = ItemRow::read(value)?;
        let (epk, id) = row::read_item(&key).ok_or_else(|| Error::Corrupt("an item's key".into()))?;
        if let Some(at) = expires_at(container, &item) {
            txn.put(Space::Index, Row::Expiry { container: container.number(), at, epk: &epk, id: &id }.key(), Bytes::new());
        }
    }
    txn.put(Space::Meta, job, last);
    Ok(false)
}

/// The job of a container that is gone.
pub fn forget_rebuild(txn: &mut Txn<'_>, container: u32) {
    txn.delete(Space::Meta, Row::Job { kind: JobKind::Expiry, container }.key());
}
