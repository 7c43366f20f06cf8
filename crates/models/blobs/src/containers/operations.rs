//! Operations on definitions of containers. All of them run in the catalog's scope, so each sees the last.

use super::record;
use super::{
    Container, ContainerConditions, ContainerDeletion, ContainerVersion, NewContainer, PublicAccess,
};
use crate::address::ContainerId;
use crate::lease::{Lease, LeaseAction, LeaseId, Leased};
use crate::operations::{Stamp, load_blob};
use crate::refusal::{BlobError, Refusal};
use crate::row::{self, Kind, Row};
use crate::settings::BlobSettings;
use crate::spaces::BLOBS;
use bytes::Bytes;
use orrery_catalog::storage::{
    AccountName, BlobContainerName, Metadata, SignedIdentifiers, next_resource_number,
};
use orrery_core::{Ticks, Timestamp};
use orrery_kv::{Error, Expect, META, Order, Read, Txn};

pub fn load(state: &dyn Read, id: &ContainerId) -> Result<Option<Container>, Error> {
    let stored = state.get(META, &key(id))?;
    stored.map(|bytes| record::read(id.clone(), &bytes)).transpose()
}

/// Every container of every account that is not deleted.
pub fn all(state: &dyn Read) -> Result<Vec<Container>, Error> {
    let rows = state.range(META, &row::containers(), Order::Ascending);
    rows.map(|row| read_row(&row?)).collect()
}

/// The numbers of all containers, deleted ones too.
pub fn numbers(state: &dyn Read) -> Result<Vec<u32>, Error> {
    let alive = state.range(META, &row::containers(), Order::Ascending).map(|row| read_row(&row?));
    let deleted =
        state.range(META, &row::deleted_containers(), Order::Ascending).map(|row| read_deleted_row(&row?));
    alive.chain(deleted).map(|container| Ok(container?.number)).collect()
}

pub(super) fn read_row((key, bytes): &(Bytes, Bytes)) -> Result<Container, Error> {
    let (account, name) = row::read_container(key)?;
    record::read(id_of(&account, &name)?, bytes)
}

pub(super) fn read_deleted_row((key, bytes): &(Bytes, Bytes)) -> Result<Container, Error> {
    let (account, name, _) = row::read_deleted_container(key)?;
    record::read(id_of(&account, &name)?, bytes)
}

fn id_of(account: &str, name: &str) -> Result<ContainerId, Error> {
    let damaged = |_| Error::Corrupt("the key of a container".to_owned());
    let account = AccountName::parse(account).map_err(damaged)?;
    Ok(ContainerId { account, name: BlobContainerName::parse(name).map_err(damaged)? })
}

pub fn create(
    txn: &mut Txn<'_>,
    id: &ContainerId,
    new: &NewContainer,
    stamp: Stamp,
) -> Result<Container, BlobError> {
    if load(txn, id)?.is_some() {
        return Err(Refusal::ContainerAlreadyExists.into());
    }
    let container = Container {
        id: id.clone(),
        number: next_resource_number(txn)?,
        modified: stamp.ticks,
        metadata: new.metadata.clone(),
        public_access: new.public_access,
        policies: SignedIdentifiers::default(),
        lease: Lease::None,
        deleted: None,
    };
    save(txn, &container);
    txn.put(META, Row::Alive { container: container.number }.key(), Bytes::new());
    Ok(container)
}

/// Removes the container at once. With a retention it can be restored until that is over; its blobs stay where they are.
pub fn delete(
    txn: &mut Txn<'_>,
    id: &ContainerId,
    conditions: ContainerConditions,
    settings: &BlobSettings,
    stamp: Stamp,
) -> Result<Container, BlobError> {
    let old = existing(txn, id)?;
    check(&old, conditions)?;
    old.lease.check_write(conditions.lease, stamp.now).map_err(Refusal::ContainerLease)?;
    check_not_protected(txn, old.number, stamp.now)?;
    txn.frees();
    txn.delete(META, key(id));
    txn.delete(META, Row::Alive { container: old.number }.key());
    match settings.container_delete_retention {
        None => schedule_sweep(txn, old.number),
        Some(days) => {
            let until = Timestamp::from_millis(stamp.now.millis() + days.millis());
            let version = ContainerVersion(stamp.ticks);
            let deleted = Some(ContainerDeletion { at: stamp.now, until, version });
            let container = Container { deleted, lease: Lease::None, ..old.clone() };
            txn.put(META, deleted_key(id, version), record::write(&container));
        }
    }
    Ok(old)
}

/// A blob under a legal hold or an immutability policy keeps its container. One that comes to be protected meanwhile changes the
/// guard, and this transaction is refused.
fn check_not_protected(txn: &mut Txn<'_>, container: u32, now: Timestamp) -> Result<(), BlobError> {
    for row in txn.range(BLOBS, &Kind::Protected.all(container), Order::Ascending) {
        let (name, state) = row::read_history(&row?.0)?;
        if load_blob(txn, container, &name, state)?.is_some_and(|blob| blob.is_protected(now)) {
            return Err(Refusal::ContainerProtected.into());
        }
    }
    let guard = Row::Guard { container }.key();
    let expected = txn.get(META, &guard)?.map_or(Expect::Absent, Expect::Is);
    txn.require(META, guard, expected);
    Ok(())
}

/// Brings a soft-deleted container back, maybe under another name.
pub fn restore(
    txn: &mut Txn<'_>,
    deleted: &ContainerId,
    version: ContainerVersion,
    id: &ContainerId,
    stamp: Stamp,
) -> Result<Container, BlobError> {
    let key = deleted_key(deleted, version);
    let stored = txn.get(META, &key)?.ok_or(Refusal::ContainerNotFound)?;
    if load(txn, id)?.is_some() {
        return Err(Refusal::ContainerAlreadyExists.into());
    }
    let old = record::read(deleted.clone(), &stored)?;
    let container = Container { id: id.clone(), modified: stamp.ticks, deleted: None, ..old };
    txn.delete(META, key);
    save(txn, &container);
    txn.put(META, Row::Alive { container: container.number }.key(), Bytes::new());
    Ok(container)
}

/// Soft-deleted containers whose retention is over go to the sweep. Returns how many.
pub fn expire_deleted(txn: &mut Txn<'_>, now: Timestamp) -> Result<usize, Error> {
    let rows = txn.range(META, &row::deleted_containers(), Order::Ascending);
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    let mut expired = 0;
    for row in rows {
        let container = read_deleted_row(&row)?;
        if container.deleted.is_some_and(|deletion| deletion.until <= now) {
            txn.frees();
            txn.delete(META, row.0);
            schedule_sweep(txn, container.number);
            expired += 1;
        }
    }
    Ok(expired)
}

/// Replaces all metadata.
pub fn set_metadata(
    txn: &mut Txn<'_>,
    id: &ContainerId,
    metadata: &Metadata,
    conditions: ContainerConditions,
    stamp: Stamp,
) -> Result<Container, BlobError> {
    change(txn, id, conditions, stamp, |container| container.metadata = metadata.clone())
}

/// Replaces the public access and the stored policies.
pub fn set_access(
    txn: &mut Txn<'_>,
    id: &ContainerId,
    public_access: PublicAccess,
    policies: &SignedIdentifiers,
    conditions: ContainerConditions,
    stamp: Stamp,
) -> Result<Container, BlobError> {
    change(txn, id, conditions, stamp, |container| {
        container.public_access = public_access;
        container.policies = policies.clone();
    })
}

/// A lease that is named must be there; changes need none.
fn change(
    txn: &mut Txn<'_>,
    id: &ContainerId,
    conditions: ContainerConditions,
    stamp: Stamp,
    change: impl FnOnce(&mut Container),
) -> Result<Container, BlobError> {
    let mut container = existing(txn, id)?;
    check(&container, conditions)?;
    container.lease.check_read(conditions.lease, stamp.now).map_err(Refusal::ContainerLease)?;
    change(&mut container);
    container.modified = stamp.ticks.max(container.modified.next());
    save(txn, &container);
    Ok(container)
}

/// Lease Container. Neither ETag nor Last-Modified change.
pub fn lease(
    txn: &mut Txn<'_>,
    id: &ContainerId,
    action: LeaseAction,
    conditions: ContainerConditions,
    stamp: Stamp,
) -> Result<(Leased, Container), BlobError> {
    let mut container = existing(txn, id)?;
    check(&container, conditions)?;
    let leased = container.lease.act(action, LeaseId::new(stamp.random), stamp.now)?;
    container.lease = leased.lease;
    save(txn, &container);
    Ok((leased, container))
}

fn check(container: &Container, conditions: ContainerConditions) -> Result<(), Refusal> {
    let second = container.modified.seconds();
    let is_met = conditions.if_modified_since.is_none_or(|moment| second > moment.seconds())
        && conditions.if_unmodified_since.is_none_or(|moment| second <= moment.seconds());
    if is_met { Ok(()) } else { Err(Refusal::ConditionNotMet { is_not_modified: false }) }
}

fn existing(state: &dyn Read, id: &ContainerId) -> Result<Container, BlobError> {
    Ok(load(state, id)?.ok_or(Refusal::ContainerNotFound)?)
}

fn save(txn: &mut Txn<'_>, container: &Container) {
    txn.put(META, key(&container.id), record::write(container));
}

fn schedule_sweep(txn: &mut Txn<'_>, container: u32) {
    txn.put(META, Row::Sweep { container }.key(), Bytes::new());
}

fn key(id: &ContainerId) -> Bytes {
    Row::Container { account: id.account.as_str(), name: id.name.as_str() }.key()
}

fn deleted_key(id: &ContainerId, version: ContainerVersion) -> Bytes {
    let version: Ticks = version.0;
    Row::DeletedContainer { account: id.account.as_str(), name: id.name.as_str(), version }.key()
}
