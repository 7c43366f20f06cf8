//! Create, read, replace, upsert and delete: each checks the stored item and writes all of its
//! rows.
//!
//! Invariant: an item's row, its unique-key rows, its expiry row, its partition's size and its log entry change
//! in one transaction.

use super::prepare::{self, PrepareError, PreparedItem};
use super::record::{self, ItemHead, ItemRow, Stamps};
use crate::changes::{Change, log};
use crate::charge::Charge;
use crate::index::{self, EntryWriter};
use crate::patch::PatchError;
use crate::row::Row;
use crate::spaces::{DOCUMENTS, INDEX, OVERFLOW};
use crate::{Stamp, expiry, partition};
use bytes::Bytes;
use orrery_catalog::Container;
use orrery_catalog::schema::Violations;
use orrery_catalog::{Preconditions, Verdict};
use orrery_core::{ItemId, Timestamp};
use orrery_keys::Epk;
use orrery_kv::{Error, Expect, META, Read, Txn};
use orrery_query::QueryError;

/// Where an item is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub epk: Epk,
    pub id: ItemId,
}

#[derive(Debug, thiserror::Error)]
pub enum ItemError {
    #[error("Entity with the specified id already exists in the system.")]
    Exists,
    #[error("Entity with the specified id does not exist in the system.")]
    Missing,
    #[error("One of the specified pre-condition is not met. Read the item again and retry with its _etag.")]
    Changed,
    #[error("Unique index constraint violation: another item of this partition has the same values.")]
    NotUnique,
    #[error("the partition key of an item cannot be changed; create a new item and delete this one")]
    PartitionKeyChanged,
    #[error("Partition key reached maximum size of {gb:.0} GB: spread the items over more partition keys, or delete some.", gb = *bytes_max as f64 / 1e9)]
    PartitionFull { bytes_max: u64 },
    #[error("The item does not match the schema of its container: {0}.")]
    Schema(Violations),
    #[error(transparent)]
    Patch(#[from] PatchError),
    /// The patch's condition does not hold for the item.
    #[error(
        "One of the specified pre-condition is not met. The condition of the patch does not hold for the item."
    )]
    ConditionFails,
    #[error(transparent)]
    Condition(#[from] QueryError),
    /// What the patch makes of the item cannot be stored.
    #[error("The patched item cannot be stored: {0}")]
    Patched(#[source] PrepareError),
    #[error(transparent)]
    Store(#[from] Error),
}

/// The result of a write.
#[derive(Clone, Debug)]
pub struct Effect {
    /// The item as it is now; of a delete, as it was.
    pub item: ItemRow,
    /// Whether there was none before.
    pub is_new: bool,
    /// The text that it took the place of, or removed; 0 if there was none.
    pub replaced_bytes: usize,
    pub charge: Charge,
    /// Violations of the container's schema that it was written with.
    pub warnings: u64,
}

impl Effect {
    fn warned(self, item: &PreparedItem) -> Self {
        Self { warnings: item.warnings(), ..self }
    }
}

/// The item, unless it is not there or has expired.
pub fn read(
    state: &dyn Read,
    container: &Container,
    target: &Target,
    now: Timestamp,
) -> Result<Option<ItemRow>, Error> {
    let found = stored(state, container, target.epk.as_bytes(), target.id.as_str())?;
    Ok(found.filter(|item| !expiry::is_expired(container, item, now)))
}

/// `ordinal` gives the number of a new item; it is drawn only when there is one.
pub fn create(
    txn: &mut Txn<'_>,
    container: &Container,
    item: &PreparedItem,
    stamp: Stamp,
    ordinal: impl FnOnce() -> u64,
) -> Result<Effect, ItemError> {
    orrery_core::tour_step!();
    if find_live(txn, container, item, stamp)?.is_some() {
        return Err(ItemError::Exists);
    }
    insert(txn, container, item, stamp, ordinal)
}

pub fn upsert(
    txn: &mut Txn<'_>,
    container: &Container,
    item: &PreparedItem,
    conditions: Preconditions,
    stamp: Stamp,
    ordinal: impl FnOnce() -> u64,
) -> Result<Effect, ItemError> {
    match find_live(txn, container, item, stamp)? {
        None => insert(txn, container, item, stamp, ordinal),
        Some(old) => {
            check(&conditions, &old)?;
            overwrite(txn, container, item, &old, stamp).map(|(effect, _)| effect)
        }
    }
}

/// Replaces the item at `target`. Another id in the new item renames it inside its partition.
pub fn replace(
    txn: &mut Txn<'_>,
    container: &Container,
    target: &Target,
    item: &PreparedItem,
    conditions: Preconditions,
    stamp: Stamp,
) -> Result<Effect, ItemError> {
    let old = load_for_update(txn, container, target, conditions, stamp)?;
    if item.epk != target.epk {
        return Err(ItemError::PartitionKeyChanged);
    }
    if item.id == target.id {
        return overwrite(txn, container, item, &old, stamp).map(|(effect, _)| effect);
    }
    if find_live(txn, container, item, stamp)?.is_some() {
        return Err(ItemError::Exists);
    }
    let (epk, id) = (target.epk.as_bytes(), target.id.as_str());
    let removed = remove(txn, container, epk, id, &old, stamp.now, Removal::Deleted)?;
    claim_all(txn, container, item, stamp)?;
    let (stored, entered) = put(txn, container, item, stamp, old.ordinal(), Change::Create, None)?;
    Ok(replaced(stored, &old, removed + entered).warned(item))
}

pub fn delete(
    txn: &mut Txn<'_>,
    container: &Container,
    target: &Target,
    conditions: Preconditions,
    stamp: Stamp,
) -> Result<Effect, ItemError> {
    let old = load_for_update(txn, container, target, conditions, stamp)?;
    let (epk, id) = (target.epk.as_bytes(), target.id.as_str());
    let removed = remove(txn, container, epk, id, &old, stamp.now, Removal::Deleted)?;
    let charge = Charge::delete(old.text_length(), removed);
    let replaced_bytes = old.text_length();
    Ok(Effect { item: old, is_new: false, replaced_bytes, charge, warnings: 0 })
}

fn replaced(item: ItemRow, old: &ItemRow, entries: u64) -> Effect {
    let replaced_bytes = old.text_length();
    let charge = Charge::replace(item.text_length(), replaced_bytes, entries);
    Effect { item, is_new: false, replaced_bytes, charge, warnings: 0 }
}

/// Loads the item at `target` for an update; fails if it is missing or a precondition does not
/// hold.
pub(super) fn load_for_update(
    txn: &mut Txn<'_>,
    container: &Container,
    target: &Target,
    conditions: Preconditions,
    stamp: Stamp,
) -> Result<ItemRow, ItemError> {
    let found = live_or_expired(txn, container, target.epk.as_bytes(), target.id.as_str(), stamp)?;
    let item = found.ok_or(ItemError::Missing)?;
    check(&conditions, &item)?;
    Ok(item)
}

fn check(conditions: &Preconditions, item: &ItemRow) -> Result<(), ItemError> {
    match conditions.check(item.etag()) {
        Verdict::Holds => Ok(()),
        Verdict::Changed | Verdict::Same => Err(ItemError::Changed),
    }
}

pub(crate) fn stored(
    state: &dyn Read,
    container: &Container,
    epk: &[u8],
    id: &str,
) -> Result<Option<ItemRow>, Error> {
    stored_at(state, &Row::Item { container: container.number(), epk, id }.key())
}

/// The same without its text.
pub(crate) fn head(
    state: &dyn Read,
    container: &Container,
    epk: &[u8],
    id: &str,
) -> Result<Option<ItemHead>, Error> {
    ItemHead::at(state, &Row::Item { container: container.number(), epk, id }.key())
}

fn stored_at(state: &dyn Read, key: &[u8]) -> Result<Option<ItemRow>, Error> {
    ItemHead::at(state, key)?.map(|item| item.whole(state)).transpose()
}

/// Finds the live item at the key of `item`; see [`live_or_expired`].
fn find_live(
    txn: &mut Txn<'_>,
    container: &Container,
    item: &PreparedItem,
    stamp: Stamp,
) -> Result<Option<ItemRow>, Error> {
    orrery_core::tour_step!();
    let found = stored_at(txn, &item.key)?;
    live(txn, container, item.epk.as_bytes(), item.id.as_str(), found, stamp)
}

/// The live item, if there is one. An expired item is removed as the reaper would.
fn live_or_expired(
    txn: &mut Txn<'_>,
    container: &Container,
    epk: &[u8],
    id: &str,
    stamp: Stamp,
) -> Result<Option<ItemRow>, Error> {
    let found = stored(txn, container, epk, id)?;
    live(txn, container, epk, id, found, stamp)
}

fn live(
    txn: &mut Txn<'_>,
    container: &Container,
    epk: &[u8],
    id: &str,
    found: Option<ItemRow>,
    stamp: Stamp,
) -> Result<Option<ItemRow>, Error> {
    let Some(item) = found else { return Ok(None) };
    if !expiry::is_expired(container, &item, stamp.now) {
        return Ok(Some(item));
    }
    remove(txn, container, epk, id, &item, stamp.now, Removal::Expired)?;
    Ok(None)
}

fn insert(
    txn: &mut Txn<'_>,
    container: &Container,
    item: &PreparedItem,
    stamp: Stamp,
    ordinal: impl FnOnce() -> u64,
) -> Result<Effect, ItemError> {
    orrery_core::tour_step!();
    claim_all(txn, container, item, stamp)?;
    let (stored, entries) = put(txn, container, item, stamp, ordinal(), Change::Create, None)?;
    let charge = Charge::create(stored.text_length(), entries);
    Ok(Effect { item: stored, is_new: true, replaced_bytes: 0, charge, warnings: item.warnings() })
}

fn claim_all(
    txn: &mut Txn<'_>,
    container: &Container,
    item: &PreparedItem,
    stamp: Stamp,
) -> Result<(), ItemError> {
    let (epk, id) = (item.epk.as_bytes(), item.id.as_str());
    let mut each = item.unique.iter().enumerate();
    each.try_for_each(|(number, values)| claim(txn, container, epk, number, values, id, stamp))
}

/// Overwrites `old` with `item`. Returns the effect and the number of index entries written.
pub(super) fn overwrite(
    txn: &mut Txn<'_>,
    container: &Container,
    item: &PreparedItem,
    old: &ItemRow,
    stamp: Stamp,
) -> Result<(Effect, u64), ItemError> {
    let (epk, id) = (item.epk.as_bytes(), item.id.as_str());
    let old_unique =
        if item.unique.is_empty() { Vec::new() } else { prepare::unique_of(container, old.text()) };
    for (number, (values, before)) in item.unique.iter().zip(&old_unique).enumerate() {
        if values != before {
            claim(txn, container, epk, number, values, id, stamp)?;
            txn.delete(INDEX, unique_key(container, epk, number, before));
        }
    }
    let (stored, entries) = put(txn, container, item, stamp, old.ordinal(), Change::Replace, Some(old))?;
    Ok((replaced(stored, old, entries).warned(item), entries))
}

/// Writes all rows of an item, unless the container's schema refuses it. Says how many index entries that took. Every way
/// to write an item ends here.
fn put(
    txn: &mut Txn<'_>,
    container: &Container,
    item: &PreparedItem,
    stamp: Stamp,
    ordinal: u64,
    change: Change,
    old: Option<&ItemRow>,
) -> Result<(ItemRow, u64), ItemError> {
    orrery_core::tour_step!();
    let (number, epk, id) = (container.number(), item.epk.as_bytes(), item.id.as_str());
    let stamps = Stamps { written: stamp.now, etag: stamp.etag, ordinal };
    let stored = ItemRow::with(item.row.clone(), stamps);
    if let Some(schemas) = container.schemas() {
        let verdict = item.verdict.as_deref();
        schemas.settle(&item.id, verdict, || stored.text(), stamp.now).map_err(ItemError::Schema)?;
    }
    let (bytes, replaced) = (stored.text_length() as u64, old.map(|old| old.text_length() as u64));
    let growth = partition::count_write(txn, number, epk, bytes, replaced, stamp.partition_bytes_max)?;
    if growth.is_large && !growth.was_large {
        index::add_local_entries(txn, container, epk)?;
    }
    let writer = EntryWriter { container, epk, id, ordinal, is_large: growth.is_large };
    let is_indexed = item.directive.is_indexed(container.generations());
    let entries = writer.replace(txn, old, is_indexed.then_some(&stored))?;
    writer.count_item(txn, i64::from(old.is_none()));
    reschedule(txn, container, (epk, id), old, Some(&stored));
    log(txn, container, change, &item.key, stamp.now, old);
    let apart = record::large_body(&item.row).map(|body| txn.put_overflow(OVERFLOW, body));
    let row = record::stamped(&item.row, stamps, apart);
    txn.put_stamped(DOCUMENTS, item.key.clone(), row, record::LSN_AT);
    require_container(txn, container);
    Ok((stored, entries))
}

/// The reason of a removal.
#[derive(Clone, Copy)]
pub(crate) enum Removal {
    Deleted,
    Expired,
}

/// Removes every row of an item and logs it with its last image. Says how many index entries it had.
pub(crate) fn remove(
    txn: &mut Txn<'_>,
    container: &Container,
    epk: &[u8],
    id: &str,
    old: &ItemRow,
    now: Timestamp,
    why: Removal,
) -> Result<u64, Error> {
    let is_large = partition::count_removal(txn, container.number(), epk, old.text_length() as u64)?;
    let writer = EntryWriter { container, epk, id, ordinal: old.ordinal(), is_large };
    let entries = writer.replace(txn, Some(old), None)?;
    writer.count_item(txn, -1);
    let key = Row::Item { container: container.number(), epk, id }.key();
    for (number, values) in prepare::unique_of(container, old.text()).iter().enumerate() {
        txn.delete(INDEX, unique_key(container, epk, number, values));
    }
    reschedule(txn, container, (epk, id), Some(old), None);
    let change = match why {
        Removal::Deleted => Change::Delete,
        Removal::Expired => Change::Expire,
    };
    log(txn, container, change, &key, now, Some(old));
    txn.delete(DOCUMENTS, key);
    txn.frees();
    require_container(txn, container);
    Ok(entries)
}

/// Makes the commit fail if the container has been dropped or re-indexed meanwhile.
pub(crate) fn require_container(txn: &mut Txn<'_>, container: &Container) {
    txn.require(META, container.alive_key().clone(), Expect::Is(container.alive_value()));
}

fn unique_key(container: &Container, epk: &[u8], number: usize, values: &[u8]) -> Bytes {
    Row::Unique { container: container.number(), epk, key: number as u8, values }.key()
}

/// Takes the values of a unique key for `id`. Values held by an item that has expired are free.
fn claim(
    txn: &mut Txn<'_>,
    container: &Container,
    epk: &[u8],
    number: usize,
    values: &[u8],
    id: &str,
    stamp: Stamp,
) -> Result<(), ItemError> {
    let key = unique_key(container, epk, number, values);
    if let Some(holder) = txn.get(INDEX, &key)? {
        let holder = String::from_utf8_lossy(&holder).into_owned();
        if holder != id && live_or_expired(txn, container, epk, &holder, stamp)?.is_some() {
            return Err(ItemError::NotUnique);
        }
    }
    txn.put(INDEX, key, Bytes::copy_from_slice(id.as_bytes()));
    Ok(())
}

/// Moves the expiry row of an item, unless it stays where it is.
fn reschedule(
    txn: &mut Txn<'_>,
    container: &Container,
    (epk, id): (&[u8], &str),
    old: Option<&ItemRow>,
    new: Option<&ItemRow>,
) {
    let at = |item: Option<&ItemRow>| item.and_then(|item| expiry::expires_at(container, item));
    let key = |at| Row::Expiry { container: container.number(), at, epk, id }.key();
    let (before, after) = (at(old), at(new));
    if before == after {
        return;
    }
    if let Some(at) = before {
        txn.delete(INDEX, key(at));
    }
    if let Some(at) = after {
        txn.put(INDEX, key(at), Bytes::new());
    }
}
