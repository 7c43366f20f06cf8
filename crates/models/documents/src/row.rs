//! Every key this model stores, in one enum; `base/keys` turns it into bytes that sort as it does.

use crate::metering::Owner;
use bytes::Bytes;
use orrery_core::Lsn;
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
    /// A user, a permission, a script or a client encryption key.
    Child {
        kind: u8,
        owner: u32,
        name: &'a str,
    },
    /// The name of the child with this number.
    ChildPlace {
        kind: u8,
        owner: u32,
        ordinal: u64,
    },
    /// How many children of a kind an owner has, and the last number that one was given.
    ChildCount {
        kind: u8,
        owner: u32,
    },
    /// What the items of a container must look like.
    Schema {
        container: u32,
    },
    /// A role that was defined here.
    RoleDefinition {
        id: &'a str,
    },
    /// A role given to somebody.
    RoleAssignment {
        id: &'a str,
    },
    /// A partition whose items are being removed.
    Purge {
        container: u32,
        epk: &'a [u8],
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
    /// Where the item of this number is, and under which generation of the policy it is indexed.
    Place {
        container: u32,
        ordinal: u64,
    },
    /// An item that has this term, among all of the container.
    Entry {
        container: u32,
        term: &'a [u8],
        ordinal: u64,
        epk: &'a [u8],
    },
    /// An item that has this term, among those of its partition.
    LocalEntry {
        container: u32,
        epk: &'a [u8],
        term: &'a [u8],
        ordinal: u64,
    },
    /// How many items of a container have each path; of one partition if it is a large one.
    Tally {
        container: u32,
        epk: Option<&'a [u8]>,
    },
    /// The commit that replaced or removed what an item was since the commit `lsn`.
    Successor {
        container: u32,
        lsn: Lsn,
        /// The item's key without the container's number.
        item: &'a [u8],
    },
    /// What somebody used in an hour.
    Metered {
        hour: u32,
        owner: Owner,
    },
    /// Up to which commit the log of a container has lost what the newest versions do not need.
    Trimmed {
        container: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobKind {
    /// Remove every row of a dropped container.
    Sweep = 1,
    /// Enter every item into the expiry rows, because the container's TTL changed.
    Expiry = 2,
    /// Enter every item into the indexes that a new policy asks for.
    Index = 3,
    /// Remove the users and client encryption keys of a dropped database; the number is the database's.
    Database = 4,
    /// Remove the permissions of a dropped user; the number is the user's.
    User = 5,
}

const NUMBERS: u8 = 1;
const DATABASE: u8 = 2;
const CONTAINER: u8 = 3;
const ALIVE: u8 = 4;
const OFFER: u8 = 5;
const JOB: u8 = 6;
const PROBE: u8 = 7;
const METERED_CONTAINER: u8 = 1;
const METERED_DATABASE: u8 = 2;
const CHILD: u8 = 8;
const CHILD_PLACE: u8 = 9;
const CHILD_COUNT: u8 = 10;
const ROLE_DEFINITION: u8 = 11;
const ROLE_ASSIGNMENT: u8 = 12;
const PURGE: u8 = 13;
const SCHEMA: u8 = 14;
const METERED: u8 = 15;
const TRIMMED: u8 = 16;
pub(crate) const UNIQUE: u8 = 1;
pub(crate) const EXPIRY: u8 = 2;
pub(crate) const PARTITION: u8 = 3;
pub(crate) const PLACE: u8 = 4;
pub(crate) const ENTRY: u8 = 5;
pub(crate) const LOCAL_ENTRY: u8 = 6;
pub(crate) const TALLY: u8 = 7;
pub(crate) const SUCCESSOR: u8 = 8;

/// How much of an item's effective partition key stands in its entries: enough to tell most ranges apart.
const EPK_PREFIX_BYTES: usize = 4;
const ORDINAL_BYTES: usize = 8;
const PLACE_KEY_BYTES: usize = 4 + 1 + ORDINAL_BYTES;

impl Row<'_> {
    pub fn space(&self) -> Space {
        match self {
            Row::Item { .. } => Space::Documents,
            Row::Unique { .. } | Row::Expiry { .. } | Row::Partition { .. } => Space::Index,
            Row::Place { .. } | Row::Entry { .. } | Row::LocalEntry { .. } | Row::Tally { .. } => {
                Space::Index
            }
            Row::Successor { .. } => Space::Index,
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
            Row::Child { kind, owner, name } => {
                KeyBuf::new().u8(CHILD).u8(kind).u32(owner).raw(name.as_bytes())
            }
            Row::ChildPlace { kind, owner, ordinal } => {
                KeyBuf::new().u8(CHILD_PLACE).u8(kind).u32(owner).u64(ordinal)
            }
            Row::ChildCount { kind, owner } => KeyBuf::new().u8(CHILD_COUNT).u8(kind).u32(owner),
            Row::RoleDefinition { id } => KeyBuf::new().u8(ROLE_DEFINITION).raw(id.as_bytes()),
            Row::RoleAssignment { id } => KeyBuf::new().u8(ROLE_ASSIGNMENT).raw(id.as_bytes()),
            Row::Purge { container, epk } => KeyBuf::new().u8(PURGE).u32(container).raw(epk),
            Row::Item { container, epk, id } => {
                // One that is just as large needs no memory beside the key's own.
                let size = 4 + epk.len() + 2 + id.len();
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
            Row::Place { container, ordinal } => {
                KeyBuf::with_capacity(PLACE_KEY_BYTES).raw(&place_key(container, ordinal))
            }
            Row::Entry { container, term, ordinal, epk } => {
                entry(KeyBuf::with_capacity(17 + term.len()), container, term, ordinal, epk)
            }
            Row::LocalEntry { container, epk, term, ordinal } => {
                let key = KeyBuf::with_capacity(20 + epk.len() + term.len());
                local_entry(key, container, epk, term, ordinal)
            }
            Row::Tally { container, epk } => {
                KeyBuf::new().u32(container).u8(TALLY).raw(epk.unwrap_or_default())
            }
            Row::Successor { container, lsn, item } => {
                KeyBuf::with_capacity(13 + item.len()).u32(container).u8(SUCCESSOR).u64(lsn.0).raw(item)
            }
            Row::Schema { container } => KeyBuf::new().u8(SCHEMA).u32(container),
            Row::Metered { hour, owner } => {
                let (kind, number) = match owner {
                    Owner::Container(number) => (METERED_CONTAINER, number),
                    Owner::Database(number) => (METERED_DATABASE, number),
                };
                KeyBuf::new().u8(METERED).u32(hour).u8(kind).u32(number)
            }
            Row::Trimmed { container } => KeyBuf::new().u8(TRIMMED).u32(container),
        };
        Bytes::from(key.finish())
    }
}

/// The key of a place row.
pub fn place_key(container: u32, ordinal: u64) -> [u8; PLACE_KEY_BYTES] {
    let mut key = [PLACE; PLACE_KEY_BYTES];
    key[..4].copy_from_slice(&container.to_be_bytes());
    key[5..].copy_from_slice(&ordinal.to_be_bytes());
    key
}

/// Appends the key of an entry: an item has many, and they are made in one piece of memory.
pub fn entry(to: KeyBuf, container: u32, term: &[u8], ordinal: u64, epk: &[u8]) -> KeyBuf {
    to.u32(container).u8(ENTRY).raw(term).u64(ordinal).raw(&epk_prefix(epk))
}

/// The same of an entry in its partition.
pub fn local_entry(to: KeyBuf, container: u32, epk: &[u8], term: &[u8], ordinal: u64) -> KeyBuf {
    to.u32(container).u8(LOCAL_ENTRY).bytes(epk).raw(term).u64(ordinal)
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

/// The children of one kind that an owner has, by name.
pub fn children(kind: u8, owner: u32) -> KeyRange {
    KeyRange::prefix(&KeyBuf::new().u8(CHILD).u8(kind).u32(owner).finish())
}

/// The numbers of the children of one kind that an owner has.
pub fn child_places(kind: u8, owner: u32) -> KeyRange {
    KeyRange::prefix(&KeyBuf::new().u8(CHILD_PLACE).u8(kind).u32(owner).finish())
}

/// The name of a child, of its row's key.
pub fn read_child(key: &[u8]) -> Option<&str> {
    const HEAD_BYTES: usize = 6;
    std::str::from_utf8(key.get(HEAD_BYTES..)?).ok()
}

pub fn role_definitions() -> KeyRange {
    KeyRange::prefix(&[ROLE_DEFINITION])
}

pub fn role_assignments() -> KeyRange {
    KeyRange::prefix(&[ROLE_ASSIGNMENT])
}

/// The schemas of all containers.
pub fn schemas() -> KeyRange {
    KeyRange::prefix(&[SCHEMA])
}

/// The container of a schema's key.
pub fn read_schema(key: &[u8]) -> Option<u32> {
    let mut reader = KeyReader::new(key);
    reader.u8().ok().filter(|tag| *tag == SCHEMA)?;
    reader.u32().ok()
}

/// What was used from one hour on and before another.
pub fn metered(from: u32, to: u32) -> KeyRange {
    let bound = |hour: u32| KeyBuf::new().u8(METERED).u32(hour).finish();
    KeyRange::new(bound(from), bound(to))
}

/// The hour and the owner of a row of measured use.
pub fn read_metered(key: &[u8]) -> Option<(u32, Owner)> {
    let mut reader = KeyReader::new(key);
    reader.u8().ok().filter(|tag| *tag == METERED)?;
    let hour = reader.u32().ok()?;
    let kind = reader.u8().ok()?;
    let number = reader.u32().ok()?;
    match kind {
        METERED_CONTAINER => Some((hour, Owner::Container(number))),
        METERED_DATABASE => Some((hour, Owner::Database(number))),
        _ => None,
    }
}

pub fn jobs() -> KeyRange {
    KeyRange::prefix(&[JOB])
}

pub fn purges() -> KeyRange {
    KeyRange::prefix(&[PURGE])
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

/// Every place row of a container, from this number on.
pub fn places_from(container: u32, ordinal: u64) -> KeyRange {
    let end = KeyRange::prefix(&KeyBuf::new().u32(container).u8(PLACE).finish()).end;
    KeyRange { start: KeyBuf::new().u32(container).u8(PLACE).u64(ordinal).finish(), end }
}

/// What the keys of a container's entries begin with.
pub fn entries_of(container: u32) -> Vec<u8> {
    KeyBuf::new().u32(container).u8(ENTRY).finish()
}

/// What the keys of a partition's own entries begin with.
pub fn local_entries_of(container: u32, epk: &[u8]) -> Vec<u8> {
    KeyBuf::new().u32(container).u8(LOCAL_ENTRY).bytes(epk).finish()
}

/// The beginning of an effective partition key, as an entry has it.
pub fn epk_prefix(epk: &[u8]) -> [u8; EPK_PREFIX_BYTES] {
    std::array::from_fn(|at| epk.get(at).copied().unwrap_or(0))
}

/// The number of an entry's item, and the beginning of its effective partition key.
pub fn read_entry(key: &[u8]) -> Option<(u64, [u8; EPK_PREFIX_BYTES])> {
    let (rest, prefix) = key.split_last_chunk()?;
    let (_, ordinal) = rest.split_last_chunk()?;
    Some((u64::from_be_bytes(*ordinal), *prefix))
}

/// The number of the item of a partition's own entry.
pub fn read_local_entry(key: &[u8]) -> Option<u64> {
    key.split_last_chunk::<ORDINAL_BYTES>().map(|(_, ordinal)| u64::from_be_bytes(*ordinal))
}

/// The number of a place row's item.
pub fn read_place(key: &[u8]) -> Option<u64> {
    read_local_entry(key)
}

/// The expiry rows of a container up to and including the second `at`.
pub fn expiring(container: u32, at: u64) -> KeyRange {
    let from = KeyBuf::new().u32(container).u8(EXPIRY).finish();
    let to = KeyBuf::new().u32(container).u8(EXPIRY).u64(at.saturating_add(1)).finish();
    KeyRange::new(from, to)
}

/// What an item's key says beside the number of its container.
pub fn without_container(item_key: &[u8]) -> &[u8] {
    item_key.get(4..).unwrap_or_default()
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

/// The container and partition of a purge's key.
pub fn read_purge(key: &[u8]) -> Option<(u32, Vec<u8>)> {
    let mut reader = KeyReader::new(key);
    reader.u8().ok().filter(|tag| *tag == PURGE)?;
    Some((reader.u32().ok()?, reader.raw().to_vec()))
}

/// The kind and container of a job's key.
pub fn read_job(key: &[u8]) -> Option<(JobKind, u32)> {
    let mut reader = KeyReader::new(key);
    reader.u8().ok().filter(|tag| *tag == JOB)?;
    let kind = match reader.u8().ok()? {
        1 => JobKind::Sweep,
        2 => JobKind::Expiry,
        3 => JobKind::Index,
        4 => JobKind::Database,
        5 => JobKind::User,
        _ => return None,
    };
    Some((kind, reader.u32().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_row_has_a_tag_of_its_own() {
        let meta = [
            NUMBERS,
            DATABASE,
            CONTAINER,
            ALIVE,
            OFFER,
            JOB,
            PROBE,
            CHILD,
            CHILD_PLACE,
            CHILD_COUNT,
            ROLE_DEFINITION,
            ROLE_ASSIGNMENT,
            PURGE,
            SCHEMA,
            METERED,
            TRIMMED,
        ];
        let index = [UNIQUE, EXPIRY, PARTITION, PLACE, ENTRY, LOCAL_ENTRY, TALLY, SUCCESSOR];
        for tags in [&meta[..], &index] {
            let different: std::collections::BTreeSet<u8> = tags.iter().copied().collect();
            assert_eq!(different.len(), tags.len(), "{tags:?}");
        }
    }
}
