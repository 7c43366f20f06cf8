//! Every key this model stores, in one enum; `base/keys` turns it into bytes that sort as it does.
//!
//! Entities are in a space of their own, in the order of UTF-16 code units (`utf16`). The rows in `meta` have tags from 25
//! to 29, beside those of the catalog.

use crate::spaces::ENTITIES;
use crate::utf16;
use bytes::Bytes;
use orrery_keys::{KeyBuf, KeyReader};
use orrery_kv::{KeyRange, META, Space};
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row<'a> {
    Entity {
        table: u32,
        partition_key: &'a str,
        row_key: &'a str,
    },
    /// The definition of a table.
    Table {
        account: &'a str,
        /// In lower case.
        folded_name: &'a str,
    },
    /// There while the table is; what writes of its entities depend on.
    Alive {
        table: u32,
    },
    /// The rows of a dropped table are being removed; how far that has come.
    Sweep {
        table: u32,
    },
    /// Up to which commit the log of a table was trimmed.
    Trimmed {
        table: u32,
    },
    /// How much a table holds: a tally.
    Size {
        table: u32,
    },
}

const TABLE: u8 = 25;
const ALIVE: u8 = 26;
const SWEEP: u8 = 27;
const TRIMMED: u8 = 28;
const SIZE: u8 = 29;

/// Where the partition key begins in the key of an entity.
pub(crate) const PARTITION_KEY_AT: usize = 4;
/// What `base/keys` writes at the end of bytes.
const PART_END: [u8; 2] = [0, 0];

impl Row<'_> {
    pub fn space(&self) -> Space {
        match self {
            Row::Entity { .. } => ENTITIES,
            Row::Table { .. }
            | Row::Alive { .. }
            | Row::Sweep { .. }
            | Row::Trimmed { .. }
            | Row::Size { .. } => META,
        }
    }

    pub fn key(&self) -> Bytes {
        let key = match *self {
            Row::Entity { table, partition_key, row_key } => {
                let (partition_key, row_key) = (utf16::encode(partition_key), utf16::encode(row_key));
                let size = PARTITION_KEY_AT + partition_key.len() + PART_END.len() + row_key.len();
                KeyBuf::with_capacity(size).u32(table).bytes(&partition_key).raw(&row_key)
            }
            Row::Table { account, folded_name } => {
                KeyBuf::new().u8(TABLE).bytes(account.as_bytes()).raw(folded_name.as_bytes())
            }
            Row::Alive { table } => KeyBuf::new().u8(ALIVE).u32(table),
            Row::Sweep { table } => KeyBuf::new().u8(SWEEP).u32(table),
            Row::Trimmed { table } => KeyBuf::new().u8(TRIMMED).u32(table),
            Row::Size { table } => KeyBuf::new().u8(SIZE).u32(table),
        };
        Bytes::from(key.finish())
    }
}

/// Every table of every account.
pub fn tables() -> KeyRange {
    KeyRange::prefix(&[TABLE])
}

pub fn sweeps() -> KeyRange {
    KeyRange::prefix(&[SWEEP])
}

/// The table of a sweep's key.
pub fn read_sweep(key: &[u8]) -> Option<u32> {
    let mut reader = KeyReader::new(key);
    reader.u8().ok().filter(|tag| *tag == SWEEP)?;
    reader.u32().ok()
}

/// The account of a table's key.
pub fn read_table(key: &[u8]) -> Option<String> {
    let mut reader = KeyReader::new(key);
    reader.u8().ok().filter(|tag| *tag == TABLE)?;
    String::from_utf8(reader.bytes().ok()?.into_owned()).ok()
}

/// Every entity of a table.
pub fn entities(table: u32) -> KeyRange {
    KeyRange::prefix(&KeyBuf::new().u32(table).finish())
}

/// Where the partition key is in the key of an entity, and where the row key begins. Neither has zeros in it.
pub(crate) fn split_entity(key: &[u8]) -> Option<(Range<usize>, usize)> {
    let after = key.get(PARTITION_KEY_AT..)?;
    let length = after.iter().position(|byte| *byte == 0)?;
    let end = PARTITION_KEY_AT + length;
    let rest = after[length..].strip_prefix(&PART_END)?;
    (!rest.contains(&0)).then_some((PARTITION_KEY_AT..end, end + PART_END.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_kind_of_row_has_a_tag_of_its_own() {
        let tags = [&orrery_catalog::row::TAGS[..], &[TABLE, ALIVE, SWEEP, TRIMMED, SIZE]].concat();
        let different: std::collections::BTreeSet<u8> = tags.iter().copied().collect();
        assert_eq!(different.len(), tags.len());
    }

    /// Keys as entities may have, many of them alike.
    fn keys() -> impl Strategy<Value = String> {
        prop_oneof!["[ab\u{e000}\u{10000}]{0,3}", "[^\\x00-\\x1f\\x7f-\\x9f/\\\\#?]{0,4}"]
    }

    proptest! {
        #[test]
        fn rows_sort_as_pairs_of_utf_16_keys(one in (keys(), keys()), other in (keys(), keys())) {
            let key = |(partition_key, row_key): &(String, String)| {
                Row::Entity { table: 7, partition_key, row_key }.key()
            };
            let units = |(partition_key, row_key): &(String, String)| {
                [partition_key, row_key].map(|text| text.encode_utf16().collect::<Vec<u16>>())
            };
            prop_assert_eq!(key(&one).cmp(&key(&other)), units(&one).cmp(&units(&other)));
        }

        #[test]
        fn a_key_is_divided_where_its_parts_meet(partition_key in keys(), row_key in keys()) {
            let key = Row::Entity { table: 7, partition_key: &partition_key, row_key: &row_key }.key();
            let (partition, row) = split_entity(&key).expect("a key of an entity");
            let (partition, row) = (utf16::decode(&key[partition]), utf16::decode(&key[row..]));
            prop_assert_eq!(partition.as_deref(), Some(partition_key.as_str()));
            prop_assert_eq!(row.as_deref(), Some(row_key.as_str()));
        }
    }
}
