//! A blob: one state of it, with its properties. Its content is elsewhere ([`Content`](crate::content::Content)).

mod block_id;
mod copy;
mod headers;
mod immutability;
pub(crate) mod record;

pub use block_id::{BlockId, InvalidBlockId};
pub use copy::{Copy, CopyId, CopyStatus};
pub use headers::ContentHeaders;
pub use immutability::{Immutability, ImmutabilityMode};

use crate::address::BlobName;
use crate::conditions::Target;
use crate::content::Content;
use crate::etag::BlobETag;
use crate::lease::Lease;
use crate::tags::TagSet;
use crate::tier::TierState;
use orrery_catalog::storage::Metadata;
use orrery_core::{Ticks, Timestamp};

#[derive(Clone, Debug, PartialEq)]
pub struct Blob {
    pub name: BlobName,
    pub state: BlobState,
    pub created: Ticks,
    /// The last change of content, properties or metadata: what the ETag and Last-Modified are made of.
    pub modified: Ticks,
    /// Its version id, if it was written while versioning was on.
    pub version: Option<Ticks>,
    pub kind: BlobKind,
    pub content: Content,
    pub headers: ContentHeaders,
    pub metadata: Metadata,
    pub tags: TagSet,
    pub tier: TierState,
    pub lease: Lease,
    pub copy: Option<Copy>,
    pub immutability: Option<Immutability>,
    pub legal_hold: bool,
    pub deleted: Option<SoftDeletion>,
    pub last_access: Option<Timestamp>,
}

/// Which of the states under its name it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BlobState {
    Snapshot(Ticks),
    /// Not the current version.
    Version(Ticks),
    /// The blob itself after it was soft-deleted without versioning.
    DeletedBlob,
    Current,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlobKind {
    Block,
    Append { blocks: u32, is_sealed: bool },
    Page { sequence: u64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoftDeletion {
    pub at: Timestamp,
    /// When it goes for good.
    pub until: Timestamp,
}

impl Blob {
    pub fn etag(&self) -> BlobETag {
        BlobETag::new(self.modified)
    }

    pub fn length(&self) -> u64 {
        self.content.length()
    }

    pub fn is_current_version(&self) -> bool {
        self.state == BlobState::Current && self.version.is_some()
    }

    /// Whether a legal hold or an immutability policy keeps it from being changed and deleted.
    pub fn is_protected(&self, now: Timestamp) -> bool {
        self.legal_hold || self.immutability.is_some_and(|policy| policy.until > now)
    }

    pub(crate) fn target(&self) -> Target<'_> {
        Target { modified: self.modified, tags: &self.tags }
    }
}

impl SoftDeletion {
    /// Whole days until it goes, rounded down.
    pub fn days_left(&self, now: Timestamp) -> u64 {
        self.until.millis().saturating_sub(now.millis()) / (24 * 60 * 60 * 1000)
    }
}
