//! The latest-version feed: each item once, as it is now, at the place where it was last written.
//!
//! An entry counts if the item's row is still the one that its commit wrote: one lookup tells. Deletes do not show, and
//! neither do items that have expired, whether they are removed yet or not, as for every other reader.

use super::by_items::{self, Wanted};
use super::commits::{self, Commit};
use super::{Changes, Start, Work};
use crate::expiry;
use crate::item::{FeedScope, ItemHead, ItemRow};
use bytes::Bytes;
use orrery_catalog::Container;
use orrery_core::{Lsn, Timestamp, limits};
use orrery_kv::{Error, KeyRange, Snapshot};
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
    let wanted = Wanted { container, scope, from, page, now };
    if let Some(found) = by_items::latest(state, wanted)? {
        return Ok(found);
    }
    let found = by_log(state, wanted)?;
    if found.has_more && found.changes.is_empty() {
        let instead = by_items::instead(state, wanted, found.work)?;
        return Ok(instead.unwrap_or(found));
    }
    Ok(found)
}

fn by_log(state: &Snapshot, wanted: Wanted<'_>) -> Result<Changes<ItemRow>, Error> {
    let Wanted { container, scope, from, page, now } = wanted;
    let keys = scope.range(container);
    let reader = Reader { state, container, keys, from, now, stale: HashMap::default() };
    gather(state, container, from, page, reader, |item| item.text_length())
}

/// Makes of a commit what a feed shows of it.
pub(super) trait Show<T> {
    fn show(&mut self, commit: &Commit, work: &mut Work) -> Result<Vec<T>, Error>;
}

/// Goes along the log until a page is full.
pub(super) fn gather<T>(
    state: &Snapshot,
    container: &Container,
    from: Start,
    page: Limits,
    mut reader: impl Show<T>,
    bytes_of: impl Fn(&T) -> usize,
) -> Result<Changes<T>, Error> {
    let mut found = Changes { changes: Vec::new(), after: from.after, has_more: true, work: Work::default() };
    let mut bytes = 0;
    for commit in commits::after(state, container.number(), from.after) {
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

impl Show<ItemRow> for Reader<'_> {
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
