//! Every key this model stores, in one enum; `base/keys` turns it into bytes that sort as it does.

use bytes::Bytes;
use orrery_keys::{KeyBuf, KeyReader};
use orrery_kv::{KeyRange, Space};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row<'a> {
    /// The last numbers given to databases, containers and offers.
    Numbers,
    Database {
        name: &'a str,
    },
    Container {
        database: u32,
        name: &'a str,
    },
    /// There while the container is; what writes of its items depend on.
    Alive {
        container: u32,
    },
    Offer {
        number: u32,
    },
    /// Written after a failed commit, to learn whether the disk takes writes again.
    Probe,
    /// Background work on a container.
    Job {
        kind: JobKind,
        container: u32,
    },
    Item {
        container: u32,
        epk: &'a [u8],
        id: &'a str,
    },
    /// The item of a partition that has these values at the paths of a unique key.
    Unique {
        container: u32,
        epk: &'a [u8],
        key: u8,
        values: &'a [u8],
    },
    /// How much a logical partition holds.
    Partition {
        container: u32,
        epk: &'a [u8],
    },
    /// An item that expires at this second, if it is not written before.
    Expiry {
        container: u32,
        at: u64,
        epk: &'a [u8],
        id: &'a str,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobKind {
    /// Remove every row of a dropped container.
    Sweep = 1,
    /// Enter every item into the expiry rows, because the container's TTL changed.
    Expiry = 2,
}

const NUMBERS: u8 = 1;
const DATABASE: u8 = 2;
const CONTAINER: u8 = 3;
const ALIVE: u8 = 4;
const OFFER: u8 = 5;
const JOB: u8 = 6;
const PROBE: u8 = 7;
const UNIQUE: u8 = 1;
const EXPIRY: u8 = 2;
const PARTITION: u8 = 3;

impl Row<'_> {
    pub fn space(&self) -> Space {
        match self {
            Row::Item { .. } => Space::Documents,
            Row::Unique { .. } | Row::Expiry { .. } | Row::Partition { .. } => Space::Index,
            _ => Space::Meta,
        }
    }

    pub fn key(&self) -> Bytes {
        let key = match *self {
            Row::Numbers => KeyBuf::new().u8(NUMBERS),
            Row::Database { name } => KeyBuf::new().u8(DATABASE).raw(name.as_bytes()),
            Row::Container { database, name } => {
                KeyBuf::new().u8(CONTAINER).u32(database).raw(name.as_bytes())
            }
            Row::Alive { container } => KeyBuf::new().u8(ALIVE).u32(container),
            Row::Probe => KeyBuf::new().u8(PROBE),
            Row::Offer { number } => KeyBuf::new().u8(OFFER).u32(number),
            Row::Job { kind, container } => KeyBuf::new().u8(JOB).u8(kind as u8).u32(container),
            Row::Item { container, epk, id } => {
                let size = 4 + epk.len() + 8 + id.len();
                KeyBuf::with_capacity(size).u32(container).bytes(epk).raw(id.as_bytes())
            }
            Row::Unique { container, epk, key, values } => {
                KeyBuf::new().u32(container).u8(UNIQUE).bytes(epk).u8(key).raw(values)
            }
            Row::Partition { container, epk } => {
                KeyBuf::with_capacity(5 + epk.len()).u32(container).u8(PARTITION).raw(epk)
            }
            Row::Expiry { container, at, epk, id } => {
                KeyBuf::new().u32(container).u8(EXPIRY).u64(at).bytes(epk).raw(id.as_bytes())
            }
        };
        Bytes::from(key.finish())
    }
}

/// The stream of a container in the log.
pub fn stream(container: u32) -> u64 {
    u64::from(container)
}

pub fn databases() -> KeyRange {
    KeyRange::prefix(&[DATABASE])
}

pub fn containers() -> KeyRange {
    KeyRange::prefix(&[CONTAINER])
}

pub fn containers_of(database: u32) -> KeyRange {
    KeyRange::prefix(&KeyBuf::new().u8(CONTAINER).u32(database).finish())
}

pub fn offers() -> KeyRange {
    KeyRange::prefix(&[OFFER])
}

pub fn jobs() -> KeyRange {
    KeyRange::prefix(&[JOB])
}

/// Every row of a container in the spaces `documents` and `index`.
pub fn of_container(container: u32) -> KeyRange {
    KeyRange::prefix(&KeyBuf::new().u32(container).finish())
}

/// The items of one logical partition.
pub fn items_of_partition(container: u32, epk: &[u8]) -> KeyRange {
    KeyRange::prefix(&KeyBuf::new().u32(container).bytes(epk).finish())
}

/// The items whose effective partition key is in `[min, max)`.
pub fn items_between(container: u32, min: &[u8], max: &[u8]) -> KeyRange {
    let bound = |epk: &[u8]| KeyBuf::new().u32(container).open_bytes(epk).finish();
    KeyRange::new(bound(min), bound(max))
}

/// The expiry rows of a container up to and including the second `at`.
pub fn expiring(container: u32, at: u64) -> KeyRange {
    let from = KeyBuf::new().u32(container).u8(EXPIRY).finish();
    let to = KeyBuf::new().u32(container).u8(EXPIRY).u64(at.saturating_add(1)).finish();
    KeyRange::new(from, to)
}

/// The partition key and id of an item's key; `None` if it is no such key.
pub fn read_item(key: &[u8]) -> Option<(Vec<u8>, String)> {
    let mut reader = KeyReader::new(key);
    reader.u32().ok()?;
    let epk = reader.bytes().ok()?.into_owned();
    Some((epk, String::from_utf8(reader.raw().to_vec()).ok()?))
}

/// The second, partition key and id of an expiry row's key.
pub fn read_expiry(key: &[u8]) -> Option<(u64, Vec<u8>, String)> {
    let mut reader = KeyReader::new(key);
    reader.u32().ok()?;
    reader.u8().ok().filter(|tag| *tag == EXPIRY)?;
    let at = reader.u64().ok()?;
    let epk = reader.bytes().ok()?.into_owned();
    Some((at, epk, String::from_utf8(reader.raw().to_vec()).ok()?))
}

/// The kind and container of a job's key.
pub fn read_job(key: &[u8]) -> Option<(JobKind, u32)> {
    let mut reader = KeyReader::new(key);
    reader.u8().ok().filter(|tag| *tag == JOB)?;
    let kind = match reader.u8().ok()? {
        1 => JobKind::Sweep,
        2 => JobKind::Expiry,
        _ => return None,
    };
    Some((kind, reader.u32().ok()?))
}
