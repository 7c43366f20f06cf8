//! Events of the change feed: entries of the log beside those of the changes that they tell of, if the account has its feed on.
//!
//! An event has what the feed's files say of it (wire guide §9.6). Its sequencer is the moment of the change, which ascends with each
//! change of a name.

use crate::blob::{Blob, BlobKind, BlobState};
use crate::changes::{self, Subject};
use orrery_core::{Lsn, Ticks, Timestamp};
use orrery_kv::{Error, Read};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EventKind {
    BlobCreated,
    BlobDeleted,
    BlobPropertiesUpdated,
    BlobSnapshotCreated,
    BlobTierChanged,
    BlobAsyncOperationInitiated,
}

/// The operation that was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EventApi {
    PutBlob,
    PutBlockList,
    CopyBlob,
    DeleteBlob,
    SetBlobProperties,
    SetBlobMetadata,
    SnapshotBlob,
    SetBlobTier,
    UndeleteBlob,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlobEvent {
    v: u32,
    pub kind: EventKind,
    pub api: EventApi,
    pub name: String,
    /// Ticks, as the other moments here.
    sequencer: u64,
    etag: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    pub content_length: u64,
    pub blob_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    snapshot: Option<u64>,
    pub tier: String,
}

/// An event with its place in the log of its container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedEvent {
    pub lsn: Lsn,
    pub at: Timestamp,
    pub event: BlobEvent,
}

const VERSION: u32 = 1;

impl BlobEvent {
    pub(crate) fn new(kind: EventKind, api: EventApi, blob: &Blob, at: Ticks, now: Timestamp) -> Self {
        Self {
            v: VERSION,
            kind,
            api,
            name: blob.name.as_str().to_owned(),
            sequencer: at.count(),
            etag: blob.modified.count(),
            content_type: blob.headers.content_type.clone(),
            content_length: blob.length(),
            blob_type: match blob.kind {
                BlobKind::Block => "BlockBlob",
                BlobKind::Append { .. } => "AppendBlob",
                BlobKind::Page { .. } => "PageBlob",
            }
            .to_owned(),
            version: blob.version.map(Ticks::count),
            snapshot: match blob.state {
                BlobState::Snapshot(at) => Some(at.count()),
                _ => None,
            },
            tier: blob.tier.tier(now).to_string(),
        }
    }

    /// Fixed in width, and ascending with each change of a name.
    pub fn sequencer(&self) -> String {
        format!("{:032x}", self.sequencer)
    }

    pub fn etag(&self) -> crate::BlobETag {
        crate::BlobETag::new(Ticks::from_count(self.etag))
    }

    pub fn version(&self) -> Option<Ticks> {
        self.version.map(Ticks::from_count)
    }

    pub fn snapshot(&self) -> Option<Ticks> {
        self.snapshot.map(Ticks::from_count)
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a record of texts and numbers has a JSON form")
    }

    fn read(bytes: &[u8]) -> Result<Self, Error> {
        let damaged = |why: String| Error::Corrupt(format!("an event of a blob: {why}"));
        let event: Self = serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
        if event.v == VERSION { Ok(event) } else { Err(damaged(format!("its version is {}", event.v))) }
    }
}

/// The events of a container after a commit, in order; those past the retention of the log are gone.
pub fn events_after(
    state: &dyn Read,
    container: u32,
    after: Lsn,
) -> impl Iterator<Item = Result<LoggedEvent, Error>> + use<'_> {
    changes::after(state, container, after).filter_map(|entry| {
        let read = |entry: changes::Entry| {
            let image = match changes::subject(&entry)? {
                Subject::Event(_) => entry.image(),
                Subject::State(_) | Subject::Content(_) | Subject::Piece(_) => None,
            };
            let event = image.map(|image| BlobEvent::read(&image)).transpose()?;
            Ok(event.map(|event| LoggedEvent { lsn: entry.lsn(), at: entry.at(), event }))
        };
        entry.and_then(read).transpose()
    })
}
