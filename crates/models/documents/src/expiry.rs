//! Time to live: when an item expires, and the reaper.
//!
//! Whether an item has expired is decided from its own row and the container's policy on every read, so it
//! is gone at its second. Expiry rows only tell the reaper where to look: one that is stale (the policy
//! changed, the item was written again) is dropped when it comes up.

use crate::item::{self, ItemHead, Ttl};
use crate::limits;
use crate::row::{self, Row};
use crate::spaces::{DOCUMENTS, INDEX};
use bytes::Bytes;
use orrery_catalog::Container;
use orrery_catalog::definition::DefaultTtl;
pub use orrery_catalog::jobs::Step;
use orrery_catalog::jobs::{self, ExpiryJob, JobKind};
use orrery_catalog::limits::SWEEP_ROWS_MAX;
use orrery_core::Timestamp;
use orrery_core::limits::REQUEST_SECONDS_MAX;
use orrery_kv::{Error, KeyRange, META, Order, Read, Txn};

/// The second from which on the item is gone; `None` if it stays.
pub fn expires_at(container: &Container, item: &ItemHead) -> Option<u64> {
    let default = container.definition().default_ttl()?;
    let seconds = match (item.ttl(), default) {
        (Ttl::Seconds(seconds), _) | (Ttl::Default, DefaultTtl::Seconds(seconds)) => seconds,
        (Ttl::Never, _) | (Ttl::Default, DefaultTtl::Never) => return None,
    };
    Some(item.written().seconds() + u64::from(seconds))
}

pub fn is_expired(container: &Container, item: &ItemHead, now: Timestamp) -> bool {
    expires_at(container, item).is_some_and(|at| at <= now.seconds())
}

/// An expiry row that has come up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    at: u64,
    pub epk: Vec<u8>,
    id: String,
}

/// The next due expiry rows, oldest first; rows of one partition and second are adjacent.
pub fn due(state: &dyn Read, container: &Container, now: Timestamp) -> Result<Vec<Due>, Error> {
    if container.definition().default_ttl().is_none() {
        return Ok(Vec::new());
    }
    let range = row::expiring(container.number(), now.seconds());
    let rows = state.range(INDEX, &range, Order::Ascending).take(limits::REAP_ITEMS_MAX);
    rows.map(|row| {
        let (key, _) = row?;
        let (at, epk, id) =
            row::read_expiry(&key).ok_or_else(|| Error::Corrupt("an expiry row's key".into()))?;
        Ok(Due { at, epk, id })
    })
    .collect()
}

/// Removes the items of one partition that are due and have really expired. Returns their number.
pub fn reap(txn: &mut Txn<'_>, container: &Container, due: &[Due], now: Timestamp) -> Result<usize, Error> {
    let (mut removed, mut bytes) = (0, 0);
    for Due { at, epk, id } in due {
        // The log gets every image; what is left over comes up again in the next round.
        if bytes > limits::REAP_BYTES_MAX {
            break;
        }
        txn.delete(INDEX, Row::Expiry { container: container.number(), at: *at, epk, id }.key());
        let Some(found) = item::stored(txn, container, epk, id)? else { continue };
        if is_expired(container, &found, now) {
            item::remove(txn, container, epk, id, &found, now, item::Removal::Expired)?;
            bytes += found.text_length();
            removed += 1;
        }
    }
    Ok(removed)
}

/// One step of entering items anew: some items after the job's cursor.
///
/// The items are read without their locks. One that changes meanwhile leaves a stale row behind, which `reap`
/// drops. One that is written by a request which still knows the old policy would be left without a row: so there
/// is a second pass, when every such request has ended.
pub fn rebuild_step(txn: &mut Txn<'_>, container: &Container, now: Timestamp) -> Result<Step, Error> {
    let key = jobs::key(JobKind::Expiry, container.number());
    let Some(stored) = txn.get(META, &key)? else { return Ok(Step::Done) };
    let mut job = ExpiryJob::read(&stored).ok_or_else(|| Error::Corrupt("an expiry job's row".into()))?;
    if now.seconds() < job.not_before {
        return Ok(Step::Waits);
    }
    let mut range = row::of_container(container.number());
    if !job.cursor.is_empty() {
        range = KeyRange { start: [&job.cursor[..], &[0]].concat(), end: range.end };
    }
    let rows = txn.range(DOCUMENTS, &range, Order::Ascending).take(SWEEP_ROWS_MAX);
    let rows = rows.map(|row| expiry_row(container, row?)).collect::<Result<Vec<_>, Error>>()?;
    let Some((last, _)) = rows.last().cloned() else { return Ok(pass_done(txn, key, &job, now)) };
    for row in rows.into_iter().filter_map(|(_, row)| row) {
        txn.put(INDEX, row, Bytes::new());
    }
    job.cursor = last.to_vec();
    txn.put(META, key, job.write());
    Ok(Step::More)
}

/// The key of an item, and of its expiry row if it expires.
fn expiry_row(container: &Container, (key, value): (Bytes, Bytes)) -> Result<(Bytes, Option<Bytes>), Error> {
    let item = ItemHead::read(value)?;
    let (epk, id) = row::read_item(&key).ok_or_else(|| Error::Corrupt("an item's key".into()))?;
    let row = |at| Row::Expiry { container: container.number(), at, epk: &epk, id: &id }.key();
    let row = expires_at(container, &item).map(row);
    Ok((key, row))
}

fn pass_done(txn: &mut Txn<'_>, key: Bytes, job: &ExpiryJob, now: Timestamp) -> Step {
    if job.pass > 1 {
        txn.delete(META, key);
        return Step::Done;
    }
    let not_before = now.seconds() + REQUEST_SECONDS_MAX;
    txn.put(META, key, ExpiryJob { pass: 2, not_before, cursor: Vec::new() }.write());
    Step::Waits
}
