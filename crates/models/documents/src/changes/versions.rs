//! The all-versions feed: every change, with the item as it was after it and before it.
//!
//! What an item was before a change is in the change's entry. What it was after is in the entry of its next change, to
//! which a row of successors leads; or in the item's row, if it was not changed since:
//!
//! ```text
//! log        12 create a      20 replace a [row of 12]      31 delete a [row of 20]
//! successors 12 a -> 20       20 a -> 31
//! ```
//!
//! So a page costs a few lookups an entry, however long ago the next change was or is.

use super::latest::{CommitReader, read_log};
use super::log::{self, Commit};
use super::log::{Change, Entry};
use super::{Changes, NotRetained, Start, Work, check_retained};
use crate::item::{FeedScope, ItemHead, ItemRow};
use crate::row::{self, Row};
use crate::spaces::INDEX;
use orrery_catalog::Container;
use orrery_core::{Lsn, Timestamp};
use orrery_kv::{Error, KeyRange, Read, Snapshot};
use orrery_query::execute::Limits;

/// One change.
#[derive(Clone, Debug)]
pub struct Version {
    pub change: Change,
    pub lsn: Lsn,
    pub at: Timestamp,
    pub id: String,
    /// The item after the change; none after a delete.
    pub current: Option<ItemRow>,
    /// The item before it; none before a create.
    pub previous: Option<ItemRow>,
}

impl Version {
    fn bytes(&self) -> usize {
        self.current.iter().chain(&self.previous).map(|item| item.text_length()).sum()
    }
}

/// The next page; it ends as one of [`latest`](super::latest()) does.
pub fn versions(
    state: &Snapshot,
    container: &Container,
    scope: &FeedScope,
    after: Lsn,
    page: Limits,
    now: Timestamp,
) -> Result<Changes<Version>, NotRetained> {
    check_retained(state, container, after, now)?;
    let reader = Reader { state, container: container.number(), keys: scope.range(container) };
    let from = Start { after, since: None };
    Ok(read_log(state, container, from, page, reader, Version::bytes)?)
}

struct Reader<'a> {
    state: &'a Snapshot,
    container: u32,
    keys: KeyRange,
}

impl CommitReader<Version> for Reader<'_> {
    fn show(&mut self, commit: &Commit, work: &mut Work) -> Result<Vec<Version>, Error> {
        let mut shown = Vec::new();
        for (index, entry) in commit.entries.iter().enumerate() {
            if !self.keys.contains(entry.key()) {
                continue;
            }
            let current = match entry.change() {
                Change::Create | Change::Replace => Some(self.written_by(commit, index)?),
                Change::Delete | Change::Expire => None,
            };
            work.items += 1;
            work.item_bytes += current.as_ref().map_or(0, |item| item.text_length());
            shown.push(self.version(entry, current)?);
        }
        Ok(shown)
    }
}

impl Reader<'_> {
    fn version(&self, entry: &Entry, current: Option<ItemRow>) -> Result<Version, Error> {
        let (_, id) = row::read_item(entry.key()).ok_or_else(|| Error::Corrupt("an item's key".into()))?;
        let previous = self.image(entry)?;
        Ok(Version { change: entry.change(), lsn: entry.lsn(), at: entry.at(), id, current, previous })
    }

    /// The row that the entry's change replaced, with its text.
    fn image(&self, entry: &Entry) -> Result<Option<ItemRow>, Error> {
        super::log::replaced(entry)?.map(|item| item.whole(self.state)).transpose()
    }

    /// The row that an entry's change wrote.
    fn written_by(&self, commit: &Commit, index: usize) -> Result<ItemRow, Error> {
        let lost = || {
            let message = format!("the log lost what commit {} wrote to an item", commit.lsn);
            Error::Corrupt(message)
        };
        if let Some(next) = commit.next_of(index) {
            return self.image(next)?.ok_or_else(lost);
        }
        let key = commit.entries[index].key();
        match self.successor(commit.lsn, key)? {
            Some(next) => {
                let entries = log::one(self.state, self.container, next)?;
                let next = entries.iter().find(|entry| entry.key() == key).ok_or_else(lost)?;
                self.image(next)?.ok_or_else(lost)
            }
            None => {
                let item = ItemHead::at(self.state, key)?;
                let item = item.filter(|item| item.lsn() == commit.lsn).ok_or_else(lost)?;
                item.whole(self.state)
            }
        }
    }

    /// The commit that ended what `lsn` wrote.
    fn successor(&self, lsn: Lsn, key: &[u8]) -> Result<Option<Lsn>, Error> {
        let item = row::without_container(key);
        let found = self.state.get(INDEX, &Row::Successor { container: self.container, lsn, item }.key())?;
        let damaged = || Error::Corrupt("a row of successors".into());
        let read = |bytes: bytes::Bytes| bytes.first_chunk().map(|lsn| Lsn(u64::from_be_bytes(*lsn)));
        found.map(|bytes| read(bytes).ok_or_else(damaged)).transpose()
    }
}
