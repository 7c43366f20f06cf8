//! How the states of blobs are stored (`docs/formats/blobs.md`): JSON, with members that have nothing to say left out.
//!
//! The name and the state are in the key.

use super::{Blob, BlobKind, BlobState, ContentHeaders, Copy, Immutability, ImmutabilityMode, SoftDeletion};
use crate::address::BlobName;
use crate::content::Content;
use crate::lease::Lease;
use crate::tags::TagSet;
use crate::tier::TierState;
use bytes::Bytes;
use orrery_catalog::storage::Metadata;
use orrery_core::{Ticks, Timestamp};
use orrery_kv::Error;
use serde::{Deserialize, Serialize};

const VERSION: u8 = 1;

#[derive(Serialize, Deserialize)]
struct Record {
    v: u8,
    kind: KindRecord,
    created: u64,
    modified: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
    #[serde(default, skip_serializing_if = "is_default")]
    content: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    length: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    headers: ContentHeaders,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    metadata: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "TagSet::is_empty")]
    tags: TagSet,
    #[serde(default, skip_serializing_if = "is_default")]
    tier: TierState,
    #[serde(default, skip_serializing_if = "is_default")]
    lease: Lease,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    copy: Option<Copy>,
    /// Until when, and whether it is locked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    immutable: Option<(u64, bool)>,
    #[serde(default, skip_serializing_if = "is_default")]
    hold: bool,
    /// When it was deleted, and until when it stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deleted: Option<(u64, u64)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    accessed: Option<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum KindRecord {
    Block,
    Append { blocks: u32, sealed: bool },
    Page { sequence: u64 },
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

pub(crate) fn write(blob: &Blob) -> Vec<u8> {
    let record = Record {
        v: VERSION,
        kind: match blob.kind {
            BlobKind::Block => KindRecord::Block,
            BlobKind::Append { blocks, is_sealed } => KindRecord::Append { blocks, sealed: is_sealed },
            BlobKind::Page { sequence } => KindRecord::Page { sequence },
        },
        created: blob.created.count(),
        modified: blob.modified.count(),
        version: blob.version.map(Ticks::count),
        content: blob.content.ordinal,
        length: blob.content.length,
        headers: blob.headers.clone(),
        metadata: blob.metadata.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        tags: blob.tags.clone(),
        tier: blob.tier,
        lease: blob.lease,
        copy: blob.copy.clone(),
        immutable: blob
            .immutability
            .map(|policy| (policy.until.millis(), policy.mode == ImmutabilityMode::Locked)),
        hold: blob.legal_hold,
        deleted: blob.deleted.map(|deletion| (deletion.at.millis(), deletion.until.millis())),
        accessed: blob.last_access.map(Timestamp::millis),
    };
    serde_json::to_vec(&record).expect("a record of texts and numbers has a JSON form")
}

pub(crate) fn read(name: &str, state: BlobState, bytes: &Bytes) -> Result<Blob, Error> {
    let damaged = |why: &dyn std::fmt::Display| Error::Corrupt(format!("the record of a blob: {why}"));
    let record: Record = serde_json::from_slice(bytes).map_err(|error| damaged(&error))?;
    if record.v != VERSION {
        return Err(damaged(&format!("its version is {}", record.v)));
    }
    Ok(Blob {
        name: BlobName::parse(name).map_err(|error| damaged(&error))?,
        state,
        created: Ticks::from_count(record.created),
        modified: Ticks::from_count(record.modified),
        version: record.version.map(Ticks::from_count),
        kind: match record.kind {
            KindRecord::Block => BlobKind::Block,
            KindRecord::Append { blocks, sealed } => BlobKind::Append { blocks, is_sealed: sealed },
            KindRecord::Page { sequence } => BlobKind::Page { sequence },
        },
        content: Content { ordinal: record.content, length: record.length },
        headers: record.headers,
        metadata: Metadata::new(record.metadata).map_err(|error| damaged(&error))?,
        tags: record.tags,
        tier: record.tier,
        lease: record.lease,
        copy: record.copy,
        immutability: record.immutable.map(|(until, is_locked)| Immutability {
            until: Timestamp::from_millis(until),
            mode: if is_locked { ImmutabilityMode::Locked } else { ImmutabilityMode::Unlocked },
        }),
        legal_hold: record.hold,
        deleted: record.deleted.map(|(at, until)| SoftDeletion {
            at: Timestamp::from_millis(at),
            until: Timestamp::from_millis(until),
        }),
        last_access: record.accessed.map(Timestamp::from_millis),
    })
}
