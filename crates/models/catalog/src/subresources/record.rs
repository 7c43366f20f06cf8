//! A child, and its row: JSON with a version (`docs/formats/subresources.md`).

use super::Kind;
use bytes::Bytes;
use orrery_core::{ChildName, ETag, Timestamp};
use orrery_kv::Error;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Clone, Debug, PartialEq)]
pub struct Subresource {
    pub kind: Kind,
    pub name: ChildName,
    /// The number in its resource id.
    pub ordinal: u64,
    pub etag: ETag,
    pub written: Timestamp,
    /// What a body has besides `id`, checked.
    pub members: Map<String, Value>,
}

impl Subresource {
    /// The text of a script; empty for what is none.
    pub fn script(&self) -> &str {
        self.members.get("body").and_then(Value::as_str).unwrap_or_default()
    }
}

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Record {
    v: u32,
    number: u64,
    etag: String,
    written_ms: u64,
    members: Map<String, Value>,
}

pub(super) fn write(child: &Subresource) -> Bytes {
    let record = Record {
        v: VERSION,
        number: child.ordinal,
        etag: child.etag.to_string(),
        written_ms: child.written.millis(),
        members: child.members.clone(),
    };
    Bytes::from(serde_json::to_vec(&record).expect("a record of texts and numbers has a JSON form"))
}

pub(super) fn read(kind: Kind, name: &str, bytes: &[u8]) -> Result<Subresource, Error> {
    let damaged = |why: &str| Error::Corrupt(format!("the record of a {}: {why}", kind.noun()));
    let record: Record = serde_json::from_slice(bytes).map_err(|error| damaged(&error.to_string()))?;
    if record.v != VERSION {
        return Err(damaged(&format!("it has version {}", record.v)));
    }
    Ok(Subresource {
        kind,
        name: ChildName::parse(name).map_err(|error| damaged(&error.to_string()))?,
        ordinal: record.number,
        etag: ETag::parse(&record.etag).ok_or_else(|| damaged("its etag is none"))?,
        written: Timestamp::from_millis(record.written_ms),
        members: record.members,
    })
}

/// How many children of a kind an owner has, and the last number that one was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub live: u64,
    pub last: u64,
}

impl Count {
    pub fn write(self) -> Bytes {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.live.to_be_bytes());
        bytes[8..].copy_from_slice(&self.last.to_be_bytes());
        Bytes::copy_from_slice(&bytes)
    }

    pub fn read(bytes: Option<Bytes>) -> Result<Self, Error> {
        let Some(bytes) = bytes else { return Ok(Self::default()) };
        let whole: [u8; 16] =
            bytes[..].try_into().map_err(|_| Error::Corrupt("a count of children is not 16 bytes".into()))?;
        let whole = u128::from_be_bytes(whole);
        Ok(Self { live: (whole >> 64) as u64, last: whole as u64 })
    }
}
