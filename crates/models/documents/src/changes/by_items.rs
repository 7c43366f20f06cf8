//! The latest-version feed of few items with a long log: the items are read instead, and put in order.
//!
//! One item that was written a million times, or one small partition of a busy container, would otherwise cost pages that
//! look at everything and show nothing. The answer is the same: an item's row has the LSN of its last change.

use super::commits;
use super::{Changes, Start, Work};
use crate::item::{FeedScope, ItemHead, ItemRow};
use crate::spaces::{DOCUMENTS, INDEX};
use crate::{expiry, index, partition};
use bytes::Bytes;
use orrery_catalog::Container;
use orrery_core::{Lsn, Timestamp, limits};
use orrery_kv::{Error, Order, Read, Snapshot, Tally};
use orrery_query::execute::Limits;

/// How many log entries are passed over in the time that reading one item takes.
const ENTRIES_PER_ITEM: u64 = 4;

/// What a feed is asked for.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub container: &'a Container,
    pub scope: &'a FeedScope,
    pub from: Start,
    pub page: Limits,
    pub now: Timestamp,
}

/// The page, unless going along the log is the better way.
pub(super) fn latest(state: &Snapshot, wanted: Wanted<'_>) -> Result<Option<Changes<ItemRow>>, Error> {
    let commits_behind = state.lsn().0.saturating_sub(wanted.from.after.0);
    let items = items_in(state, wanted.container, wanted.scope)?;
    if items > limits::CHANGE_FEED_ITEMS_READ_MAX || items.saturating_mul(ENTRIES_PER_ITEM) >= commits_behind
    {
        return Ok(None);
    }
    read(state, wanted, limits::CHANGE_FEED_ITEMS_BYTES_MAX)
}

/// The page after so much work along the log that found nothing. More items are worth it then, because two SDKs take an
/// empty page for the end.
pub(super) fn instead(
    state: &Snapshot,
    wanted: Wanted<'_>,
    spent: Work,
) -> Result<Option<Changes<ItemRow>>, Error> {
    if items_in(state, wanted.container, wanted.scope)? > limits::CHANGE_FEED_ITEMS_READ_INSTEAD_MAX {
        return Ok(None);
    }
    let found = read(state, wanted, limits::CHANGE_FEED_ITEMS_BYTES_INSTEAD_MAX)?;
    Ok(found.map(|found| Changes { work: found.work.and(spent), ..found }))
}

fn read(state: &Snapshot, wanted: Wanted<'_>, bytes_max: usize) -> Result<Option<Changes<ItemRow>>, Error> {
    let Wanted { container, scope, from, page, now } = wanted;
    let mut work = Work::default();
    let mut found = Vec::new();
    for row in state.range(DOCUMENTS, &scope.range(container), Order::Ascending) {
        let (key, value) = row?;
        let item = ItemHead::read(value)?;
        work.items += 1;
        work.item_bytes += item.text_length();
        if work.item_bytes > bytes_max {
            return Ok(None);
        }
        let is_new = item.lsn() > from.after && !from.is_before(item.written());
        if is_new && !expiry::is_expired(container, &item, now) {
            found.push((key, item));
        }
    }
    in_order(state, container, &mut found)?;
    page_of(state, found, page, state.lsn().max(from.after), work).map(Some)
}

/// How many items the scope has; of a range, those of the whole container.
fn items_in(state: &Snapshot, container: &Container, scope: &FeedScope) -> Result<u64, Error> {
    match scope.partition(container) {
        Some(epk) => Ok(partition::size(state, container.number(), epk.as_bytes())?.items),
        None => {
            Ok(Tally::of(state, INDEX, &crate::row::tally_key(container.number()))?.get(index::DOCUMENTS))
        }
    }
}

/// By commit, and inside a commit as its transaction wrote them.
fn in_order(state: &Snapshot, container: &Container, found: &mut [(Bytes, ItemHead)]) -> Result<(), Error> {
    found.sort_by_key(|(_, item)| item.lsn());
    for group in found.chunk_by_mut(|(_, one), (_, other)| one.lsn() == other.lsn()) {
        if group.len() > 1 {
            let entries = commits::one(state, container.number(), group[0].1.lsn())?;
            group.sort_by_key(|(key, _)| entries.iter().rposition(|entry| entry.key() == &key[..]));
        }
    }
    Ok(())
}

fn page_of(
    state: &Snapshot,
    found: Vec<(Bytes, ItemHead)>,
    page: Limits,
    newest: Lsn,
    work: Work,
) -> Result<Changes<ItemRow>, Error> {
    let mut changes = Changes { changes: Vec::new(), after: newest, has_more: false, work };
    let mut bytes = 0;
    for group in found.chunk_by(|(_, one), (_, other)| one.lsn() == other.lsn()) {
        let more: usize = group.iter().map(|(_, item)| item.text_length()).sum();
        let overflows = !changes.changes.is_empty() && bytes + more > page.bytes;
        if changes.changes.len() >= page.items || overflows {
            let last = changes.changes.last().map_or(Lsn(0), |item: &ItemRow| item.lsn());
            return Ok(Changes { after: last, has_more: true, ..changes });
        }
        bytes += more;
        for (_, item) in group {
            changes.changes.push(item.clone().whole(state)?);
        }
    }
    Ok(changes)
}
