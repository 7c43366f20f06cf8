//! What operations are asked and what they answer. HTTP is `api`'s: here a range is two numbers and a condition a value.

use crate::address::{BlobName, Selector};
use crate::blob::{Blob, BlockId, ContentHeaders, Copy, CopyId, Immutability};
use crate::conditions::Conditions;
use crate::etag::BlobETag;
use crate::tags::{TagFilter, TagSet};
use crate::tier::{RehydratePriority, Tier};
use orrery_catalog::storage::{BlobContainerName, Metadata};
use orrery_core::{Ticks, Timestamp};

/// What a write of a whole blob gives it beside its content. What is not given is empty: nothing stays of an earlier blob.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PutOptions {
    pub headers: ContentHeaders,
    pub metadata: Metadata,
    pub tags: TagSet,
    pub tier: Option<Tier>,
    pub immutability: Option<Immutability>,
    pub legal_hold: bool,
    /// Where the content came from, if it was copied from another place while the caller waited.
    pub copy: Option<Copy>,
    pub conditions: Conditions,
}

/// A page blob as it is created: all zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewPageBlob {
    /// A multiple of 512.
    pub length: u64,
    pub sequence: u64,
}

/// What a write made.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// The ETag and Last-Modified of the state that is current now.
    pub modified: Ticks,
    /// The version that it made, or that is current.
    pub version: Option<Ticks>,
    pub content_md5: Option<[u8; 16]>,
    /// Whether there was no blob before.
    pub is_new: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockSource {
    Committed,
    Uncommitted,
    /// The uncommitted one; without one, the committed one.
    Latest,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockRef {
    pub id: BlockId,
    pub from: BlockSource,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub id: BlockId,
    pub length: u64,
}

/// Get Block List; the blob is there if its list is committed.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockLists {
    pub blob: Option<Blob>,
    pub committed: Vec<Block>,
    pub uncommitted: Vec<Block>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct AppendConditions {
    /// The length that the blob must have.
    pub position: Option<u64>,
    /// The length that it may have afterwards.
    pub length_max: Option<u64>,
    pub conditions: Conditions,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Appended {
    pub written: Written,
    /// Where in the blob it begins.
    pub offset: u64,
    pub blocks: u32,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageConditions {
    pub sequence_at_most: Option<u64>,
    pub sequence_below: Option<u64>,
    pub sequence_equal: Option<u64>,
    pub conditions: Conditions,
}

/// A write of pages, and the sequence number of the blob.
#[derive(Clone, Debug, PartialEq)]
pub struct PagesWritten {
    pub written: Written,
    pub sequence: u64,
}

/// Bytes from one offset up to another, which is not among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteRange {
    pub start: u64,
    pub end: u64,
}

/// The bytes that a read asks for; what is beyond the end of the blob is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeRequest {
    pub start: u64,
    /// The last byte; the blob's last without.
    pub last: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListPages {
    pub range: Option<RangeRequest>,
    /// Only what is different from this snapshot.
    pub since: Option<Ticks>,
    pub marker: Option<String>,
    pub count_max: Option<usize>,
    pub conditions: Conditions,
}

/// A range of pages with data, or cleared since the snapshot that a difference is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRange {
    pub range: ByteRange,
    pub is_cleared: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PageList {
    pub blob: Blob,
    pub ranges: Vec<PageRange>,
    pub next: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceAction {
    Max(u64),
    Update(u64),
    Increment,
}

/// Set Blob Properties: all headers are replaced, unless only a page blob's size or sequence number is set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SetProperties {
    pub headers: Option<ContentHeaders>,
    /// Of page blobs.
    pub resize: Option<u64>,
    pub sequence: Option<SequenceAction>,
    pub conditions: Conditions,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PropertiesSet {
    pub written: Written,
    /// Of page blobs.
    pub sequence: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeleteSnapshots {
    /// Refuse, if there are any.
    #[default]
    Refuse,
    Include,
    /// The snapshots and not the blob.
    Only,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeleteBlob {
    pub selector: Selector,
    pub snapshots: DeleteSnapshots,
    /// `deletetype=permanent`: of a snapshot or version that is soft-deleted.
    pub is_permanent: bool,
    pub conditions: Conditions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deleted {
    /// `x-ms-delete-type-permanent`
    pub is_permanent: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotMade {
    pub snapshot: Ticks,
    pub written: SnapshotOf,
}

/// The state that a snapshot shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotOf {
    pub modified: Ticks,
    pub version: Option<Ticks>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SetTier {
    pub selector: Selector,
    pub tier: Tier,
    pub priority: Option<RehydratePriority>,
    pub conditions: Conditions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TierSet {
    Done,
    /// It leaves the archive.
    Pending,
}

/// Copying within this store.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CopyOptions {
    /// Instead of the source's.
    pub headers: Option<ContentHeaders>,
    /// Instead of the source's.
    pub metadata: Option<Metadata>,
    pub tags: CopyTags,
    pub tier: Option<Tier>,
    pub priority: Option<RehydratePriority>,
    pub is_sealed: Option<bool>,
    pub immutability: Option<Immutability>,
    pub legal_hold: bool,
    pub source_conditions: Conditions,
    pub conditions: Conditions,
    /// The address that the caller gave for the source.
    pub source_url: String,
    /// Whether the blob shows that it was copied; not, if it was put from an address.
    pub records_copy: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub enum CopyTags {
    #[default]
    None,
    FromSource,
    Replace(TagSet),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Copied {
    pub written: Written,
    pub copy: Option<Copy>,
}

/// A copy from another place that goes on while the caller does something else: the blob is there, empty, and pending.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingCopy {
    pub id: CopyId,
    pub written: Written,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListBlobs {
    pub prefix: String,
    pub delimiter: Option<String>,
    /// An earlier page's `next`.
    pub marker: Option<String>,
    pub count_max: Option<usize>,
    /// The first name that may be in the list.
    pub start_from: Option<String>,
    /// The first name that is not in the list any more.
    pub end_before: Option<String>,
    pub include: ListInclude,
    pub show_only: Option<ShowOnly>,
}

/// Which states are listed beside the blobs themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListInclude {
    pub snapshots: bool,
    pub versions: bool,
    pub deleted: bool,
    /// With `delimiter`-like prefixes: names that have only deleted blobs and versions.
    pub deleted_with_versions: bool,
    pub uncommitted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShowOnly {
    Deleted,
    Files,
    Directories,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ListEntry {
    Prefix(String),
    Blob(Box<Blob>),
    /// There are versions, and none of them is current.
    VersionsOnly(Box<Blob>),
    /// Blocks wait to be committed.
    Uncommitted {
        name: BlobName,
        created: Ticks,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct BlobPage {
    /// In the order of their names; of one name the oldest first, and what is current last.
    pub entries: Vec<ListEntry>,
    pub next: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindBlobs {
    /// Only in this container.
    pub container: Option<BlobContainerName>,
    pub filter: TagFilter,
    pub marker: Option<String>,
    pub count_max: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundBlob {
    pub container: BlobContainerName,
    pub name: BlobName,
    /// Those that the filter names.
    pub tags: TagSet,
    pub version: Option<Ticks>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundPage {
    pub blobs: Vec<FoundBlob>,
    pub next: Option<String>,
}

/// What a change gets from outside: the time, a moment that no other change has, and randomness.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    pub now: Timestamp,
    pub ticks: Ticks,
    pub random: u128,
    /// A number that nothing else has: of new content.
    pub ordinal: u64,
}

impl Written {
    pub fn etag(&self) -> BlobETag {
        BlobETag::new(self.modified)
    }
}

impl ByteRange {
    pub fn length(self) -> u64 {
        self.end - self.start
    }

    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }
}

impl RangeRequest {
    /// The bytes of a blob that has so many; `None` if it begins behind them.
    pub fn within(self, length: u64) -> Option<ByteRange> {
        let end = self.last.map_or(length, |last| last.saturating_add(1)).min(length);
        (self.start < end).then_some(ByteRange { start: self.start, end })
    }
}
