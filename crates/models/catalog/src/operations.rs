//! Catalog changes. All run in the catalog's one scope, so they are serialized.

use super::model::{self, Container, Database, Offer, OfferTarget};
use super::record::{self, NumbersRecord};
use crate::definition::{ContainerDefinition, DefinitionError, Throughput};
use crate::jobs::JobKind;
use crate::limits;
use crate::precondition::{Preconditions, Verdict};
use crate::ranges::Ranges;
use crate::row::{self, Row};
use crate::{Stamp, jobs, schema, subresources};
use bytes::Bytes;
use orrery_core::{ContainerRid, DatabaseName, DatabaseRid, ETag, OfferRid};
use orrery_kv::{Error, META, Order, Read, Txn};
use serde_json::{Map, Value};

#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    #[error("Resource with specified id, name, or unique index already exists.")]
    Exists,
    #[error("the database does not exist")]
    DatabaseMissing,
    #[error("the container does not exist")]
    ContainerMissing,
    #[error("the offer does not exist")]
    OfferMissing,
    #[error("One of the specified pre-condition is not met")]
    Changed,
    #[error("the account holds as many databases or containers as it may; delete one first")]
    TooMany,
    #[error(
        "The indexing policy was changed too often while the container is being indexed; wait until that is done."
    )]
    StillIndexing,
    #[error("the offer names another resource than the one it belongs to")]
    OfferMoved,
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    #[error(transparent)]
    Store(#[from] Error),
}

pub fn create_database(
    txn: &mut Txn<'_>,
    name: &DatabaseName,
    throughput: Option<&Throughput>,
    stamp: Stamp,
) -> Result<Database, CatalogError> {
    if find_database(txn, name.as_str())?.is_some() {
        return Err(CatalogError::Exists);
    }
    if count(txn, &row::databases(), limits::DATABASES_MAX)? {
        return Err(CatalogError::TooMany);
    }
    let rid = DatabaseRid(next_number(txn, |numbers| &mut numbers.databases)?);
    let offer = throughput
        .map(|throughput| put_offer(txn, OfferTarget::Database(rid), throughput, stamp))
        .transpose()?;
    let database = Database { name: name.clone(), rid, etag: stamp.etag, written: stamp.now, offer };
    put(txn, Row::Database { name: name.as_str() }, record::write_database(&database));
    Ok(database)
}

/// Deletes the database with its contents; a job removes the items' rows later.
pub fn delete_database(txn: &mut Txn<'_>, name: &str, conditions: Preconditions) -> Result<(), CatalogError> {
    let database = find_database(txn, name)?.ok_or(CatalogError::DatabaseMissing)?;
    check(&conditions, database.etag)?;
    txn.frees();
    for container in containers_of(txn, database.rid)? {
        drop_container(txn, &container);
    }
    drop_offer(txn, database.offer);
    subresources::schedule_database(txn, database.rid)?;
    remove(txn, Row::Database { name });
    Ok(())
}

pub fn create_container(
    txn: &mut Txn<'_>,
    database: &str,
    definition: &ContainerDefinition,
    throughput: Option<&Throughput>,
    stamp: Stamp,
) -> Result<Container, CatalogError> {
    put_new_container(txn, database, definition, |database| own_throughput(database, throughput), stamp)
}

/// A container of a serverless account: it has no offer, whatever its database has.
pub fn create_serverless_container(
    txn: &mut Txn<'_>,
    database: &str,
    definition: &ContainerDefinition,
    stamp: Stamp,
) -> Result<Container, CatalogError> {
    put_new_container(txn, database, definition, |_| None, stamp)
}

fn put_new_container(
    txn: &mut Txn<'_>,
    database: &str,
    definition: &ContainerDefinition,
    throughput: impl FnOnce(&Database) -> Option<Throughput>,
    stamp: Stamp,
) -> Result<Container, CatalogError> {
    let database = find_database(txn, database)?.ok_or(CatalogError::DatabaseMissing)?;
    let name = definition.name();
    if find_container(txn, database.rid, name.as_str())?.is_some() {
        return Err(CatalogError::Exists);
    }
    if count(txn, &row::containers_of(database.rid.0), limits::CONTAINERS_MAX)? {
        return Err(CatalogError::TooMany);
    }
    let rid = ContainerRid::new(database.rid, next_number(txn, |numbers| &mut numbers.containers)?);
    let own = throughput(&database);
    let offer =
        own.as_ref().map(|own| put_offer(txn, OfferTarget::Container(rid), own, stamp)).transpose()?;
    let hashing = model::hashing(definition.partition_key().kind());
    let ranges = Ranges::even(hashing, own.as_ref().map_or(1, Throughput::ranges));
    let container =
        Container::new(database.name.clone(), rid, definition.clone(), ranges, stamp.etag, stamp.now, offer);
    put_container(txn, &container);
    put(txn, Row::Alive { container: rid.number() }, container.alive_value());
    Ok(container)
}

/// The default throughput: a share of the database's, else the minimum.
fn own_throughput(database: &Database, asked: Option<&Throughput>) -> Option<Throughput> {
    match (asked, database.offer) {
        (Some(asked), _) => Some(*asked),
        (None, Some(_)) => None,
        (None, None) => Some(Throughput::Manual(limits::THROUGHPUT_MANUAL_MIN)),
    }
}

pub fn replace_container(
    txn: &mut Txn<'_>,
    database: &str,
    name: &str,
    body: Map<String, Value>,
    conditions: Preconditions,
    stamp: Stamp,
) -> Result<Container, CatalogError> {
    let container = load_container(txn, database, name)?;
    check(&conditions, container.etag())?;
    let definition = container.definition().replaced_by(body)?;
    let ttl_changed = definition.default_ttl() != container.definition().default_ttl();
    let indexed = reindexed(&container, &definition)?;
    let changed = indexed.changed(definition, container.ranges().clone(), stamp.etag, stamp.now);
    put_container(txn, &changed);
    if changed.generations().number() != container.generations().number() {
        put(txn, Row::Alive { container: changed.number() }, changed.alive_value());
        jobs::schedule_index(txn, changed.number(), changed.generations().number());
    }
    if ttl_changed && changed.definition().default_ttl().is_some() {
        jobs::schedule_expiry(txn, changed.number());
    }
    Ok(changed)
}

/// The container with another definition's indexing; its items still have to be re-indexed.
fn reindexed(container: &Container, next: &ContainerDefinition) -> Result<Container, CatalogError> {
    let shown = container.definition().to_json().remove("indexingPolicy").unwrap_or_default();
    let generations = container.generations().followed_by(next.indexing(), shown);
    Ok(container.indexed_by(generations.ok_or(CatalogError::StillIndexing)?))
}

/// Called when every item has been indexed under the container's newest generation.
pub fn settle_container(txn: &mut Txn<'_>, container: &Container) -> Result<(), CatalogError> {
    let name = container.definition().name().as_str();
    let stored = find_container(txn, container.rid().database, name)?;
    let is_same = |stored: &Container| {
        stored.rid() == container.rid() && stored.generations().number() == container.generations().number()
    };
    if let Some(stored) = stored.filter(is_same) {
        put_container(txn, &stored.indexed_by(stored.generations().settled()));
        jobs::forget(txn, JobKind::Index, container.number());
    }
    Ok(())
}

pub fn delete_container(
    txn: &mut Txn<'_>,
    database: &str,
    name: &str,
    conditions: Preconditions,
) -> Result<(), CatalogError> {
    let container = load_container(txn, database, name)?;
    check(&conditions, container.etag())?;
    txn.frees();
    drop_container(txn, &container);
    Ok(())
}

/// Changes a throughput; if it exceeds what the container's ranges serve, some are split.
pub fn replace_offer(
    txn: &mut Txn<'_>,
    rid: OfferRid,
    throughput: &Throughput,
    conditions: Preconditions,
    stamp: Stamp,
) -> Result<Offer, CatalogError> {
    let stored = txn.get(META, &Row::Offer { number: rid.0 }.key())?.ok_or(CatalogError::OfferMissing)?;
    let offer = record::read_offer(&stored)?;
    check(&conditions, offer.etag)?;
    throughput.check_after(offer.highest)?;
    let highest = offer.highest.max(throughput.most());
    let changed = Offer { throughput: *throughput, highest, etag: stamp.etag, written: stamp.now, ..offer };
    put(txn, Row::Offer { number: rid.0 }, record::write_offer(&changed));
    if let OfferTarget::Container(container) = changed.target {
        grow(txn, container, throughput.ranges())?;
    }
    Ok(changed)
}

fn grow(txn: &mut Txn<'_>, rid: ContainerRid, ranges: usize) -> Result<(), CatalogError> {
    let siblings = containers_of(txn, rid.database)?;
    let container = siblings
        .into_iter()
        .find(|container| container.rid() == rid)
        .ok_or(CatalogError::ContainerMissing)?;
    let grown = container.ranges().grown(container.hashing(), ranges);
    if grown != *container.ranges() {
        let definition = container.definition().clone();
        put_container(txn, &container.changed(definition, grown, container.etag(), container.written()));
    }
    Ok(())
}

pub(crate) fn load_container(txn: &Txn<'_>, database: &str, name: &str) -> Result<Container, CatalogError> {
    let database = find_database(txn, database)?.ok_or(CatalogError::DatabaseMissing)?;
    find_container(txn, database.rid, name)?.ok_or(CatalogError::ContainerMissing)
}

pub(crate) fn find_database(state: &dyn Read, name: &str) -> Result<Option<Database>, Error> {
    let stored = state.get(META, &Row::Database { name }.key())?;
    stored.map(|bytes| record::read_database(&bytes)).transpose()
}

fn find_container(txn: &Txn<'_>, database: DatabaseRid, name: &str) -> Result<Option<Container>, Error> {
    let stored = txn.get(META, &Row::Container { database: database.0, name }.key())?;
    let Some(container) = stored.map(|bytes| record::read_container(&bytes)).transpose()? else {
        return Ok(None);
    };
    let schemas = schema::stored(txn, container.number())?;
    Ok(Some(container.with_schemas(schemas)))
}

fn containers_of(txn: &Txn<'_>, database: DatabaseRid) -> Result<Vec<Container>, Error> {
    let rows = txn.range(META, &row::containers_of(database.0), Order::Ascending);
    rows.map(|row| record::read_container(&row?.1)).collect()
}

/// Whether a range contains at least `max` rows.
fn count(txn: &Txn<'_>, range: &orrery_kv::KeyRange, max: usize) -> Result<bool, Error> {
    let rows = txn.range(META, range, Order::Ascending).take(max);
    Ok(rows.collect::<Result<Vec<_>, _>>()?.len() >= max)
}

pub(crate) fn next_number(
    txn: &mut Txn<'_>,
    which: fn(&mut NumbersRecord) -> &mut u32,
) -> Result<u32, Error> {
    let mut numbers = NumbersRecord::read(txn.get(META, &Row::Numbers.key())?)?;
    let number = which(&mut numbers);
    *number += 1;
    let given = *number;
    put(txn, Row::Numbers, numbers.write());
    Ok(given)
}

fn put_container(txn: &mut Txn<'_>, container: &Container) {
    let row =
        Row::Container { database: container.rid().database.0, name: container.definition().name().as_str() };
    put(txn, row, record::write_container(container));
}

fn drop_container(txn: &mut Txn<'_>, container: &Container) {
    let (database, name) = (container.rid().database.0, container.definition().name());
    remove(txn, Row::Container { database, name: name.as_str() });
    remove(txn, Row::Alive { container: container.number() });
    remove(txn, Row::Schema { container: container.number() });
    drop_offer(txn, container.offer());
    jobs::schedule_sweep(txn, container.number());
}

fn put_offer(
    txn: &mut Txn<'_>,
    target: OfferTarget,
    throughput: &Throughput,
    stamp: Stamp,
) -> Result<OfferRid, Error> {
    let rid = OfferRid(next_number(txn, |numbers| &mut numbers.offers)?);
    let highest = throughput.most();
    let offer = Offer { rid, target, throughput: *throughput, highest, etag: stamp.etag, written: stamp.now };
    put(txn, Row::Offer { number: rid.0 }, record::write_offer(&offer));
    Ok(rid)
}

fn drop_offer(txn: &mut Txn<'_>, offer: Option<OfferRid>) {
    if let Some(OfferRid(number)) = offer {
        remove(txn, Row::Offer { number });
    }
}

fn check(conditions: &Preconditions, etag: ETag) -> Result<(), CatalogError> {
    if conditions.check(etag) == Verdict::Holds { Ok(()) } else { Err(CatalogError::Changed) }
}

fn put(txn: &mut Txn<'_>, row: Row<'_>, value: Bytes) {
    txn.put(row.space(), row.key(), value);
}

fn remove(txn: &mut Txn<'_>, row: Row<'_>) {
    txn.delete(row.space(), row.key());
}
