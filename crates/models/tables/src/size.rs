//! How much a table holds: its entities, and their bytes as the service counts them.
//!
//! It is a tally, which commits add up: no transaction reads it, so writers of different partitions never wait for each
//! other, and commits that share a sync write it once.

use crate::row::Row;
use orrery_kv::{Error, META, Read, Tally, Txn};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableSize {
    pub entities: u64,
    pub bytes: u64,
}

const ENTITIES_FIELD: u64 = 0;
const BYTES_FIELD: u64 = 1;

/// One lookup.
pub fn size(state: &dyn Read, table: u32) -> Result<TableSize, Error> {
    let row = Row::Size { table };
    let tally = Tally::of(state, row.space(), &row.key())?;
    Ok(TableSize { entities: tally.get(ENTITIES_FIELD), bytes: tally.get(BYTES_FIELD) })
}

/// What a transaction changes of it.
#[derive(Debug, Default)]
pub(crate) struct Growth {
    entities: i64,
    bytes: i64,
}

impl Growth {
    pub fn add(&mut self, bytes: usize) {
        self.entities += 1;
        self.bytes += bytes as i64;
    }

    pub fn remove(&mut self, bytes: usize) {
        self.entities -= 1;
        self.bytes -= bytes as i64;
    }

    pub fn add_to(&self, txn: &mut Txn<'_>, table: u32) {
        for (field, by) in [(ENTITIES_FIELD, self.entities), (BYTES_FIELD, self.bytes)] {
            if by != 0 {
                txn.tally(META, Row::Size { table }.key(), field, by);
            }
        }
    }
}
