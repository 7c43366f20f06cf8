//! Operations on entities. Each changes the entity's row and logs what the row was, in one transaction.
//!
//! A write costs one look at the row that is there, a row, a log entry, the condition that the table is still there, and
//! what the table's size changes by.

use crate::edm::Ticks;
use crate::entity::{
    Entity, EntityKey, EntityRow, InvalidEntity, Properties, Record, check_whole, counted_bytes, merge,
    with_timestamp,
};
use crate::row::Row;
use crate::size::Growth;
use crate::spaces::{ENTITIES, LOG};
use crate::table::Table;
use crate::version::IfMatch;
use bytes::Bytes;
use orrery_catalog::change_log::{self, Change};
use orrery_core::Timestamp;
use orrery_kv::{Error, Expect, META, Read, Txn};

#[derive(Clone, Debug, PartialEq)]
pub enum EntityOperation {
    Insert(Entity),
    InsertOrMerge(Entity),
    InsertOrReplace(Entity),
    Merge(Entity, IfMatch),
    Replace(Entity, IfMatch),
    Delete(EntityKey, IfMatch),
}

/// What the world adds to a write: the time, and the Timestamp of what is written unless the entity's last was later.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    pub now: Timestamp,
    pub ticks: Ticks,
}

/// The result of a write.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// The version that it made; none after a delete.
    pub timestamp: Option<Ticks>,
    /// Whether there was no such entity before.
    pub is_new: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum EntityError {
    /// `EntityAlreadyExists`
    #[error("The specified entity already exists.")]
    Exists,
    /// `ResourceNotFound`
    #[error("The specified resource does not exist.")]
    NotFound,
    /// `UpdateConditionNotSatisfied`
    #[error("The update condition specified in the request was not satisfied.")]
    ConditionNotMet,
    /// What a merge would make.
    #[error(transparent)]
    Invalid(#[from] InvalidEntity),
    #[error(transparent)]
    Store(#[from] Error),
}

impl EntityOperation {
    pub fn key(&self) -> &EntityKey {
        match self {
            Self::Insert(entity) | Self::InsertOrMerge(entity) | Self::InsertOrReplace(entity) => {
                entity.key()
            }
            Self::Merge(entity, _) | Self::Replace(entity, _) => entity.key(),
            Self::Delete(key, _) => key,
        }
    }

    /// Size of the entity that it brings.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Insert(entity) | Self::InsertOrMerge(entity) | Self::InsertOrReplace(entity) => {
                entity.bytes()
            }
            Self::Merge(entity, _) | Self::Replace(entity, _) => entity.bytes(),
            Self::Delete(..) => 0,
        }
    }
}

/// One lookup.
pub fn get(state: &dyn Read, table: u32, key: &EntityKey) -> Result<Option<EntityRow>, Error> {
    let key = row_key(table, key);
    state.get(ENTITIES, &key)?.map(|record| EntityRow::read(key, record)).transpose()
}

/// Does one operation, in the scope of the entity's partition.
pub fn apply(
    txn: &mut Txn<'_>,
    table: &Table,
    operation: &EntityOperation,
    stamp: Stamp,
) -> Result<Written, EntityError> {
    require_table(txn, table.number());
    let mut growth = Growth::default();
    let written = apply_part(txn, table.number(), operation, stamp, &mut growth)?;
    growth.add_to(txn, table.number());
    Ok(written)
}

/// Makes the commit depend on the table.
pub(crate) fn require_table(txn: &mut Txn<'_>, table: u32) {
    txn.require(META, Row::Alive { table }.key(), Expect::Present);
}

/// An operation of a transaction that has required the table, and adds the growth to it.
pub(crate) fn apply_part(
    txn: &mut Txn<'_>,
    table: u32,
    operation: &EntityOperation,
    stamp: Stamp,
    growth: &mut Growth,
) -> Result<Written, EntityError> {
    let key = row_key(table, operation.key());
    let old = txn.get(ENTITIES, &key)?.map(Record::read).transpose()?;
    let mut write = Write { txn, table, entity: operation.key(), key, old, stamp, growth };
    match operation {
        EntityOperation::Insert(_) if write.old.is_some() => Err(EntityError::Exists),
        EntityOperation::Insert(entity) | EntityOperation::InsertOrReplace(entity) => {
            Ok(write.put_entity(entity))
        }
        EntityOperation::InsertOrMerge(entity) => write.merge(entity),
        EntityOperation::Merge(entity, if_match) => {
            write.check(*if_match)?;
            write.merge(entity)
        }
        EntityOperation::Replace(entity, if_match) => {
            write.check(*if_match)?;
            Ok(write.put_entity(entity))
        }
        EntityOperation::Delete(_, if_match) => {
            write.check(*if_match)?;
            Ok(write.delete())
        }
    }
}

/// A write to one row, which was looked up.
struct Write<'a, 'b> {
    txn: &'a mut Txn<'b>,
    table: u32,
    entity: &'a EntityKey,
    key: Bytes,
    old: Option<Record>,
    stamp: Stamp,
    growth: &'a mut Growth,
}

impl Write<'_, '_> {
    fn check(&self, if_match: IfMatch) -> Result<(), EntityError> {
        let old = self.old.as_ref().ok_or(EntityError::NotFound)?;
        if if_match.holds(old.timestamp()) { Ok(()) } else { Err(EntityError::ConditionNotMet) }
    }

    /// Later than the version that was there, whatever the clock says.
    fn timestamp(&self) -> Ticks {
        let after = self.old.as_ref().map_or(Ticks::default(), |old| old.timestamp().next());
        self.stamp.ticks.max(after)
    }

    fn put_entity(&mut self, entity: &Entity) -> Written {
        let at = self.timestamp();
        self.put(with_timestamp(entity.record(), at), at)
    }

    fn merge(&mut self, entity: &Entity) -> Result<Written, EntityError> {
        let Some(old) = &self.old else { return Ok(self.put_entity(entity)) };
        let at = self.timestamp();
        let merged = merge(old, entity.properties(), at);
        check_whole(entity.key(), &merged)?;
        Ok(self.put(merged, at))
    }

    fn put(&mut self, record: Vec<u8>, at: Ticks) -> Written {
        self.log(if self.old.is_some() { Change::Replace } else { Change::Create });
        self.count_old();
        self.growth.add(counted_bytes(self.entity, Properties::of_record(&record)));
        self.txn.put(ENTITIES, self.key.clone(), record);
        Written { timestamp: Some(at), is_new: self.old.is_none() }
    }

    fn delete(&mut self) -> Written {
        self.txn.frees();
        self.log(Change::Delete);
        self.count_old();
        self.txn.delete(ENTITIES, self.key.clone());
        Written { timestamp: None, is_new: false }
    }

    /// What was there is there no more.
    fn count_old(&mut self) {
        if let Some(old) = &self.old {
            self.growth.remove(counted_bytes(self.entity, old.properties()));
        }
    }

    fn log(&mut self, change: Change) {
        let image = self.old.as_ref().map_or(&[][..], |old| old.bytes());
        let (entry, _) = change_log::payload(change, self.stamp.now, &self.key, image);
        self.txn.log(LOG, change_log::stream(self.table), entry);
    }
}

fn row_key(table: u32, key: &EntityKey) -> Bytes {
    let (partition_key, row_key) = (key.partition_key.as_str(), key.row_key.as_str());
    Row::Entity { table, partition_key, row_key }.key()
}
