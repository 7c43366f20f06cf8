//! The list of committed blocks of a blob, in pages: a list may have 50,000 entries.

use crate::blob::BlockId;
use crate::limits;
use crate::operations::Block;
use crate::row::{self, Row};
use crate::spaces::CONTENT;
use bytes::Bytes;
use orrery_kv::{Error, Order, Read, Txn};

pub(crate) fn put_block_list(txn: &mut Txn<'_>, ordinal: u64, blocks: &[Block]) {
    for (page, blocks) in blocks.chunks(limits::BLOCK_LIST_PAGE_BLOCKS).enumerate() {
        let mut bytes = Vec::new();
        for Block { id, length } in blocks {
            bytes.push(id.as_bytes().len() as u8);
            bytes.extend_from_slice(id.as_bytes());
            bytes.extend_from_slice(&length.to_be_bytes());
        }
        txn.put(CONTENT, Row::BlockList { content: ordinal, page: page as u64 }.key(), bytes);
    }
}

pub(crate) fn read_block_list(state: &dyn Read, ordinal: u64) -> Result<Vec<Block>, Error> {
    let mut blocks = Vec::new();
    for row in state.range(CONTENT, &row::block_list(ordinal), Order::Ascending) {
        let mut rest = row?.1;
        while !rest.is_empty() {
            blocks.push(read_block(&mut rest).ok_or_else(|| Error::Corrupt("a list of blocks".into()))?);
        }
    }
    Ok(blocks)
}

fn read_block(rest: &mut Bytes) -> Option<Block> {
    const LENGTH_BYTES: usize = 8;
    let id_bytes = usize::from(*rest.first()?);
    if rest.len() < 1 + id_bytes + LENGTH_BYTES {
        return None;
    }
    let mut block = rest.split_to(1 + id_bytes + LENGTH_BYTES).split_off(1);
    let id = BlockId::from_bytes(block.split_to(id_bytes)).ok()?;
    let length = block.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    Some(Block { id, length })
}
