//! The size of each logical partition, maintained with its items.
//!
//! One row a partition, changed in the transaction that changes an item of it, so it is never off. It bounds a
//! partition as the service does, and tells how large one is without going through it.

use crate::item::ItemError;
use crate::limits;
use crate::row::Row;
use crate::spaces::INDEX;
use orrery_kv::{Error, Read, Txn};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartitionSize {
    pub items: u64,
    /// Of the items' text.
    pub bytes: u64,
    /// Whether its items have entries of their own beside those of the container. A partition is large from the
    /// moment it has grown to [`limits::PARTITION_LARGE_BYTES`] until it is empty.
    pub is_large: bool,
}

impl PartitionSize {
    fn of(container: u32, epk: &[u8], state: &dyn Read) -> Result<Self, Error> {
        let stored = state.get(INDEX, &Row::Partition { container, epk }.key())?;
        stored.map_or(Ok(Self::default()), |bytes| Self::read(&bytes))
    }

    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Error> {
        let word = |at: usize| bytes[at..at + 8].iter().fold(0, |word, byte| (word << 8) | u64::from(*byte));
        match bytes.len() {
            17 => Ok(Self { items: word(0), bytes: word(8), is_large: bytes[16] == 1 }),
            length => Err(Error::Corrupt(format!("a partition's row has {length} bytes"))),
        }
    }

    fn write(self, txn: &mut Txn<'_>, container: u32, epk: &[u8]) {
        let key = Row::Partition { container, epk }.key();
        if self.items == 0 {
            return txn.delete(INDEX, key);
        }
        let [items, bytes] = [self.items, self.bytes].map(u64::to_be_bytes);
        txn.put(INDEX, key, [&items[..], &bytes, &[u8::from(self.is_large)]].concat());
    }
}

/// How much the partition holds.
pub fn size(state: &dyn Read, container: u32, epk: &[u8]) -> Result<PartitionSize, Error> {
    PartitionSize::of(container, epk, state)
}

/// How a partition was and is, around a write to it.
pub(crate) struct Growth {
    pub was_large: bool,
    pub is_large: bool,
}

/// Counts an item that is written in the place of `replaced` bytes, unless the partition would outgrow `bytes_max`.
/// One that does not grow is never refused.
pub(crate) fn count_write(
    txn: &mut Txn<'_>,
    container: u32,
    epk: &[u8],
    bytes: u64,
    replaced: Option<u64>,
    bytes_max: u64,
) -> Result<Growth, ItemError> {
    orrery_core::tour_step!();
    let before = PartitionSize::of(container, epk, txn)?;
    let bytes = before.bytes.saturating_sub(replaced.unwrap_or(0)) + bytes;
    let is_large = before.is_large || bytes >= limits::PARTITION_LARGE_BYTES;
    let after = PartitionSize { items: before.items + u64::from(replaced.is_none()), bytes, is_large };
    if after.bytes > bytes_max && after.bytes > before.bytes {
        return Err(ItemError::PartitionFull { bytes_max });
    }
    after.write(txn, container, epk);
    Ok(Growth { was_large: before.is_large, is_large })
}

/// Counts an item less. Says whether the partition was a large one.
pub(crate) fn count_removal(
    txn: &mut Txn<'_>,
    container: u32,
    epk: &[u8],
    bytes: u64,
) -> Result<bool, Error> {
    let before = PartitionSize::of(container, epk, txn)?;
    let (items, bytes) = (before.items.saturating_sub(1), before.bytes.saturating_sub(bytes));
    PartitionSize { items, bytes, is_large: before.is_large }.write(txn, container, epk);
    Ok(before.is_large)
}
