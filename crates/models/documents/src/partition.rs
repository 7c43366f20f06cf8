//! How much a logical partition holds, kept beside its items.
//!
//! One row a partition, changed in the transaction that changes an item of it, so it is never off. It bounds a
//! partition as the service does, and tells how large one is without going through it.

use crate::item::ItemError;
use crate::row::Row;
use orrery_kv::{Error, Read, Space, Txn};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartitionSize {
    pub items: u64,
    /// Of the items' text.
    pub bytes: u64,
}

impl PartitionSize {
    fn of(container: u32, epk: &[u8], state: &dyn Read) -> Result<Self, Error> {
        let stored = state.get(Space::Index, &Row::Partition { container, epk }.key())?;
        stored.map_or(Ok(Self::default()), |bytes| Self::read(&bytes))
    }

    fn read(bytes: &[u8]) -> Result<Self, Error> {
        let word = |at: usize| bytes[at..at + 8].iter().fold(0, |word, byte| (word << 8) | u64::from(*byte));
        match bytes.len() {
            16 => Ok(Self { items: word(0), bytes: word(8) }),
            length => Err(Error::Corrupt(format!("a partition's row has {length} bytes"))),
        }
    }

    fn write(self, txn: &mut Txn<'_>, container: u32, epk: &[u8]) {
        let key = Row::Partition { container, epk }.key();
        if self.items == 0 {
            return txn.delete(Space::Index, key);
        }
        txn.put(Space::Index, key, [self.items.to_be_bytes(), self.bytes.to_be_bytes()].concat());
    }
}

/// How much the partition holds.
pub fn size(state: &dyn Read, container: u32, epk: &[u8]) -> Result<PartitionSize, Error> {
    PartitionSize::of(container, epk, state)
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
) -> Result<(), ItemError> {
    let before = PartitionSize::of(container, epk, txn)?;
    let after = PartitionSize {
        items: before.items + u64::from(replaced.is_none()),
        bytes: before.bytes.saturating_sub(replaced.unwrap_or(0)) + bytes,
    };
    if after.bytes > bytes_max && after.bytes > before.bytes {
        return Err(ItemError::PartitionFull { bytes_max });
    }
    after.write(txn, container, epk);
    Ok(())
}

pub(crate) fn count_removal(txn: &mut Txn<'_>, container: u32, epk: &[u8], bytes: u64) -> Result<(), Error> {
    let PartitionSize { items, bytes: held } = PartitionSize::of(container, epk, txn)?;
    let after = PartitionSize { items: items.saturating_sub(1), bytes: held.saturating_sub(bytes) };
    after.write(txn, container, epk);
    Ok(())
}
