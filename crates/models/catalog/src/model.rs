//! The catalog in memory, which every request reads before the store.

use super::record;
use crate::definition::{ContainerDefinition, PartitionKind, Throughput};
use crate::indexing::Generations;
use crate::ranges::Ranges;
use crate::row::{self, Row};
use crate::schema::{self, Schemas};
use bytes::Bytes;
use orrery_core::{ContainerRid, DatabaseName, DatabaseRid, ETag, OfferRid, Timestamp};
use orrery_keys::Hashing;
use orrery_kv::{Error, KeyRange, META, Order, Read};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct Database {
    pub name: DatabaseName,
    pub rid: DatabaseRid,
    pub etag: ETag,
    pub written: Timestamp,
    pub offer: Option<OfferRid>,
}

/// A container, with precomputed values that every response about its items contains.
#[derive(Clone, Debug)]
pub struct Container {
    database: DatabaseName,
    rid: ContainerRid,
    definition: ContainerDefinition,
    ranges: Ranges,
    etag: ETag,
    written: Timestamp,
    offer: Option<OfferRid>,
    hashing: Hashing,
    self_link: String,
    rid_text: String,
    path: String,
    alive_key: Bytes,
    generations: Generations,
    schemas: Option<Arc<Schemas>>,
}

#[derive(Clone, Debug)]
pub struct Offer {
    pub rid: OfferRid,
    pub target: OfferTarget,
    pub throughput: Throughput,
    /// The historical maximum.
    pub highest: u64,
    pub etag: ETag,
    pub written: Timestamp,
}

/// The owner of an offer's throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferTarget {
    Database(DatabaseRid),
    Container(ContainerRid),
}

impl Container {
    /// A container whose items are all indexed by its definition, in the first generation.
    pub(super) fn new(
        database: DatabaseName,
        rid: ContainerRid,
        definition: ContainerDefinition,
        ranges: Ranges,
        etag: ETag,
        written: Timestamp,
        offer: Option<OfferRid>,
    ) -> Self {
        let generations = Generations::new(0, definition.indexing(), Vec::new());
        let hashing = hashing(definition.partition_key().kind());
        let self_link = format!("dbs/{}/colls/{rid}/", rid.database);
        let path = format!("dbs/{database}/colls/{}", definition.name());
        Self {
            database,
            rid,
            definition,
            ranges,
            etag,
            written,
            offer,
            hashing,
            self_link,
            rid_text: rid.to_string(),
            path,
            alive_key: Row::Alive { container: rid.number() }.key(),
            generations,
            schemas: None,
        }
    }

    /// A copy with other indexing.
    pub(super) fn indexed_by(&self, generations: Generations) -> Self {
        Self { generations, ..self.clone() }
    }

    /// A copy with other schemas, or none.
    pub(crate) fn with_schemas(self, schemas: Option<Arc<Schemas>>) -> Self {
        Self { schemas, ..self }
    }

    /// A copy with another definition, ranges or version.
    pub(super) fn changed(
        &self,
        definition: ContainerDefinition,
        ranges: Ranges,
        etag: ETag,
        written: Timestamp,
    ) -> Self {
        Self { definition, ranges, etag, written, ..self.clone() }
    }

    pub fn database(&self) -> &DatabaseName {
        &self.database
    }

    pub fn rid(&self) -> ContainerRid {
        self.rid
    }

    pub fn rid_text(&self) -> &str {
        &self.rid_text
    }

    /// The number that prefixes its rows' keys.
    pub fn number(&self) -> u32 {
        self.rid.number()
    }

    pub fn definition(&self) -> &ContainerDefinition {
        &self.definition
    }

    pub fn ranges(&self) -> &Ranges {
        &self.ranges
    }

    pub fn etag(&self) -> ETag {
        self.etag
    }

    pub fn written(&self) -> Timestamp {
        self.written
    }

    pub fn offer(&self) -> Option<OfferRid> {
        self.offer
    }

    pub fn hashing(&self) -> Hashing {
        self.hashing
    }

    /// `dbs/<name>/colls/<name>`
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The key of the row that exists as long as the container.
    pub fn alive_key(&self) -> &Bytes {
        &self.alive_key
    }

    /// The value of that row: it refuses writes prepared under other indexing or another schema.
    pub fn alive_value(&self) -> Bytes {
        let mut value = vec![self.generations.number()];
        value.extend(self.schemas.iter().flat_map(|schemas| schemas.mark().to_be_bytes()));
        Bytes::from(value)
    }

    /// Its schemas, if any.
    pub fn schemas(&self) -> Option<&Arc<Schemas>> {
        self.schemas.as_ref()
    }

    pub fn generations(&self) -> &Generations {
        &self.generations
    }

    /// `dbs/<rid>/colls/<rid>/`
    pub fn self_link(&self) -> &str {
        &self.self_link
    }
}

pub(super) fn hashing(kind: PartitionKind) -> Hashing {
    match kind {
        PartitionKind::HashV1 => Hashing::HashV1,
        PartitionKind::HashV2 => Hashing::HashV2,
        PartitionKind::MultiHash => Hashing::MultiHash,
    }
}

/// An immutable snapshot of the catalog.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    databases: BTreeMap<String, Arc<Database>>,
    containers: BTreeMap<u32, BTreeMap<String, Arc<Container>>>,
    offers: BTreeMap<u32, Arc<Offer>>,
    /// The rows it was built from, so that a refresh reads only changes.
    rows: HashMap<Bytes, (Bytes, Entry)>,
    schemas: schema::Picture,
}

#[derive(Clone, Debug)]
enum Entry {
    Database(Arc<Database>),
    Container(Arc<Container>),
    Offer(Arc<Offer>),
}

impl Entry {
    /// A container with its current schemas; shared with this snapshot if they are the same.
    fn with_schemas(self, schemas: &schema::Picture) -> Self {
        let Self::Container(container) = &self else { return self };
        let now = schemas.of(container.number());
        if container.schemas.as_ref().map(Arc::as_ptr) == now.map(Arc::as_ptr) {
            return self;
        }
        Self::Container(Arc::new(Container::clone(container).with_schemas(now.cloned())))
    }
}

impl Catalog {
    /// Builds the catalog of `state`, reusing unchanged parts of `self`.
    pub fn refreshed(&self, state: &dyn Read) -> Result<Self, Error> {
        let schemas = self.schemas.refreshed(state)?;
        let mut next = Self::default();
        let mut take = |range: KeyRange, read: fn(&[u8]) -> Result<Entry, Error>| {
            for row in state.range(META, &range, Order::Ascending) {
                let (key, value) = row?;
                let entry = match self.rows.get(&key) {
                    Some((same, entry)) if *same == value => entry.clone(),
                    _ => read(&value)?,
                }
                .with_schemas(&schemas);
                next.add(entry.clone());
                next.rows.insert(key, (value, entry));
            }
            Ok::<(), Error>(())
        };
        take(row::databases(), |bytes| Ok(Entry::Database(Arc::new(record::read_database(bytes)?))))?;
        take(row::containers(), |bytes| Ok(Entry::Container(Arc::new(record::read_container(bytes)?))))?;
        take(row::offers(), |bytes| Ok(Entry::Offer(Arc::new(record::read_offer(bytes)?))))?;
        next.schemas = schemas;
        Ok(next)
    }

    fn add(&mut self, entry: Entry) {
        match entry {
            Entry::Database(database) => drop(self.databases.insert(database.name.to_string(), database)),
            Entry::Container(container) => {
                let siblings = self.containers.entry(container.rid.database.0).or_default();
                siblings.insert(container.definition.name().to_string(), container);
            }
            Entry::Offer(offer) => drop(self.offers.insert(offer.rid.0, offer)),
        }
    }

    pub fn databases(&self) -> impl Iterator<Item = &Arc<Database>> {
        self.databases.values()
    }

    /// By name, or by resource id as text.
    pub fn database(&self, name_or_rid: &str) -> Option<&Arc<Database>> {
        let by_rid = || {
            let rid = DatabaseRid::parse(name_or_rid).ok()?;
            self.databases.values().find(|database| database.rid == rid)
        };
        self.databases.get(name_or_rid).or_else(by_rid)
    }

    pub fn containers(&self, database: DatabaseRid) -> impl Iterator<Item = &Arc<Container>> {
        self.containers.get(&database.0).into_iter().flat_map(BTreeMap::values)
    }

    pub fn all_containers(&self) -> impl Iterator<Item = &Arc<Container>> {
        self.containers.values().flat_map(BTreeMap::values)
    }

    /// By name, or by resource id as text.
    pub fn container(&self, database: DatabaseRid, name_or_rid: &str) -> Option<&Arc<Container>> {
        let siblings = self.containers.get(&database.0)?;
        let by_rid = || {
            let rid = ContainerRid::parse(name_or_rid).ok()?;
            siblings.values().find(|container| container.rid == rid)
        };
        siblings.get(name_or_rid).or_else(by_rid)
    }

    pub fn container_by_number(&self, number: u32) -> Option<&Arc<Container>> {
        self.all_containers().find(|container| container.number() == number)
    }

    pub fn offers(&self) -> impl Iterator<Item = &Arc<Offer>> {
        self.offers.values()
    }

    /// By resource id as text.
    pub fn offer(&self, rid: &str) -> Option<&Arc<Offer>> {
        self.offers.values().find(|offer| offer.rid.to_string() == rid)
    }
}
