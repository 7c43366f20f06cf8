//! The kinds of rows in the space `index`, and how many of each there are and ought to be.

use crate::row;
use orrery_keys::{KeyBuf, KeyReader};
use orrery_kv::KeyRange;

/// By the tags that the keys have after the container's number (`docs/formats/index.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    Unique = row::UNIQUE,
    Expiry = row::EXPIRY,
    Partition = row::PARTITION,
    Locator = row::LOCATOR,
    Entry = row::ENTRY,
    LocalEntry = row::LOCAL_ENTRY,
    Tally = row::TALLY,
    Successor = row::SUCCESSOR,
}

const ALL: [Kind; 8] = [
    Kind::Unique,
    Kind::Expiry,
    Kind::Partition,
    Kind::Locator,
    Kind::Entry,
    Kind::LocalEntry,
    Kind::Tally,
    Kind::Successor,
];

impl Kind {
    /// Those of which there may be rows that no item asks for.
    pub const TRACED: [Self; 6] =
        [Self::Unique, Self::Partition, Self::Locator, Self::Entry, Self::LocalEntry, Self::Tally];

    pub fn of(key: &[u8]) -> Option<Self> {
        let tag = *key.get(4)?;
        ALL.into_iter().find(|kind| *kind as u8 == tag)
    }

    pub fn range(self, container: u32) -> KeyRange {
        KeyRange::prefix(&KeyBuf::new().u32(container).u8(self as u8).finish())
    }
}

/// A row's key, taken apart.
#[derive(Debug, PartialEq)]
pub(super) enum Parts<'a> {
    Unique {
        epk: Vec<u8>,
        key: u8,
        values: &'a [u8],
    },
    Partition {
        epk: &'a [u8],
    },
    Locator {
        ordinal: u64,
    },
    Entry {
        term: &'a [u8],
        ordinal: u64,
        prefix: [u8; 4],
    },
    LocalEntry {
        epk: Vec<u8>,
        term: &'a [u8],
        ordinal: u64,
    },
    /// `None` for the container's own.
    Tally {
        epk: Option<&'a [u8]>,
    },
}

/// `None` for what is no such key, and for expiry rows and successors.
pub(super) fn parts(key: &[u8]) -> Option<Parts<'_>> {
    let kind = Kind::of(key)?;
    let mut reader = KeyReader::new(key.get(5..)?);
    match kind {
        Kind::Expiry | Kind::Successor => None,
        Kind::Unique => {
            let epk = reader.bytes().ok()?.into_owned();
            Some(Parts::Unique { epk, key: reader.u8().ok()?, values: reader.raw() })
        }
        Kind::Partition => Some(Parts::Partition { epk: reader.raw() }),
        Kind::Locator => Some(Parts::Locator { ordinal: reader.u64().ok()? }),
        Kind::Entry => {
            let (ordinal, prefix) = row::read_entry(reader.raw())?;
            let term = reader.raw().split_last_chunk::<12>()?.0;
            Some(Parts::Entry { term, ordinal, prefix })
        }
        Kind::LocalEntry => {
            let epk = reader.bytes().ok()?.into_owned();
            let (term, ordinal) = reader.raw().split_last_chunk()?;
            Some(Parts::LocalEntry { epk, term, ordinal: u64::from_be_bytes(*ordinal) })
        }
        Kind::Tally => Some(Parts::Tally { epk: Some(reader.raw()).filter(|epk| !epk.is_empty()) }),
    }
}

/// How many rows of each kind were asked for and found so, and how many there are.
#[derive(Default)]
pub(super) struct RowCounts {
    held: [u64; ALL.len() + 1],
    there: [u64; ALL.len() + 1],
}

impl RowCounts {
    /// A row that an item asks for was there.
    pub fn hold(&mut self, kind: Kind) {
        self.held[kind as usize] += 1;
    }

    /// A row was met.
    pub fn see(&mut self, kind: Kind) {
        self.there[kind as usize] += 1;
    }

    pub fn there(&self, kind: Kind) -> u64 {
        self.there[kind as usize]
    }

    /// How many there are that nobody asked for.
    pub fn surplus(&self, kind: Kind) -> u64 {
        self.there(kind).saturating_sub(self.held[kind as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Row;

    #[test]
    fn every_key_is_taken_apart_again() {
        let (container, epk, term) = (7, &[3, 0, 5][..], &[1, 2, 0, 4][..]);
        let check = |row: Row<'_>, kind: Kind, expected: Option<Parts<'_>>| {
            let key = row.key();
            assert_eq!((Kind::of(&key), parts(&key)), (Some(kind), expected), "{row:?}");
            assert!(kind.range(container).contains(&key));
        };
        let values = &[9, 0][..];
        let unique = Parts::Unique { epk: epk.to_vec(), key: 2, values };
        check(Row::Unique { container, epk, key: 2, values }, Kind::Unique, Some(unique));
        check(Row::Expiry { container, at: 5, epk, id: "i" }, Kind::Expiry, None);
        check(Row::Partition { container, epk }, Kind::Partition, Some(Parts::Partition { epk }));
        check(Row::Locator { container, ordinal: 11 }, Kind::Locator, Some(Parts::Locator { ordinal: 11 }));
        let entry = Parts::Entry { term, ordinal: 11, prefix: [3, 0, 5, 0] };
        check(Row::Entry { container, term, ordinal: 11, epk }, Kind::Entry, Some(entry));
        let local = Parts::LocalEntry { epk: epk.to_vec(), term, ordinal: 11 };
        check(Row::LocalEntry { container, epk, term, ordinal: 11 }, Kind::LocalEntry, Some(local));
        check(Row::Tally { container, epk: None }, Kind::Tally, Some(Parts::Tally { epk: None }));
        check(Row::Tally { container, epk: Some(epk) }, Kind::Tally, Some(Parts::Tally { epk: Some(epk) }));
    }

    #[test]
    fn what_is_no_key_has_no_parts() {
        for key in [
            &[][..],
            &[0, 0, 0, 1],
            &[0, 0, 0, 1, 8],
            &[0, 0, 0, 1, 4, 0],
            &[0, 0, 0, 1, 5, 1, 2],
            &[0, 0, 0, 1, 6, 1],
        ] {
            assert_eq!(parts(key), None, "{key:?}");
        }
    }
}
