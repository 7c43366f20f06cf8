//! Put Blob: a whole new blob in the place of what was there.

use super::write::{Place, Stored, Write};
use super::{PutOptions, Stamp, Written};
use crate::blob::{Blob, BlobKind, BlobState};
use crate::content::{Content, Upload, put_pieces};
use crate::events::{EventApi, EventKind};
use crate::limits;
use crate::operations::NewPageBlob;
use crate::refusal::{BlobError, Refusal};
use crate::tier::{Tier, TierState};
use orrery_kv::{Error, Txn};

#[derive(Clone, Copy)]
pub enum NewBlob<'a> {
    Block(Upload<'a>),
    Append,
    Page(NewPageBlob),
}

pub fn put(
    txn: &mut Txn<'_>,
    place: Place<'_>,
    new: NewBlob<'_>,
    options: &PutOptions,
    stamp: Stamp,
) -> Result<Written, BlobError> {
    let mut write = Write::begin(txn, place, stamp);
    let old = write.current()?;
    write.check_overwrite(old.as_ref(), &options.conditions)?;
    let (kind, content) = match new {
        NewBlob::Block(upload) => {
            let pieces = upload.pieces(write.txn);
            let length = put_pieces(write.txn, stamp.ordinal, 0, pieces);
            (BlobKind::Block, Content { ordinal: stamp.ordinal, length })
        }
        NewBlob::Append => {
            (BlobKind::Append { blocks: 0, is_sealed: false }, Content { ordinal: stamp.ordinal, length: 0 })
        }
        NewBlob::Page(NewPageBlob { length, sequence }) => {
            check_page_blob_length(length)?;
            (BlobKind::Page { sequence }, Content { ordinal: stamp.ordinal, length })
        }
    };
    write.replace(old, kind, content, options, EventApi::PutBlob)
}

pub(super) fn check_page_blob_length(length: u64) -> Result<(), Refusal> {
    if length.is_multiple_of(limits::PAGE_BYTES) && length <= limits::PAGE_BLOB_BYTES_MAX {
        Ok(())
    } else {
        Err(Refusal::InvalidInput("x-ms-blob-content-length"))
    }
}

/// Which tiers which blobs can have.
pub(super) fn check_tier(kind: BlobKind, tier: Tier) -> Result<(), Refusal> {
    match (kind, tier) {
        (BlobKind::Block, Tier::Hot | Tier::Cool | Tier::Cold | Tier::Archive | Tier::Smart) => Ok(()),
        (BlobKind::Page { .. }, Tier::Premium(_)) => Ok(()),
        (BlobKind::Append { .. }, _) => Err(Refusal::InvalidBlobType),
        _ => Err(Refusal::InvalidBlobTier),
    }
}

impl Write<'_, '_, '_> {
    /// A new current state with this content. Of the old one it keeps the lease, and when the blob was created.
    pub fn replace(
        &mut self,
        old: Option<Stored>,
        kind: BlobKind,
        content: Content,
        options: &PutOptions,
        api: EventApi,
    ) -> Result<Written, BlobError> {
        if let Some(tier) = options.tier {
            check_tier(kind, tier)?;
        }
        Ok(self.replace_with_tier(old, kind, content, options, TierState::set(options.tier), api)?)
    }

    /// An empty blob that is to be copied to. The change feed is told when its content is there.
    pub fn replace_pending(
        &mut self,
        old: Option<Stored>,
        content: Content,
        options: &PutOptions,
    ) -> Result<Written, Error> {
        let tier = TierState::set(options.tier);
        Ok(self.replace_silently(old, BlobKind::Block, content, options, tier)?.1)
    }

    /// With a tier that may be on its way.
    pub fn replace_with_tier(
        &mut self,
        old: Option<Stored>,
        kind: BlobKind,
        content: Content,
        options: &PutOptions,
        tier: TierState,
        api: EventApi,
    ) -> Result<Written, Error> {
        let (blob, written) = self.replace_silently(old, kind, content, options, tier)?;
        self.event(EventKind::BlobCreated, api, &blob);
        Ok(written)
    }

    fn replace_silently(
        &mut self,
        old: Option<Stored>,
        kind: BlobKind,
        content: Content,
        options: &PutOptions,
        tier: TierState,
    ) -> Result<(Blob, Written), Error> {
        let is_versioned = self.place.settings.versioning;
        let at =
            if is_versioned { self.moment_of_state(old.as_ref())? } else { self.moment_after(old.as_ref()) };
        let lease = old.as_ref().map(|old| old.blob.lease.after_write(self.now())).unwrap_or_default();
        let created = old.as_ref().filter(|_| !is_versioned).map_or(at, |old| old.blob.created);
        let blob = Blob {
            name: self.place.name.clone(),
            state: BlobState::Current,
            created,
            modified: at,
            version: is_versioned.then_some(at),
            kind,
            content,
            headers: options.headers.clone(),
            metadata: options.metadata.clone(),
            tags: options.tags.clone(),
            tier,
            lease,
            copy: options.copy.clone(),
            immutability: options.immutability,
            legal_hold: options.legal_hold,
            deleted: None,
            last_access: self.place.settings.last_access_tracking.then_some(self.now()),
        };
        let is_new = old.is_none();
        self.drop_staging()?;
        self.retire(old)?;
        self.put(None, &blob);
        let content_md5 = blob.headers.content_md5;
        let written = Written { modified: at, version: blob.version, content_md5, is_new };
        Ok((blob, written))
    }
}
