//! The latest-version feed: each item once, in its current version, at the position of its last
//! write.
//!
//! An entry counts if the item's row is still the one that its commit wrote: one lookup tells. Deletes do not show, and
//! neither do items that have expired, whether they are removed yet or not, as for every other reader.

use super::log::{self, Commit};
use super::{Changes, Start, Work};
use crate::item::{FeedScope, ItemHead, ItemRow};
use crate::limits;
use crate::spaces::{DOCUMENTS, INDEX};
use crate::{expiry, index, partition};
use bytes::Bytes;
use orrery_catalog::Container;
use orrery_core::{Lsn, Timestamp};
use orrery_kv::{Error, KeyRange, Order, Read, Snapshot, Tally};
use orrery_query::execute::Limits;
use std::collections::HashMap;

/// The next page. It ends with a whole commit: at the wanted number of items or beyond it, before the wanted number of
/// bytes unless the first commit has more, or where it has looked at enough.
pub fn latest(
    state: &Snapshot,
    container: &Container,
    scope: &FeedScope,
    from: Start,
    page: Limits,
    now: Timestamp,
) -> Result<Changes<ItemRow>, Error> {
    let request = FeedRequest { container, scope, from, page, now };
    if let Some(found) = from_items(state, request)? {
        return Ok(found);
    }
    let found = by_log(state, request)?;
    if found.has_more && found.changes.is_empty() {
        let fallback = fallback(state, request, found.work)?;
        return Ok(fallback.unwrap_or(found));
    }
    Ok(found)
}

fn by_log(state: &Snapshot, request: FeedRequest<'_>) -> Result<Changes<ItemRow>, Error> {
    let FeedRequest { container, scope, from, page, now } = request;
    let keys = scope.range(container);
    let reader = Reader { state, container, keys, from, now, stale: HashMap::default() };
    read_log(state, container, from, page, reader, |item| item.text_length())
}

/// Makes of a commit what a feed shows of it.
pub(super) trait CommitReader<T> {
    fn show(&mut self, commit: &Commit, work: &mut Work) -> Result<Vec<T>, Error>;
}

/// Goes along the log until a page is full.
pub(super) fn read_log<T>(
    state: &Snapshot,
    container: &Container,
    from: Start,
    page: Limits,
    mut reader: impl CommitReader<T>,
    bytes_of: impl Fn(&T) -> usize,
) -> Result<Changes<T>, Error> {
    let mut found = Changes { changes: Vec::new(), after: from.after, has_more: true, work: Work::default() };
    let mut bytes = 0;
    for commit in log::after(state, container.number(), from.after) {
        let commit = commit?;
        let is_tired = found.work.entries >= limits::CHANGE_FEED_ENTRIES_SCANNED_MAX
            || found.work.entry_bytes >= limits::CHANGE_FEED_BYTES_SCANNED_MAX;
        if found.changes.len() >= page.items || is_tired {
            return Ok(found);
        }
        found.work.entries += commit.entries.len();
        found.work.entry_bytes += commit.bytes();
        let shown = reader.show(&commit, &mut found.work)?;
        let more_bytes: usize = shown.iter().map(&bytes_of).sum();
        if !found.changes.is_empty() && !shown.is_empty() && bytes + more_bytes > page.bytes {
            return Ok(found);
        }
        bytes += more_bytes;
        found.changes.extend(shown);
        found.after = commit.lsn;
    }
    // Every commit up to that of the snapshot has been seen.
    Ok(Changes { after: state.lsn().max(from.after), has_more: false, ..found })
}

struct Reader<'a> {
    state: &'a Snapshot,
    container: &'a Container,
    keys: KeyRange,
    from: Start,
    now: Timestamp,
    /// Where items were last written that this page has met earlier changes of; 0 for those that are gone.
    stale: HashMap<Bytes, Lsn>,
}

impl CommitReader<ItemRow> for Reader<'_> {
    fn show(&mut self, commit: &Commit, work: &mut Work) -> Result<Vec<ItemRow>, Error> {
        let mut shown = Vec::new();
        for (index, entry) in commit.entries.iter().enumerate() {
            let key = entry.key();
            let is_known_stale = self.stale.get(key).is_some_and(|last| *last != commit.lsn);
            let is_outside = !self.keys.contains(key) || self.from.is_before(entry.at());
            if is_outside || is_known_stale || commit.is_changed_again(index) {
                continue;
            }
            let item = ItemHead::at(self.state, key)?;
            work.items += 1;
            work.item_bytes += item.as_ref().map_or(0, ItemHead::text_length);
            let last = item.as_ref().map_or(Lsn(0), ItemHead::lsn);
            if last != commit.lsn {
                self.stale.insert(Bytes::copy_from_slice(key), last);
            }
            let is_live = |item: &ItemHead| !expiry::is_expired(self.container, item, self.now);
            let item = item.filter(|item| last == commit.lsn && is_live(item));
            shown.extend(item.map(|item| item.whole(self.state)).transpose()?);
        }
        Ok(shown)
    }
}

// The latest-version feed of few items with a long log: the items are read instead, and put in order.
//
// One item that was written a million times, or one small partition of a busy container, would otherwise cost pages that
// look at everything and show nothing. The answer is the same: an item's row has the LSN of its last change.

/// How many log entries are passed over in the time that reading one item takes.
const ENTRIES_PER_ITEM: u64 = 4;

/// The request of a feed page.
#[derive(Clone, Copy)]
pub(super) struct FeedRequest<'a> {
    pub container: &'a Container,
    pub scope: &'a FeedScope,
    pub from: Start,
    pub page: Limits,
    pub now: Timestamp,
}

/// The page, unless going along the log is the better way.
fn from_items(state: &Snapshot, request: FeedRequest<'_>) -> Result<Option<Changes<ItemRow>>, Error> {
    let commits_behind = state.lsn().0.saturating_sub(request.from.after.0);
    let items = items_in(state, request.container, request.scope)?;
    if items > limits::CHANGE_FEED_ITEMS_READ_MAX || items.saturating_mul(ENTRIES_PER_ITEM) >= commits_behind
    {
        return Ok(None);
    }
    read(state, request, limits::CHANGE_FEED_ITEMS_BYTES_MAX)
}

/// The page after so much work along the log that found nothing. More items are worth it then, because two SDKs take an
/// empty page for the end.
pub(super) fn fallback(
    state: &Snapshot,
    request: FeedRequest<'_>,
    spent: Work,
) -> Result<Option<Changes<ItemRow>>, Error> {
    if items_in(state, request.container, request.scope)? > limits::CHANGE_FEED_ITEMS_READ_INSTEAD_MAX {
        return Ok(None);
    }
    let found = read(state, request, limits::CHANGE_FEED_ITEMS_BYTES_INSTEAD_MAX)?;
    Ok(found.map(|found| Changes { work: found.work.and(spent), ..found }))
}

fn read(
    state: &Snapshot,
    request: FeedRequest<'_>,
    bytes_max: usize,
) -> Result<Option<Changes<ItemRow>>, Error> {
    let FeedRequest { container, scope, from, page, now } = request;
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
            let entries = log::one(state, container.number(), group[0].1.lsn())?;
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
