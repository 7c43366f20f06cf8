//! The stored form of the catalog: JSON with a version, one row each (`docs/formats/catalog.md`).

use crate::definition::{ContainerDefinition, Throughput};
use crate::indexing::{Generations, Older};
use crate::model::{Container, Database, Offer, OfferTarget};
use crate::ranges::{Range, Ranges};
use bytes::Bytes;
use orrery_core::{ContainerRid, DatabaseName, DatabaseRid, ETag, OfferRid, Timestamp};
use orrery_keys::Epk;
use orrery_kv::Error;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

const VERSION: u32 = 1;

/// The last numbers assigned.
#[derive(Serialize, Deserialize)]
pub(crate) struct NumbersRecord {
    v: u32,
    pub databases: u32,
    pub containers: u32,
    pub offers: u32,
}

#[derive(Serialize, Deserialize)]
struct DatabaseRecord {
    v: u32,
    name: String,
    number: u32,
    etag: String,
    written_ms: u64,
    offer: Option<u32>,
}

#[derive(Serialize, Deserialize)]
struct ContainerRecord {
    v: u32,
    database: u32,
    database_name: String,
    number: u32,
    etag: String,
    written_ms: u64,
    offer: Option<u32>,
    definition: Map<String, Value>,
    ranges: Vec<RangeRecord>,
    ranges_next: u32,
    ranges_version: u32,
    index_generation: u8,
    index_older: Vec<GenerationRecord>,
}

/// Indexing that some items may still be stored under.
#[derive(Serialize, Deserialize)]
struct GenerationRecord {
    number: u8,
    policy: Value,
}

#[derive(Serialize, Deserialize)]
struct RangeRecord {
    id: u32,
    min: String,
    max: String,
    parents: Vec<u32>,
    since: u32,
}

#[derive(Serialize, Deserialize)]
struct OfferRecord {
    v: u32,
    number: u32,
    database: u32,
    container: Option<u32>,
    content: Value,
    etag: String,
    written_ms: u64,
    /// The historical maximum, if greater than the current value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    highest: Option<u64>,
}

fn write(record: &impl Serialize) -> Bytes {
    Bytes::from(serde_json::to_vec(record).expect("a record of names and numbers has a JSON form"))
}

/// The header of every record.
#[derive(Deserialize)]
struct Versioned {
    v: u32,
}

fn read<T: DeserializeOwned>(what: &str, bytes: &[u8]) -> Result<T, Error> {
    let damaged = |error| Error::Corrupt(format!("a {what} record: {error}"));
    let Versioned { v } = serde_json::from_slice(bytes).map_err(damaged)?;
    if v != VERSION {
        return Err(Error::Corrupt(format!("a {what} record has version {v}")));
    }
    serde_json::from_slice(bytes).map_err(damaged)
}

fn damaged(what: &str) -> Error {
    Error::Corrupt(format!("a {what} record holds what was never written"))
}

impl NumbersRecord {
    pub fn read(stored: Option<Bytes>) -> Result<Self, Error> {
        match stored {
            None => Ok(Self { v: VERSION, databases: 0, containers: 0, offers: 0 }),
            Some(bytes) => read("numbers", &bytes),
        }
    }

    pub fn write(&self) -> Bytes {
        write(self)
    }
}

pub(super) fn write_database(database: &Database) -> Bytes {
    write(&DatabaseRecord {
        v: VERSION,
        name: database.name.to_string(),
        number: database.rid.0,
        etag: database.etag.to_string(),
        written_ms: database.written.millis(),
        offer: database.offer.map(|offer| offer.0),
    })
}

pub(super) fn read_database(bytes: &[u8]) -> Result<Database, Error> {
    let record: DatabaseRecord = read("database", bytes)?;
    Ok(Database {
        name: DatabaseName::parse(&record.name).map_err(|_| damaged("database"))?,
        rid: DatabaseRid(record.number),
        etag: ETag::parse(&record.etag).ok_or_else(|| damaged("database"))?,
        written: Timestamp::from_millis(record.written_ms),
        offer: record.offer.map(OfferRid),
    })
}

pub(super) fn write_container(container: &Container) -> Bytes {
    let ranges = container.ranges().leaves().iter().map(|range| RangeRecord {
        id: range.id,
        min: range.min.to_string(),
        max: range.max.to_string(),
        parents: range.parents.clone(),
        since: range.since,
    });
    let older = container.generations().older().iter();
    let older = older.map(|older| GenerationRecord { number: older.number, policy: older.policy.clone() });
    write(&ContainerRecord {
        v: VERSION,
        database: container.rid().database.0,
        database_name: container.database().to_string(),
        number: container.number(),
        etag: container.etag().to_string(),
        written_ms: container.written().millis(),
        offer: container.offer().map(|offer| offer.0),
        definition: container.definition().to_json(),
        ranges: ranges.collect(),
        ranges_next: container.ranges().next_id(),
        ranges_version: container.ranges().version(),
        index_generation: container.generations().number(),
        index_older: older.collect(),
    })
}

pub(super) fn read_container(bytes: &[u8]) -> Result<Container, Error> {
    let record: ContainerRecord = read("container", bytes)?;
    let ranges = record.ranges.into_iter().map(read_range).collect::<Result<Vec<_>, _>>()?;
    let definition = ContainerDefinition::read(record.definition).map_err(|_| damaged("container"))?;
    let older = record.index_older.into_iter().map(|older| Older::new(older.number, older.policy));
    let older = older.collect::<Option<Vec<_>>>().ok_or_else(|| damaged("container"))?;
    let generations = Generations::new(record.index_generation, definition.indexing(), older);
    let container = Container::new(
        DatabaseName::parse(&record.database_name).map_err(|_| damaged("container"))?,
        ContainerRid::new(DatabaseRid(record.database), record.number),
        definition,
        Ranges::from_parts(ranges, record.ranges_next, record.ranges_version)
            .ok_or_else(|| damaged("container"))?,
        ETag::parse(&record.etag).ok_or_else(|| damaged("container"))?,
        Timestamp::from_millis(record.written_ms),
        record.offer.map(OfferRid),
    );
    Ok(container.indexed_by(generations))
}

fn read_range(record: RangeRecord) -> Result<Range, Error> {
    let epk = |hex: &str| Epk::parse(hex).map_err(|_| damaged("container"));
    Ok(Range {
        id: record.id,
        min: epk(&record.min)?,
        max: epk(&record.max)?,
        parents: record.parents,
        since: record.since,
    })
}

pub(super) fn write_offer(offer: &Offer) -> Bytes {
    let (database, container) = match offer.target {
        OfferTarget::Database(database) => (database.0, None),
        OfferTarget::Container(container) => (container.database.0, Some(container.number())),
    };
    write(&OfferRecord {
        v: VERSION,
        number: offer.rid.0,
        database,
        container,
        content: offer.throughput.to_offer_content(),
        etag: offer.etag.to_string(),
        written_ms: offer.written.millis(),
        highest: Some(offer.highest).filter(|highest| *highest > offer.throughput.most()),
    })
}

pub(super) fn read_offer(bytes: &[u8]) -> Result<Offer, Error> {
    let record: OfferRecord = read("offer", bytes)?;
    let database = DatabaseRid(record.database);
    let throughput = Throughput::from_offer_content(&record.content).map_err(|_| damaged("offer"))?;
    Ok(Offer {
        rid: OfferRid(record.number),
        target: match record.container {
            None => OfferTarget::Database(database),
            Some(number) => OfferTarget::Container(ContainerRid::new(database, number)),
        },
        throughput,
        highest: record.highest.unwrap_or(0).max(throughput.most()),
        etag: ETag::parse(&record.etag).ok_or_else(|| damaged("offer"))?,
        written: Timestamp::from_millis(record.written_ms),
    })
}
