//! Every key that the catalog stores, in one enum; `base/keys` turns it into bytes that sort as it does.
//!
//! All of them are in the space `meta`. Other models with rows there use tags that are not in [`TAGS`].

use crate::jobs::JobKind;
use crate::metering::Owner;
use crate::storage::ServiceKind;
use bytes::Bytes;
use orrery_keys::{KeyBuf, KeyReader};
use orrery_kv::{KeyRange, META, Space};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row<'a> {
    /// The last numbers assigned to databases, containers and offers.
    Numbers,
    Database {
        name: &'a str,
    },
    Container {
        database: u32,
        name: &'a str,
    },
    /// Exists as long as the container; writes of its items depend on it.
    Alive {
        container: u32,
    },
    Offer {
        number: u32,
    },
    /// Written after a failed commit, to find out whether the disk accepts writes again.
    Probe,
    /// Background work on a container.
    Job {
        kind: JobKind,
        container: u32,
    },
    /// A user, a permission, a script or a client encryption key.
    Subresource {
        kind: u8,
        owner: u32,
        name: &'a str,
    },
    /// The name of the subresource with this number.
    SubresourceLocator {
        kind: u8,
        owner: u32,
        ordinal: u64,
    },
    /// The number of an owner's subresources of a kind, and the last number assigned.
    SubresourceCount {
        kind: u8,
        owner: u32,
    },
    /// The schemas of a container's items.
    Schema {
        container: u32,
    },
    /// A custom role.
    RoleDefinition {
        id: &'a str,
    },
    /// A role assignment.
    RoleAssignment {
        id: &'a str,
    },
    /// Usage of an owner in an hour.
    Metered {
        hour: u32,
        owner: Owner,
    },
    /// Usage of a table, queue or blob container in an hour.
    MeteredStorage {
        hour: u32,
        service: ServiceKind,
        number: u32,
    },
    /// The properties of a storage account's service.
    ServiceProperties {
        service: ServiceKind,
        account: &'a str,
    },
}

const NUMBERS: u8 = 1;
const DATABASE: u8 = 2;
const CONTAINER: u8 = 3;
const ALIVE: u8 = 4;
const OFFER: u8 = 5;
const JOB: u8 = 6;
const PROBE: u8 = 7;
const SUBRESOURCE: u8 = 8;
const SUBRESOURCE_LOCATOR: u8 = 9;
const SUBRESOURCE_COUNT: u8 = 10;
const ROLE_DEFINITION: u8 = 11;
const ROLE_ASSIGNMENT: u8 = 12;
const SCHEMA: u8 = 14;
const METERED: u8 = 15;
const METERED_STORAGE: u8 = 17;
const SERVICE_PROPERTIES: u8 = 24;

/// The tags: first bytes of the catalog's keys.
pub const TAGS: [u8; 16] = [
    NUMBERS,
    DATABASE,
    CONTAINER,
    ALIVE,
    OFFER,
    JOB,
    PROBE,
    SUBRESOURCE,
    SUBRESOURCE_LOCATOR,
    SUBRESOURCE_COUNT,
    ROLE_DEFINITION,
    ROLE_ASSIGNMENT,
    SCHEMA,
    METERED,
    METERED_STORAGE,
    SERVICE_PROPERTIES,
];

const METERED_CONTAINER: u8 = 1;
const METERED_DATABASE: u8 = 2;

impl Row<'_> {
    pub fn space(&self) -> Space {
        META
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
            Row::Subresource { kind, owner, name } => {
                KeyBuf::new().u8(SUBRESOURCE).u8(kind).u32(owner).raw(name.as_bytes())
            }
            Row::SubresourceLocator { kind, owner, ordinal } => {
                KeyBuf::new().u8(SUBRESOURCE_LOCATOR).u8(kind).u32(owner).u64(ordinal)
            }
            Row::SubresourceCount { kind, owner } => KeyBuf::new().u8(SUBRESOURCE_COUNT).u8(kind).u32(owner),
            Row::RoleDefinition { id } => KeyBuf::new().u8(ROLE_DEFINITION).raw(id.as_bytes()),
            Row::RoleAssignment { id } => KeyBuf::new().u8(ROLE_ASSIGNMENT).raw(id.as_bytes()),
            Row::Schema { container } => KeyBuf::new().u8(SCHEMA).u32(container),
            Row::Metered { hour, owner } => {
                let (kind, number) = match owner {
                    Owner::Container(number) => (METERED_CONTAINER, number),
                    Owner::Database(number) => (METERED_DATABASE, number),
                };
                KeyBuf::new().u8(METERED).u32(hour).u8(kind).u32(number)
            }
            Row::MeteredStorage { hour, service, number } => {
                KeyBuf::new().u8(METERED_STORAGE).u32(hour).u8(service as u8).u32(number)
            }
            Row::ServiceProperties { service, account } => {
                KeyBuf::new().u8(SERVICE_PROPERTIES).u8(service as u8).raw(account.as_bytes())
            }
        };
        Bytes::from(key.finish())
    }
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

/// An owner's subresources of one kind, by name.
pub fn subresources(kind: u8, owner: u32) -> KeyRange {
    KeyRange::prefix(&KeyBuf::new().u8(SUBRESOURCE).u8(kind).u32(owner).finish())
}

/// The numbers of an owner's subresources of one kind.
pub fn subresource_places(kind: u8, owner: u32) -> KeyRange {
    KeyRange::prefix(&KeyBuf::new().u8(SUBRESOURCE_LOCATOR).u8(kind).u32(owner).finish())
}

/// The name of a subresource from its row's key.
pub fn read_subresource(key: &[u8]) -> Option<&str> {
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

/// The container of a schema row's key.
pub fn read_schema(key: &[u8]) -> Option<u32> {
    let mut reader = KeyReader::new(key);
    reader.u8().ok().filter(|tag| *tag == SCHEMA)?;
    reader.u32().ok()
}

/// The usage of the hours in a half-open range.
pub fn metered(from: u32, to: u32) -> KeyRange {
    let bound = |hour: u32| KeyBuf::new().u8(METERED).u32(hour).finish();
    KeyRange::new(bound(from), bound(to))
}

/// The hour and owner of a usage row's key.
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

/// The usage of storage in the hours of a half-open range.
pub fn metered_storage(from: u32, to: u32) -> KeyRange {
    let bound = |hour: u32| KeyBuf::new().u8(METERED_STORAGE).u32(hour).finish();
    KeyRange::new(bound(from), bound(to))
}

/// The hour, service and number of a storage usage row's key.
pub fn read_metered_storage(key: &[u8]) -> Option<(u32, ServiceKind, u32)> {
    let mut reader = KeyReader::new(key);
    reader.u8().ok().filter(|tag| *tag == METERED_STORAGE)?;
    let hour = reader.u32().ok()?;
    let kind = reader.u8().ok()?;
    let service = ServiceKind::ALL.into_iter().find(|service| *service as u8 == kind)?;
    Some((hour, service, reader.u32().ok()?))
}

pub fn jobs() -> KeyRange {
    KeyRange::prefix(&[JOB])
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
        let different: std::collections::BTreeSet<u8> = TAGS.iter().copied().collect();
        assert_eq!(different.len(), TAGS.len());
    }
}
