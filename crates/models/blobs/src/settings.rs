//! The settings of an account's blobs: what is kept when it is deleted or overwritten, and what is recorded.

use crate::limits;
use crate::row::Row;
use orrery_catalog::storage::AccountName;
use orrery_core::Timestamp;
use orrery_kv::{Error, META, Read, Txn};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BlobSettings {
    /// Soft delete of blobs.
    pub delete_retention: Option<DeleteRetention>,
    /// Soft delete of containers.
    pub container_delete_retention: Option<Days>,
    /// Every write of a blob keeps the version before.
    pub versioning: bool,
    pub change_feed: Option<ChangeFeed>,
    /// The last access of each blob is recorded, once a day.
    pub last_access_tracking: bool,
    /// Since when it is, in milliseconds since 1970: blobs that were not read since then count as read at that moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_access_tracked_since: Option<u64>,
    pub static_website: Option<StaticWebsite>,
}

/// 1 to 365.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u16", into = "u16")]
pub struct Days(u16);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeleteRetention {
    pub days: Days,
    /// Soft-deleted snapshots and versions may be deleted for good before their time.
    pub allow_permanent_delete: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeFeed {
    /// For ever without.
    pub retention: Option<Days>,
}

/// What requests for documents of `$web` are answered with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StaticWebsite {
    /// The document of each directory.
    pub index_document: Option<String>,
    pub error_document_404_path: Option<String>,
    /// One document for every directory.
    pub default_index_document_path: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a retention lasts 1 to {} days", limits::RETENTION_DAYS_MAX)]
pub struct InvalidDays;

impl Days {
    pub fn new(days: u16) -> Result<Self, InvalidDays> {
        if (1..=limits::RETENTION_DAYS_MAX).contains(&days) { Ok(Self(days)) } else { Err(InvalidDays) }
    }

    pub fn get(self) -> u16 {
        self.0
    }

    pub fn millis(self) -> u64 {
        u64::from(self.0) * MILLIS_PER_DAY
    }
}

impl BlobSettings {
    /// Notes when the tracking of accesses was turned on.
    pub fn note_tracking(&mut self, before: &Self, now: Timestamp) {
        self.last_access_tracked_since = match (self.last_access_tracking, before.last_access_tracked_since) {
            (false, _) => None,
            (true, Some(since)) if before.last_access_tracking => Some(since),
            (true, _) => Some(now.millis()),
        };
    }

    pub fn tracked_since(&self) -> Option<Timestamp> {
        self.last_access_tracked_since.map(Timestamp::from_millis)
    }
}

const MILLIS_PER_DAY: u64 = 24 * 60 * 60 * 1000;

impl TryFrom<u16> for Days {
    type Error = InvalidDays;

    fn try_from(days: u16) -> Result<Self, InvalidDays> {
        Self::new(days)
    }
}

impl From<Days> for u16 {
    fn from(days: Days) -> Self {
        days.0
    }
}

#[derive(Serialize, Deserialize)]
struct Record {
    v: u32,
    #[serde(flatten)]
    settings: BlobSettings,
}

const VERSION: u32 = 1;

/// The settings of an account; the defaults, if nobody set any.
pub fn load_settings(state: &dyn Read, account: &AccountName) -> Result<BlobSettings, Error> {
    let Some(stored) = state.get(META, &Row::Settings { account: account.as_str() }.key())? else {
        return Ok(BlobSettings::default());
    };
    let record: Record = serde_json::from_slice(&stored)
        .map_err(|error| Error::Corrupt(format!("a record of blob settings: {error}")))?;
    if record.v != VERSION {
        return Err(Error::Corrupt(format!("a record of blob settings has version {}", record.v)));
    }
    Ok(record.settings)
}

/// Replaces them. In the catalog's scope.
pub fn save_settings(txn: &mut Txn<'_>, account: &AccountName, settings: &BlobSettings) {
    let record = Record { v: VERSION, settings: settings.clone() };
    let stored = serde_json::to_vec(&record).expect("a record of texts and numbers has a JSON form");
    txn.put(META, Row::Settings { account: account.as_str() }.key(), stored);
}
