//! Append blobs: blocks at the end, one after another, until the blob is sealed.

use super::write::{Place, Stored, Write};
use super::{AppendConditions, Appended, Stamp, Written};
use crate::blob::{Blob, BlobKind};
use crate::content::{Content, Upload, put_pieces};
use crate::limits;
use crate::refusal::{BlobError, Refusal};
use orrery_kv::Txn;

/// Append Block.
pub fn append(
    txn: &mut Txn<'_>,
    place: Place<'_>,
    upload: Upload<'_>,
    asked: &AppendConditions,
    stamp: Stamp,
) -> Result<Appended, BlobError> {
    let mut write = Write::begin(txn, place, stamp);
    let old = write.existing()?;
    let (blocks, is_sealed) = check(&write, &old, asked)?;
    if is_sealed {
        return Err(Refusal::BlobIsSealed.into());
    }
    if blocks == limits::APPENDED_BLOCKS_MAX {
        return Err(Refusal::BlockCountExceedsLimit.into());
    }
    let offset = old.blob.content.length;
    if asked.length_max.is_some_and(|most| offset + upload.length() > most) {
        return Err(Refusal::MaxBlobSizeNotMet.into());
    }
    let pieces = upload.pieces(write.txn);
    let length = put_pieces(write.txn, old.blob.content.ordinal, offset, pieces);
    let blob = Blob {
        modified: write.moment_after(Some(&old)),
        content: Content { length, ..old.blob.content },
        kind: BlobKind::Append { blocks: blocks + 1, is_sealed },
        lease: old.blob.lease.after_write(stamp.now),
        ..old.blob.clone()
    };
    write.put(Some(&old), &blob);
    Ok(Appended { written: written(&blob), offset, blocks: blocks + 1 })
}

/// Append Blob Seal. Sealing twice does nothing.
pub fn seal(
    txn: &mut Txn<'_>,
    place: Place<'_>,
    asked: &AppendConditions,
    stamp: Stamp,
) -> Result<Written, BlobError> {
    let mut write = Write::begin(txn, place, stamp);
    let old = write.existing()?;
    let (blocks, is_sealed) = check(&write, &old, asked)?;
    if is_sealed {
        return Ok(written(&old.blob));
    }
    let blob = Blob {
        modified: write.moment_after(Some(&old)),
        kind: BlobKind::Append { blocks, is_sealed: true },
        lease: old.blob.lease.after_write(stamp.now),
        ..old.blob.clone()
    };
    write.put(Some(&old), &blob);
    Ok(written(&blob))
}

/// How many blocks it has, and whether it is sealed.
fn check(
    write: &Write<'_, '_, '_>,
    old: &Stored,
    asked: &AppendConditions,
) -> Result<(u32, bool), BlobError> {
    let BlobKind::Append { blocks, is_sealed } = old.blob.kind else {
        return Err(Refusal::InvalidBlobType.into());
    };
    write.check_change(old, &asked.conditions)?;
    if asked.position.is_some_and(|position| position != old.blob.content.length) {
        return Err(Refusal::AppendPositionNotMet.into());
    }
    Ok((blocks, is_sealed))
}

pub(super) fn written(blob: &Blob) -> Written {
    Written { modified: blob.modified, version: blob.version, content_md5: None, is_new: false }
}
