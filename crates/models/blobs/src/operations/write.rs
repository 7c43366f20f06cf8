//! A write to the states of one name. Every change of a state goes through here: its row, the log entry with what it replaced, its
//! tags in the index, what is due of it, and whether it is protected.
//!
//! Content is counted beside: a state that is made of another shares its content, and one that is gone for good drops it.

use super::Stamp;
use crate::address::{BlobName, Selector};
use crate::blob::{Blob, BlobState, SoftDeletion, record};
use crate::changes::{self, Change};
use crate::conditions::Conditions;
use crate::content::{self, Content};
use crate::events::{BlobEvent, EventApi, EventKind};
use crate::refusal::{BlobError, Refusal};
use crate::row::{self, Due, Row};
use crate::settings::BlobSettings;
use crate::spaces::{BLOBS, TAGS};
use bytes::Bytes;
use orrery_core::{Ticks, Timestamp};
use orrery_kv::{Error, Expect, META, Order, Read, Txn};

/// Where an operation happens: a container that is there, with the settings of its account, and a name in it.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    pub container: u32,
    pub settings: &'a BlobSettings,
    pub name: &'a BlobName,
}

/// A state as it is stored.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub blob: Blob,
    bytes: Bytes,
}

pub(crate) struct Write<'a, 'b, 'p> {
    pub txn: &'a mut Txn<'b>,
    pub place: Place<'p>,
    pub stamp: Stamp,
}

/// The stored state of a name.
pub(crate) fn load(
    state: &dyn Read,
    container: u32,
    name: &str,
    which: BlobState,
) -> Result<Option<Stored>, Error> {
    let stored = state.get(BLOBS, &state_key(container, name, which))?;
    let read = |bytes: Bytes| Ok(Stored { blob: record::read(name, which, &bytes)?, bytes });
    stored.map(read).transpose()
}

pub(crate) fn load_blob(
    state: &dyn Read,
    container: u32,
    name: &str,
    which: BlobState,
) -> Result<Option<Blob>, Error> {
    Ok(load(state, container, name, which)?.map(|stored| stored.blob))
}

/// The states of a name beside the current one, the oldest first.
pub(crate) fn history(state: &dyn Read, container: u32, name: &str) -> Result<Vec<Stored>, Error> {
    let rows = state.range(BLOBS, &row::history_of(container, name), Order::Ascending);
    rows.map(|row| {
        let (key, bytes) = row?;
        let (name, which) = row::read_history(&key)?;
        Ok(Stored { blob: record::read(&name, which, &bytes)?, bytes })
    })
    .collect()
}

/// Whether a name has states beside the current one that are not deleted.
pub fn has_history(state: &dyn Read, container: u32, name: &BlobName) -> Result<bool, Error> {
    Ok(history(state, container, name.as_str())?.iter().any(|stored| stored.blob.deleted.is_none()))
}

/// The state that a selector means, whether it is deleted or not.
pub(crate) fn select(
    state: &dyn Read,
    container: u32,
    name: &str,
    selector: Selector,
) -> Result<Option<Stored>, Error> {
    match selector {
        Selector::Current => load(state, container, name, BlobState::Current),
        Selector::Snapshot(at) => load(state, container, name, BlobState::Snapshot(at)),
        Selector::Version(at) => {
            let current = load(state, container, name, BlobState::Current)?;
            match current.filter(|current| current.blob.version == Some(at)) {
                Some(current) => Ok(Some(current)),
                None => load(state, container, name, BlobState::Version(at)),
            }
        }
    }
}

fn state_key(container: u32, name: &str, which: BlobState) -> Bytes {
    match which {
        BlobState::Current => Row::Current { container, name }.key(),
        state => Row::History { container, name, state }.key(),
    }
}

impl<'a, 'b, 'p> Write<'a, 'b, 'p> {
    /// Makes the commit depend on the container.
    pub fn begin(txn: &'a mut Txn<'b>, place: Place<'p>, stamp: Stamp) -> Self {
        txn.require(META, Row::Alive { container: place.container }.key(), Expect::Present);
        Self { txn, place, stamp }
    }

    pub fn now(&self) -> Timestamp {
        self.stamp.now
    }

    pub fn name(&self) -> &'p str {
        self.place.name.as_str()
    }

    pub fn current(&self) -> Result<Option<Stored>, Error> {
        load(self.txn, self.place.container, self.name(), BlobState::Current)
    }

    /// The current state of a blob that must be there.
    pub fn existing(&self) -> Result<Stored, BlobError> {
        Ok(self.current()?.ok_or(Refusal::BlobNotFound)?)
    }

    /// The state that a selector means, which must be there and not deleted.
    pub fn selected(&self, selector: Selector) -> Result<Stored, BlobError> {
        let found = select(self.txn, self.place.container, self.name(), selector)?;
        Ok(found.filter(|stored| stored.blob.deleted.is_none()).ok_or(Refusal::BlobNotFound)?)
    }

    pub fn history(&self) -> Result<Vec<Stored>, Error> {
        history(self.txn, self.place.container, self.name())
    }

    /// A moment after the last change of a state, whatever the clock says.
    pub fn moment_after(&self, old: Option<&Stored>) -> Ticks {
        let after = old.map_or(Ticks::default(), |old| old.blob.modified.next());
        self.stamp.ticks.max(after)
    }

    /// A moment after every snapshot and version of the name.
    pub fn moment_of_state(&self, old: Option<&Stored>) -> Result<Ticks, Error> {
        let mut moment = self.moment_after(old);
        let rows =
            self.txn.range(BLOBS, &row::history_of(self.place.container, self.name()), Order::Descending);
        for row in rows {
            if let BlobState::Snapshot(at) | BlobState::Version(at) = row::read_history(&row?.0)?.1 {
                moment = moment.max(at.next());
                break;
            }
        }
        Ok(moment)
    }

    /// Whether a write to a blob that is there may go on.
    pub fn check(&self, old: &Stored, conditions: &Conditions) -> Result<(), BlobError> {
        conditions.check(old.blob.target())?;
        old.blob.lease.check_write(conditions.lease, self.now())?;
        Ok(())
    }

    /// Whether its content or properties may be changed in place.
    pub fn check_change(&self, old: &Stored, conditions: &Conditions) -> Result<(), BlobError> {
        self.check(old, conditions)?;
        self.check_not_pending(old)?;
        if old.blob.is_protected(self.now()) {
            return Err(Refusal::ImmutableDueToPolicy.into());
        }
        Ok(())
    }

    /// Whether a new state may take its place. With versions, it stays as one of them.
    pub fn check_overwrite(&self, old: Option<&Stored>, conditions: &Conditions) -> Result<(), BlobError> {
        let Some(old) = old else { return check_creation(conditions) };
        self.check(old, conditions)?;
        self.check_not_pending(old)?;
        if old.blob.is_protected(self.now()) && !self.place.settings.versioning {
            return Err(Refusal::ImmutableDueToPolicy.into());
        }
        Ok(())
    }

    pub fn check_not_pending(&self, old: &Stored) -> Result<(), Refusal> {
        match &old.blob.copy {
            Some(copy) if copy.is_pending() => Err(Refusal::PendingCopy),
            _ => Ok(()),
        }
    }

    /// Puts a state where there is `old`, or nothing.
    pub fn put(&mut self, old: Option<&Stored>, blob: &Blob) {
        let change = if old.is_some() { Change::Replace } else { Change::Create };
        self.log(change, blob.state, old);
        self.put_unlogged(old, blob);
    }

    /// For changes that a restore to an earlier moment need not undo: leases, and the last access.
    pub fn put_unlogged(&mut self, old: Option<&Stored>, blob: &Blob) {
        self.index(blob.state, old.map(|old| &old.blob), Some(blob));
        self.txn.put(BLOBS, state_key(self.place.container, self.name(), blob.state), record::write(blob));
    }

    /// Removes the row of a state. What it had is the caller's.
    pub fn remove(&mut self, old: &Stored) {
        self.log(Change::Delete, old.blob.state, Some(old));
        self.index(old.blob.state, Some(&old.blob), None);
        self.txn.delete(BLOBS, state_key(self.place.container, self.name(), old.blob.state));
    }

    /// Removes a state for good.
    pub fn purge(&mut self, old: &Stored) -> Result<(), Error> {
        self.remove(old);
        self.drop_content(old.blob.content)
    }

    /// Moves a state to another place under its name.
    pub fn relocate(&mut self, old: &Stored, blob: Blob) {
        self.remove(old);
        self.put(None, &blob);
    }

    /// A state less has this content; without any other, its log entry owns it.
    pub fn drop_content(&mut self, content: Content) -> Result<(), Error> {
        if content::unshare(self.txn, content)? {
            changes::log_content(self.txn, self.place.container, content.ordinal, self.now());
        }
        Ok(())
    }

    /// Makes room for a new current state: what was there becomes a version or a soft-deleted snapshot, or goes.
    pub fn retire(&mut self, old: Option<Stored>) -> Result<(), Error> {
        let Some(old) = old else { return self.retire_deleted_blob() };
        if self.place.settings.versioning {
            let at = self.version_of(&old)?;
            self.relocate(&old, as_version(&old.blob, at));
        } else if let Some(deleted) = self.soft_deletion() {
            let at = self.moment_of_state(Some(&old))?;
            self.relocate(&old, as_deleted(&old.blob, BlobState::Snapshot(at), deleted));
        } else {
            self.purge(&old)?;
        }
        Ok(())
    }

    /// The blob of a name that was soft-deleted stays as a snapshot when a new one is made.
    fn retire_deleted_blob(&mut self) -> Result<(), Error> {
        let deleted = load(self.txn, self.place.container, self.name(), BlobState::DeletedBlob)?;
        if let Some(deleted) = deleted {
            let at = self.moment_of_state(Some(&deleted))?;
            self.relocate(&deleted, Blob { state: BlobState::Snapshot(at), ..deleted.blob.clone() });
        }
        Ok(())
    }

    /// The version that a current state becomes. One that was written before versioning was on gets its last change as its id.
    pub fn version_of(&self, old: &Stored) -> Result<Ticks, Error> {
        match old.blob.version {
            Some(version) => Ok(version),
            None => {
                let at = old.blob.modified;
                let taken = load(self.txn, self.place.container, self.name(), BlobState::Version(at))?;
                if taken.is_some() { self.moment_of_state(Some(old)) } else { Ok(at) }
            }
        }
    }

    /// How long what is deleted now stays; `None`: not at all.
    pub fn soft_deletion(&self) -> Option<SoftDeletion> {
        let retention = self.place.settings.delete_retention?;
        let until = Timestamp::from_millis(self.now().millis() + retention.days.millis());
        Some(SoftDeletion { at: self.now(), until })
    }

    /// Tells the change feed, if there is one.
    pub fn event(&mut self, kind: EventKind, api: EventApi, blob: &Blob) {
        if self.place.settings.change_feed.is_some() {
            let event = BlobEvent::new(kind, api, blob, self.stamp.ticks.max(blob.modified), self.stamp.now);
            changes::log_event(self.txn, self.place.container, self.name(), event.write(), self.stamp.now);
        }
    }

    fn log(&mut self, change: Change, state: BlobState, old: Option<&Stored>) {
        let key = state_key(self.place.container, self.name(), state);
        changes::log_state(
            self.txn,
            self.place.container,
            change,
            &key,
            old.map(|old| &old.bytes),
            self.stamp.now,
        );
    }

    /// Brings the rows beside a state's own in step with it.
    fn index(&mut self, state: BlobState, old: Option<&Blob>, new: Option<&Blob>) {
        if state == BlobState::Current {
            self.index_tags(old, new);
        }
        let (container, name) = (self.place.container, self.name());
        let [before, after] = [old, new].map(|blob| blob.map(due).unwrap_or_default());
        for (at, what) in before.iter().filter(|entry| !after.contains(entry)) {
            self.txn.delete(BLOBS, Row::Due { container, at: *at, what: *what, name, state }.key());
        }
        for (at, what) in after.iter().filter(|entry| !before.contains(entry)) {
            self.txn.put(
                BLOBS,
                Row::Due { container, at: *at, what: *what, name, state }.key(),
                Bytes::new(),
            );
        }
        let [before, after] = [old, new].map(|blob| blob.is_some_and(may_be_protected));
        let key = Row::Protected { container, name, state }.key();
        match (before, after) {
            (false, true) => {
                self.txn.put(BLOBS, key, Bytes::new());
                // Deleting the container meanwhile must see it.
                let guard = Row::Guard { container }.key();
                self.txn.put(META, guard, self.stamp.ticks.count().to_be_bytes().to_vec());
            }
            (true, false) => self.txn.delete(BLOBS, key),
            _ => {}
        }
    }

    fn index_tags(&mut self, old: Option<&Blob>, new: Option<&Blob>) {
        let (container, name) = (self.place.container, self.name());
        let has = |blob: Option<&Blob>, key: &str, value: &str| {
            blob.is_some_and(|blob| blob.tags.get(key) == Some(value))
        };
        for (key, value) in old.into_iter().flat_map(|blob| blob.tags.iter()) {
            if !has(new, key, value) {
                self.txn.delete(TAGS, Row::Tag { container, key, value, name }.key());
            }
        }
        for (key, value) in new.into_iter().flat_map(|blob| blob.tags.iter()) {
            if !has(old, key, value) {
                self.txn.put(TAGS, Row::Tag { container, key, value, name }.key(), Bytes::new());
            }
        }
    }
}

/// Conditions of a write that makes a blob where there is none.
pub(crate) fn check_creation(conditions: &Conditions) -> Result<(), BlobError> {
    if !conditions.allow_creation() {
        return Err(Refusal::ConditionNotMet { is_not_modified: false }.into());
    }
    if conditions.lease.is_some() {
        return Err(crate::lease::LeaseConflict::NotPresent.into());
    }
    Ok(())
}

/// A state that is a version and not current any more. Leases are of the current one.
pub(crate) fn as_version(blob: &Blob, at: Ticks) -> Blob {
    Blob { state: BlobState::Version(at), version: Some(at), lease: Default::default(), ..blob.clone() }
}

pub(crate) fn as_deleted(blob: &Blob, state: BlobState, deleted: SoftDeletion) -> Blob {
    Blob { state, deleted: Some(deleted), lease: Default::default(), ..blob.clone() }
}

/// What happens to a state by itself, and when.
fn due(blob: &Blob) -> Vec<(Timestamp, Due)> {
    let deletion = blob.deleted.map(|deletion| (deletion.until, Due::Deletion));
    let rehydration = blob.tier.rehydration.map(|rehydration| (rehydration.due, Due::Rehydration));
    let is_copied = blob.copy.as_ref().is_some_and(|copy| copy.is_pending());
    let copy = is_copied.then(|| (blob.modified.timestamp(), Due::Copy));
    deletion.into_iter().chain(rehydration).chain(copy).collect()
}

fn may_be_protected(blob: &Blob) -> bool {
    blob.legal_hold || blob.immutability.is_some()
}
