//! A subresource, and its row: JSON with a version (`docs/formats/subresources.md`).

use super::{Kind, Owner};
use crate::limits;
use crate::row::{self, Row};
use bytes::Bytes;
use orrery_core::{ChildName, ETag, Timestamp};
use orrery_kv::{Error, KeyRange, META, Order, Read};
use orrery_query::execute::Limits;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::ops::ControlFlow;

#[derive(Clone, Debug, PartialEq)]
pub struct Subresource {
    pub kind: Kind,
    pub name: ChildName,
    /// The number in its resource id.
    pub ordinal: u64,
    pub etag: ETag,
    pub written: Timestamp,
    /// The validated members besides `id`.
    pub members: Map<String, Value>,
}

impl Subresource {
    /// The source of a script; empty for other kinds.
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

pub(super) fn write(subresource: &Subresource) -> Bytes {
    let record = Record {
        v: VERSION,
        number: subresource.ordinal,
        etag: subresource.etag.to_string(),
        written_ms: subresource.written.millis(),
        members: subresource.members.clone(),
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

/// The number of an owner's subresources of a kind, and the last number assigned.
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
        let whole: [u8; 16] = bytes[..]
            .try_into()
            .map_err(|_| Error::Corrupt("a count of subresources is not 16 bytes".into()))?;
        let whole = u128::from_be_bytes(whole);
        Ok(Self { live: (whole >> 64) as u64, last: whole as u64 })
    }
}

// Reads subresources: one, a page, or all of an owner's.

pub struct Page {
    pub subresources: Vec<Subresource>,
    /// The name after which the next page begins, if there may be more.
    pub more_after: Option<String>,
}

/// By name, or by resource id as text.
pub fn find(
    state: &dyn Read,
    owner: &Owner,
    kind: Kind,
    name_or_rid: &str,
) -> Result<Option<Subresource>, Error> {
    if let Some(subresource) = by_name(state, owner, kind, name_or_rid)? {
        return Ok(Some(subresource));
    }
    match owner.subresource_ordinal(kind, name_or_rid) {
        None => Ok(None),
        Some(ordinal) => by_ordinal(state, owner, kind, ordinal),
    }
}

fn by_name(state: &dyn Read, owner: &Owner, kind: Kind, name: &str) -> Result<Option<Subresource>, Error> {
    let row = Row::Subresource { kind: kind.number(), owner: owner.number(), name };
    let stored = state.get(META, &row.key())?;
    stored.map(|bytes| read(kind, name, &bytes)).transpose()
}

/// By the number in its resource id.
pub fn by_ordinal(
    state: &dyn Read,
    owner: &Owner,
    kind: Kind,
    ordinal: u64,
) -> Result<Option<Subresource>, Error> {
    let place = Row::SubresourceLocator { kind: kind.number(), owner: owner.number(), ordinal };
    let Some(name) = state.get(META, &place.key())? else { return Ok(None) };
    let name = std::str::from_utf8(&name).map_err(|_| Error::Corrupt("the name of a subresource".into()))?;
    by_name(state, owner, kind, name)
}

/// A page of an owner's subresources, ordered by name.
pub fn page(
    state: &dyn Read,
    owner: &Owner,
    kind: Kind,
    after: Option<&str>,
    limits: Limits,
) -> Result<Page, Error> {
    let (mut subresources, mut bytes, mut is_full) = (Vec::new(), 0, false);
    each_after(state, owner, kind, after, |subresource, size| {
        is_full =
            subresources.len() >= limits.items || (bytes + size > limits.bytes && !subresources.is_empty());
        if is_full {
            return ControlFlow::Break(());
        }
        bytes += size;
        subresources.push(subresource);
        ControlFlow::Continue(())
    })?;
    let last = subresources.last().map(|subresource: &Subresource| subresource.name.to_string());
    Ok(Page { more_after: last.filter(|_| is_full), subresources })
}

/// All of an owner's subresources, for kinds with few.
pub fn all(state: &dyn Read, owner: &Owner, kind: Kind) -> Result<Vec<Subresource>, Error> {
    let limits = Limits { items: limits::STORED_PROCEDURES_MAX as usize, bytes: usize::MAX };
    Ok(page(state, owner, kind, None, limits)?.subresources)
}

/// Visits an owner's subresources ordered by name, with the size of their rows, until told to stop.
pub fn each_after(
    state: &dyn Read,
    owner: &Owner,
    kind: Kind,
    after: Option<&str>,
    mut visit: impl FnMut(Subresource, usize) -> ControlFlow<()>,
) -> Result<(), Error> {
    let mut range = row::subresources(kind.number(), owner.number());
    if let Some(name) = after {
        let row = Row::Subresource { kind: kind.number(), owner: owner.number(), name };
        // The smallest key greater than this one.
        range = KeyRange { start: [&row.key()[..], &[0]].concat(), ..range };
    }
    for row in state.range(META, &range, Order::Ascending) {
        let (key, value) = row?;
        let name =
            row::read_subresource(&key).ok_or_else(|| Error::Corrupt("the key of a subresource".into()))?;
        if visit(read(kind, name, &value)?, value.len()).is_break() {
            break;
        }
    }
    Ok(())
}
