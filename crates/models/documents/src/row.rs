//! Every key this model stores, in one enum; `base/keys` turns it into bytes that sort as it does.
//!
//! Most of them are in the spaces `documents` and `index`. Those in `meta`, beside the catalog's, have tags of their own.

use crate::spaces::{DOCUMENTS, INDEX};
use bytes::Bytes;
use orrery_core::Lsn;
use orrery_keys::{KeyBuf, KeyReader};
use orrery_kv::{KeyRange, META, Space};

pub use orrery_catalog::jobs::JobKind;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row<'a> {
    /// A partition whose items are being removed.
    Purge {
        container: u32,
        epk: &'a [u8],
    },
    Item {
        container: u32,
        epk: &'a [u8],
        id: &'a str,
    },
    /// The item of a partition that has these values at the paths of a unique key.
    Unique {
        container: u32,
        epk: &'a [u8],
        key: u8,
        values: &'a [u8],
    },
    /// How much a logical partition holds.
    Partition {
        container: u32,
        epk: &'a [u8],
    },
    /// An item that expires at this second, if it is not written before.
    Expiry {
        container: u32,
        at: u64,
        epk: &'a [u8],
        id: &'a str,
    },
    /// Where the item of this number is, and under which generation of the policy it is indexed.
    Locator {
        container: u32,
        ordinal: u64,
    },
    /// An item that has this term, among all of the container.
    Entry {
        container: u32,
        term: &'a [u8],
        ordinal: u64,
        epk: &'a [u8],
    },
    /// An item that has this term, among those of its partition.
    LocalEntry {
        container: u32,
        epk: &'a [u8],
        term: &'a [u8],
        ordinal: u64,
    },
    /// How many items of a container have each path; of one partition if it is a large one.
    Tally {
        container: u32,
        epk: Option<&'a [u8]>,
    },
    /// The commit that replaced or removed what an item was since the commit `lsn`.
    Successor {
        container: u32,
        lsn: Lsn,
        /// The item's key without the container's number.
        item: &'a [u8],
    },
    /// Up to which commit the log of a container has lost what the newest versions do not need.
    Trimmed {
        container: u32,
    },
}

const PURGE: u8 = 13;
const TRIMMED: u8 = 16;
pub(crate) const UNIQUE: u8 = 1;
pub(crate) const EXPIRY: u8 = 2;
pub(crate) const PARTITION: u8 = 3;
pub(crate) const LOCATOR: u8 = 4;
pub(crate) const ENTRY: u8 = 5;
pub(crate) const LOCAL_ENTRY: u8 = 6;
pub(crate) const TALLY: u8 = 7;
pub(crate) const SUCCESSOR: u8 = 8;

/// How much of an item's effective partition key stands in its entries: enough to tell most ranges apart.
const EPK_PREFIX_BYTES: usize = 4;
const ORDINAL_BYTES: usize = 8;
const PLACE_KEY_BYTES: usize = 4 + 1 + ORDINAL_BYTES;

impl Row<'_> {
    pub fn space(&self) -> Space {
        match self {
            Row::Item { .. } => DOCUMENTS,
            Row::Unique { .. } | Row::Expiry { .. } | Row::Partition { .. } => INDEX,
            Row::Locator { .. } | Row::Entry { .. } | Row::LocalEntry { .. } | Row::Tally { .. } => INDEX,
            Row::Successor { .. } => INDEX,
            Row::Purge { .. } | Row::Trimmed { .. } => META,
        }
    }

    pub fn key(&self) -> Bytes {
        let key = match *self {
            Row::Purge { container, epk } => KeyBuf::new().u8(PURGE).u32(container).raw(epk),
            Row::Item { container, epk, id } => {
                // One that is just as large needs no memory beside the key's own.
                let size = 4 + epk.len() + 2 + id.len();
                KeyBuf::with_capacity(size).u32(container).bytes(epk).raw(id.as_bytes())
            }
            Row::Unique { container, epk, key, values } => {
                KeyBuf::new().u32(container).u8(UNIQUE).bytes(epk).u8(key).raw(values)
            }
            Row::Partition { container, epk } => {
                KeyBuf::with_capacity(5 + epk.len()).u32(container).u8(PARTITION).raw(epk)
            }
            Row::Expiry { container, at, epk, id } => {
                KeyBuf::new().u32(container).u8(EXPIRY).u64(at).bytes(epk).raw(id.as_bytes())
            }
            Row::Locator { container, ordinal } => {
                KeyBuf::with_capacity(PLACE_KEY_BYTES).raw(&locator_key(container, ordinal))
            }
            Row::Entry { container, term, ordinal, epk } => {
                entry(KeyBuf::with_capacity(17 + term.len()), container, term, ordinal, epk)
            }
            Row::LocalEntry { container, epk, term, ordinal } => {
                let key = KeyBuf::with_capacity(20 + epk.len() + term.len());
                local_entry(key, container, epk, term, ordinal)
            }
            Row::Tally { container, epk } => {
                KeyBuf::new().u32(container).u8(TALLY).raw(epk.unwrap_or_default())
            }
            Row::Successor { container, lsn, item } => {
                KeyBuf::with_capacity(13 + item.len()).u32(container).u8(SUCCESSOR).u64(lsn.0).raw(item)
            }
            Row::Trimmed { container } => KeyBuf::new().u8(TRIMMED).u32(container),
        };
        Bytes::from(key.finish())
    }
}

/// The key of a locator row.
pub fn locator_key(container: u32, ordinal: u64) -> [u8; PLACE_KEY_BYTES] {
    let mut key = [LOCATOR; PLACE_KEY_BYTES];
    key[..4].copy_from_slice(&container.to_be_bytes());
    key[5..].copy_from_slice(&ordinal.to_be_bytes());
    key
}

/// Appends the key of an entry: an item has many, and they are made in one piece of memory.
pub fn entry(to: KeyBuf, container: u32, term: &[u8], ordinal: u64, epk: &[u8]) -> KeyBuf {
    to.u32(container).u8(ENTRY).raw(term).u64(ordinal).raw(&epk_prefix(epk))
}

/// The same of an entry in its partition.
pub fn local_entry(to: KeyBuf, container: u32, epk: &[u8], term: &[u8], ordinal: u64) -> KeyBuf {
    to.u32(container).u8(LOCAL_ENTRY).bytes(epk).raw(term).u64(ordinal)
}

pub fn purges() -> KeyRange {
    KeyRange::prefix(&[PURGE])
}

/// Every row of a container in the spaces `documents` and `index`.
pub fn of_container(container: u32) -> KeyRange {
    KeyRange::prefix(&KeyBuf::new().u32(container).finish())
}

/// The items of one logical partition.
pub fn items_of_partition(container: u32, epk: &[u8]) -> KeyRange {
    KeyRange::prefix(&KeyBuf::new().u32(container).bytes(epk).finish())
}

/// The items whose effective partition key is in `[min, max)`.
pub fn items_between(container: u32, min: &[u8], max: &[u8]) -> KeyRange {
    let bound = |epk: &[u8]| KeyBuf::new().u32(container).open_bytes(epk).finish();
    KeyRange::new(bound(min), bound(max))
}

/// Every locator row of a container, from this number on.
pub fn locators_from(container: u32, ordinal: u64) -> KeyRange {
    let end = KeyRange::prefix(&KeyBuf::new().u32(container).u8(LOCATOR).finish()).end;
    KeyRange { start: KeyBuf::new().u32(container).u8(LOCATOR).u64(ordinal).finish(), end }
}

/// What the keys of a container's entries begin with.
pub fn entries_of(container: u32) -> Vec<u8> {
    KeyBuf::new().u32(container).u8(ENTRY).finish()
}

/// What the keys of a partition's own entries begin with.
pub fn local_entries_of(container: u32, epk: &[u8]) -> Vec<u8> {
    KeyBuf::new().u32(container).u8(LOCAL_ENTRY).bytes(epk).finish()
}

/// The beginning of an effective partition key, as an entry has it.
pub fn epk_prefix(epk: &[u8]) -> [u8; EPK_PREFIX_BYTES] {
    std::array::from_fn(|at| epk.get(at).copied().unwrap_or(0))
}

/// The number of an entry's item, and the beginning of its effective partition key.
pub fn read_entry(key: &[u8]) -> Option<(u64, [u8; EPK_PREFIX_BYTES])> {
    let (rest, prefix) = key.split_last_chunk()?;
    let (_, ordinal) = rest.split_last_chunk()?;
    Some((u64::from_be_bytes(*ordinal), *prefix))
}

/// The number of the item of a partition's own entry.
pub fn read_local_entry(key: &[u8]) -> Option<u64> {
    key.split_last_chunk::<ORDINAL_BYTES>().map(|(_, ordinal)| u64::from_be_bytes(*ordinal))
}

/// The number of a locator row's item.
pub fn read_locator(key: &[u8]) -> Option<u64> {
    read_local_entry(key)
}

/// The expiry rows of a container up to and including the second `at`.
pub fn expiring(container: u32, at: u64) -> KeyRange {
    let from = KeyBuf::new().u32(container).u8(EXPIRY).finish();
    let to = KeyBuf::new().u32(container).u8(EXPIRY).u64(at.saturating_add(1)).finish();
    KeyRange::new(from, to)
}

/// What an item's key says beside the number of its container.
pub fn without_container(item_key: &[u8]) -> &[u8] {
    item_key.get(4..).unwrap_or_default()
}

/// The partition key and id of an item's key; `None` if it is no such key.
pub fn read_item(key: &[u8]) -> Option<(Vec<u8>, String)> {
    let mut reader = KeyReader::new(key);
    reader.u32().ok()?;
    let epk = reader.bytes().ok()?.into_owned();
    Some((epk, String::from_utf8(reader.raw().to_vec()).ok()?))
}

/// The second, partition key and id of an expiry row's key.
pub fn read_expiry(key: &[u8]) -> Option<(u64, Vec<u8>, String)> {
    let mut reader = KeyReader::new(key);
    reader.u32().ok()?;
    reader.u8().ok().filter(|tag| *tag == EXPIRY)?;
    let at = reader.u64().ok()?;
    let epk = reader.bytes().ok()?.into_owned();
    Some((at, epk, String::from_utf8(reader.raw().to_vec()).ok()?))
}

/// The container and partition of a purge's key.
pub fn read_purge(key: &[u8]) -> Option<(u32, Vec<u8>)> {
    let mut reader = KeyReader::new(key);
    reader.u8().ok().filter(|tag| *tag == PURGE)?;
    Some((reader.u32().ok()?, reader.raw().to_vec()))
}

/// The key of the row that counts a container's items, and those that have each path.
pub fn tally_key(container: u32) -> [u8; 5] {
    let mut key = [TALLY; 5];
    key[..4].copy_from_slice(&container.to_be_bytes());
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_row_has_a_tag_of_its_own() {
        let meta = [&orrery_catalog::row::TAGS[..], &[PURGE, TRIMMED]].concat();
        let index = [UNIQUE, EXPIRY, PARTITION, LOCATOR, ENTRY, LOCAL_ENTRY, TALLY, SUCCESSOR];
        for tags in [&meta[..], &index] {
            let different: std::collections::BTreeSet<u8> = tags.iter().copied().collect();
            assert_eq!(different.len(), tags.len(), "{tags:?}");
        }
    }

    #[test]
    fn a_tally_has_one_key() {
        assert_eq!(&Row::Tally { container: 7, epk: None }.key()[..], tally_key(7));
    }
}
