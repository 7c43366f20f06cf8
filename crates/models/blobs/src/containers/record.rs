//! How a container's definition is stored (`docs/formats/blobs.md`). The account and the name are in the key.

use super::{Container, ContainerDeletion, ContainerVersion, PublicAccess};
use crate::address::ContainerId;
use crate::lease::Lease;
use orrery_catalog::storage::{Metadata, SignedIdentifiers};
use orrery_core::{Ticks, Timestamp};
use orrery_kv::Error;
use serde::{Deserialize, Serialize};

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Record {
    v: u32,
    number: u32,
    modified: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    metadata: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    public: Option<PublicRecord>,
    #[serde(default, skip_serializing_if = "SignedIdentifiers::is_empty")]
    policies: SignedIdentifiers,
    #[serde(default, skip_serializing_if = "is_none")]
    lease: Lease,
    /// When it was deleted, until when it stays, and its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deleted: Option<(u64, u64, u64)>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PublicRecord {
    Blob,
    Container,
}

fn is_none(lease: &Lease) -> bool {
    *lease == Lease::None
}

pub(super) fn write(container: &Container) -> Vec<u8> {
    let pairs = container.metadata.iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
    let record = Record {
        v: VERSION,
        number: container.number,
        modified: container.modified.count(),
        metadata: pairs.collect(),
        public: match container.public_access {
            PublicAccess::None => None,
            PublicAccess::Blob => Some(PublicRecord::Blob),
            PublicAccess::Container => Some(PublicRecord::Container),
        },
        policies: container.policies.clone(),
        lease: container.lease,
        deleted: container
            .deleted
            .map(|deletion| (deletion.at.millis(), deletion.until.millis(), deletion.version.0.count())),
    };
    serde_json::to_vec(&record).expect("a record of texts and numbers has a JSON form")
}

pub(super) fn read(id: ContainerId, bytes: &[u8]) -> Result<Container, Error> {
    let damaged =
        |why: &dyn std::fmt::Display| Error::Corrupt(format!("the definition of a container: {why}"));
    let record: Record = serde_json::from_slice(bytes).map_err(|error| damaged(&error))?;
    if record.v != VERSION {
        return Err(damaged(&format!("its version is {}", record.v)));
    }
    Ok(Container {
        id,
        number: record.number,
        modified: Ticks::from_count(record.modified),
        metadata: Metadata::new(record.metadata).map_err(|error| damaged(&error))?,
        public_access: match record.public {
            None => PublicAccess::None,
            Some(PublicRecord::Blob) => PublicAccess::Blob,
            Some(PublicRecord::Container) => PublicAccess::Container,
        },
        policies: record.policies,
        lease: record.lease,
        deleted: record.deleted.map(|(at, until, version)| ContainerDeletion {
            at: Timestamp::from_millis(at),
            until: Timestamp::from_millis(until),
            version: ContainerVersion(Ticks::from_count(version)),
        }),
    })
}
