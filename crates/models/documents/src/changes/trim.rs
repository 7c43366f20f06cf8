//! Trimming the log: what no feed can show any more is removed, so that a log is bounded by what items there are and by
//! what happened lately.
//!
//! ```text
//!        horizon                               retention         verified      tip
//! ──────────┼─────────────────────────────────────┼─────────────────┼───────────┤
//!  one entry an item,   to be trimmed next,          kept for the       kept for
//!  without an image     commit by commit             all-versions feed  the check at start
//! ```
//!
//! Whoever reads latest versions from the beginning needs the last entry of each item that is there, and no image. An
//! entry that is not its item's last goes when the horizon passes it. One that is the last stays, without its image, until
//! the horizon passes the change that ends it; the image there tells which entry that is. What was decided on a
//! snapshot stays right whatever is written meanwhile: an entry that is no longer the last never becomes it again.
//!
//! Commits that opening verifies are left alone, and so is the newest entry of a stream, which the next one is linked to.

use super::log::Entry;
use super::log::{self, Commit};
use super::retention::{horizon, retention};
use crate::item::{ItemHead, require_container};
use crate::limits;
use crate::row::{self, Row};
use crate::spaces::{INDEX, LOG, OVERFLOW};
use bytes::Bytes;
use orrery_catalog::Container;
use orrery_core::{Lsn, Timestamp};
use orrery_kv::{Error, META, Snapshot, Space, Txn, unverified_before};

/// One step: what to put and to remove, and how far the log is trimmed then.
#[derive(Debug)]
pub struct Trimming {
    puts: Vec<(Space, Bytes, Option<Bytes>)>,
    horizon: Lsn,
}

impl Trimming {
    /// How many rows it removes or shortens.
    pub fn rows(&self) -> usize {
        self.puts.len()
    }
}

/// The next step, if there is anything to look at.
pub fn plan_trimming(
    state: &Snapshot,
    container: &Container,
    now: Timestamp,
) -> Result<Option<Trimming>, Error> {
    let number = container.number();
    let (start, end) = (horizon(state, number)?, unverified_before(state.lsn()));
    let mut step = Trimming { puts: Vec::new(), horizon: start };
    let (mut entries, mut bytes) = (0, 0);
    let mut commits = log::after(state, number, start).peekable();
    while let Some(commit) = commits.next().transpose()? {
        let is_young = commit.entries.iter().any(|entry| entry.at().plus(retention(container)) > now);
        let is_enough = entries >= limits::LOG_TRIM_ENTRIES_MAX || bytes >= limits::LOG_TRIM_BYTES_MAX;
        let is_newest = commits.peek().is_none();
        if commit.lsn >= end || is_newest || is_young || is_enough {
            break;
        }
        entries += commit.entries.len();
        bytes += commit.bytes();
        step.pass(state, number, &commit)?;
    }
    Ok((step.horizon > start).then_some(step))
}

/// Does what was planned, unless the container is gone by then.
pub fn apply_trimming(txn: &mut Txn<'_>, container: &Container, step: &Trimming) {
    txn.frees();
    for (space, key, value) in &step.puts {
        txn.put_blind(*space, key.clone(), value.clone());
    }
    let key = Row::Trimmed { container: container.number() }.key();
    txn.put(META, key, step.horizon.0.to_be_bytes().to_vec());
    require_container(txn, container);
}

impl Trimming {
    fn pass(&mut self, state: &Snapshot, container: u32, commit: &Commit) -> Result<(), Error> {
        for (index, entry) in commit.entries.iter().enumerate() {
            let replaced = log::replaced(entry)?;
            if let Some(replaced) = &replaced {
                self.forget_replaced(state, container, entry, replaced)?;
            }
            let is_last = !commit.is_changed_again(index) && is_current(state, entry)?;
            if !is_last {
                self.puts.push((LOG, entry.log_key(), None));
            } else if replaced.is_some() {
                self.puts.push((LOG, entry.log_key(), Some(entry.without_image())));
            }
        }
        self.horizon = commit.lsn;
        Ok(())
    }

    /// Removes the text that only the entry still pointed to, and what the entry's predecessor left: it was the last of its
    /// item when the horizon passed it. One of the same commit is passed with it.
    fn forget_replaced(
        &mut self,
        state: &Snapshot,
        container: u32,
        entry: &Entry,
        replaced: &ItemHead,
    ) -> Result<(), Error> {
        self.puts.extend(replaced.text_key().map(|key| (OVERFLOW, key, None)));
        let before = replaced.lsn();
        if before >= entry.lsn() {
            return Ok(());
        }
        let successor = Row::Successor { container, lsn: before, item: row::without_container(entry.key()) };
        self.puts.push((INDEX, successor.key(), None));
        let left = log::one(state, container, before)?;
        let left = left.iter().filter(|left| left.key() == entry.key());
        self.puts.extend(left.map(|left| (LOG, left.log_key(), None)));
        Ok(())
    }
}

/// Whether the item's row is the one that this entry's commit wrote.
fn is_current(state: &Snapshot, entry: &Entry) -> Result<bool, Error> {
    Ok(ItemHead::at(state, entry.key())?.is_some_and(|item| item.lsn() == entry.lsn()))
}
