//! Blocks: staged one by one in any order, and made a blob by a list of them.
//!
//! What is staged is not logged: until it is committed, nobody sees it.

use super::write::{Place, Write};
use super::{Block, BlockRef, BlockSource, PutOptions, Stamp, Written};
use crate::blob::{BlobKind, BlockId};
use crate::content::{Content, Piece, Upload, put_block_list, put_pieces, read_block_list, slices};
use crate::events::EventApi;
use crate::lease::LeaseId;
use crate::limits;
use crate::refusal::{BlobError, Refusal};
use crate::row::{self, Due, Row};
use crate::spaces::BLOBS;
use crate::staging::{StagedBlock, Staging};
use bytes::Bytes;
use orrery_core::Timestamp;
use orrery_kv::{Error, Order, Read, Txn};
use std::collections::{HashMap, HashSet};

/// Put Block. The block waits until a list names it, another of its id comes, or its time is over.
pub fn stage_block(
    txn: &mut Txn<'_>,
    place: Place<'_>,
    id: &BlockId,
    upload: Upload<'_>,
    lease: Option<LeaseId>,
    stamp: Stamp,
) -> Result<(), BlobError> {
    let mut write = Write::begin(txn, place, stamp);
    if let Some(old) = write.current()? {
        old.blob.lease.check_write(lease, stamp.now)?;
        write.check_not_pending(&old)?;
        if old.blob.kind != BlobKind::Block {
            return Err(Refusal::InvalidBlobType.into());
        }
        if old.blob.tier.is_archived(stamp.now) {
            return Err(Refusal::BlobArchived.into());
        }
    } else if lease.is_some() {
        return Err(crate::lease::LeaseConflict::NotPresent.into());
    }
    write.stage(id, upload)
}

impl Write<'_, '_, '_> {
    fn stage(&mut self, id: &BlockId, upload: Upload<'_>) -> Result<(), BlobError> {
        let (container, name) = (self.place.container, self.name());
        let mut staging = match Staging::load(self.txn, container, name)? {
            Some(staging) if staging.id_bytes != id.as_bytes().len() => {
                return Err(Refusal::InvalidBlockId.into());
            }
            Some(staging) => staging,
            None => Staging { created: self.stamp.ticks, id_bytes: id.as_bytes().len(), blocks: 0 },
        };
        let key = Row::Block { container, name, id: id.as_bytes() }.key();
        match self.txn.get(BLOBS, &key)? {
            Some(stored) => StagedBlock::read(&stored)?.release(self.txn),
            None if staging.blocks == limits::UNCOMMITTED_BLOCKS_MAX => {
                return Err(Refusal::BlockCountExceedsLimit.into());
            }
            None => staging.blocks += 1,
        }
        let block = StagedBlock(upload.pieces(self.txn));
        self.txn.put(BLOBS, key, block.write());
        if staging.blocks == 1 {
            let due = Row::Due {
                container,
                at: staging.expires(),
                what: Due::Staging,
                name,
                state: crate::blob::BlobState::Current,
            };
            self.txn.put(BLOBS, due.key(), Bytes::new());
        }
        self.txn.put(BLOBS, Row::Staging { container, name }.key(), staging.write());
        Ok(())
    }

    /// Drops all blocks that wait.
    pub fn drop_staging(&mut self) -> Result<(), Error> {
        let Some(staging) = Staging::load(self.txn, self.place.container, self.name())? else {
            return Ok(());
        };
        for (_, block) in self.staged()? {
            block.release(self.txn);
        }
        self.forget_staging(&staging)
    }

    /// Removes the rows of staged blocks. Their chunks are the caller's.
    fn forget_staging(&mut self, staging: &Staging) -> Result<(), Error> {
        let (container, name) = (self.place.container, self.name());
        let blocks = self.txn.range(BLOBS, &row::blocks_of(container, name), Order::Ascending);
        let keys = blocks.map(|row| row.map(|(key, _)| key)).collect::<Result<Vec<_>, _>>()?;
        keys.into_iter().for_each(|key| self.txn.delete(BLOBS, key));
        let state = crate::blob::BlobState::Current;
        self.txn.delete(
            BLOBS,
            Row::Due { container, at: staging.expires(), what: Due::Staging, name, state }.key(),
        );
        self.txn.delete(BLOBS, Row::Staging { container, name }.key());
        Ok(())
    }

    fn staged(&self) -> Result<Vec<(BlockId, StagedBlock)>, Error> {
        crate::staging::staged(self.txn, self.place.container, self.name())
    }
}

/// Put Block List.
pub fn commit_block_list(
    txn: &mut Txn<'_>,
    place: Place<'_>,
    list: &[BlockRef],
    options: &PutOptions,
    stamp: Stamp,
) -> Result<Written, BlobError> {
    if list.len() > limits::BLOCKS_MAX {
        return Err(Refusal::BlockListTooLong.into());
    }
    let mut write = Write::begin(txn, place, stamp);
    let old = write.current()?;
    write.check_overwrite(old.as_ref(), &options.conditions)?;
    let mut committed = HashMap::new();
    if let Some(old) = &old {
        if old.blob.kind != BlobKind::Block {
            return Err(Refusal::InvalidBlobType.into());
        }
        if old.blob.tier.is_archived(stamp.now) {
            return Err(Refusal::BlobArchived.into());
        }
        committed = committed_ranges(write.txn, old.blob.content)?;
    }
    let content = old.as_ref().map_or(Content::EMPTY, |old| old.blob.content);
    let content = write.assemble(list, content, &committed)?;
    write.replace(old, BlobKind::Block, content, options, EventApi::PutBlockList)
}

/// Where each committed block is in the content.
fn committed_ranges(state: &dyn Read, content: Content) -> Result<HashMap<BlockId, (u64, u64)>, Error> {
    let (mut ranges, mut offset) = (HashMap::new(), 0);
    for Block { id, length } in read_block_list(state, content.ordinal)? {
        ranges.insert(id, (offset, offset + length));
        offset += length;
    }
    Ok(ranges)
}

impl Write<'_, '_, '_> {
    /// Makes new content of blocks. The first use of a staged block takes over its references; what is not used is released.
    fn assemble(
        &mut self,
        list: &[BlockRef],
        old: Content,
        committed: &HashMap<BlockId, (u64, u64)>,
    ) -> Result<Content, BlobError> {
        let staging = Staging::load(self.txn, self.place.container, self.name())?;
        let staged: HashMap<BlockId, StagedBlock> = match &staging {
            Some(_) => self.staged()?.into_iter().collect(),
            None => HashMap::new(),
        };
        let (mut used, mut blocks, mut length) = (HashSet::new(), Vec::with_capacity(list.len()), 0);
        for BlockRef { id, from } in list {
            let waiting = staged.get(id).filter(|_| *from != BlockSource::Committed);
            let known = committed.get(id).filter(|_| *from != BlockSource::Uncommitted);
            let pieces: Vec<Piece> = match (waiting, known) {
                (Some(block), _) => {
                    if !used.insert(id) {
                        block.0.iter().for_each(|piece| piece.retain(self.txn));
                    }
                    block.0.clone()
                }
                (None, Some((start, end))) => {
                    let pieces = slices(self.txn, old.ordinal, *start, *end);
                    let pieces =
                        pieces.map(|found| found.map(|(_, piece)| piece)).collect::<Result<Vec<_>, _>>()?;
                    pieces.iter().for_each(|piece| piece.retain(self.txn));
                    pieces
                }
                (None, None) => return Err(Refusal::InvalidBlockList.into()),
            };
            let end = put_pieces(self.txn, self.stamp.ordinal, length, pieces);
            blocks.push(Block { id: id.clone(), length: end - length });
            length = end;
        }
        staged.iter().filter(|(id, _)| !used.contains(id)).for_each(|(_, block)| block.release(self.txn));
        if let Some(staging) = &staging {
            self.forget_staging(staging)?;
        }
        put_block_list(self.txn, self.stamp.ordinal, &blocks);
        Ok(Content { ordinal: self.stamp.ordinal, length })
    }
}

/// Blocks that were not committed in time go.
pub(super) fn expire_staging(
    txn: &mut Txn<'_>,
    place: Place<'_>,
    due: Timestamp,
    stamp: Stamp,
) -> Result<(), Error> {
    let mut write = Write { txn, place, stamp };
    match Staging::load(write.txn, place.container, place.name.as_str())? {
        Some(staging) if staging.expires() == due => write.drop_staging(),
        _ => Ok(()),
    }
}
