//! The stored form of an entity (`docs/formats/tables.md`). Properties are read in place, one after the other.
//!
//! ```text
//! version u8, 1 | Timestamp u64 | properties: count u16, then for each
//!   length of the name u16 | name | type u8 | value
//!     String, Binary   length u32 | bytes
//!     Boolean          u8
//!     Int32            4 bytes      Int64, Double   8 bytes
//!     DateTime         ticks u64 | length of the text u8 | text
//!     Guid             16 bytes
//! ```
//!
//! Integers are big-endian. The keys are in the row's key.

use super::key::{EntityKey, KeyText};
use crate::edm::{DateTimeRef, EdmType, Guid, Ticks, ValueRef};
use crate::row;
use bytes::Bytes;
use orrery_kv::Error;
use std::borrow::Cow;

const VERSION: u8 = 1;
const TIMESTAMP_AT: usize = 1;
const COUNT_AT: usize = 9;
const HEAD_BYTES: usize = 11;

/// A stored entity: its row, and how to read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityRow {
    key: Bytes,
    /// Where the partition key ends in the row's key, and the row key begins.
    partition_key_end: usize,
    row_key_start: usize,
    record: Record,
}

/// A record whose properties can all be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record(Bytes);

/// The properties of an entity, in the order in which they were written.
#[derive(Clone, Copy, Debug)]
pub struct Properties<'a> {
    left: usize,
    bytes: &'a [u8],
}

impl EntityRow {
    /// A row of the space `entities`. Everything is looked at once, so that reading it cannot fail later.
    pub fn read(key: Bytes, record: Bytes) -> Result<Self, Error> {
        let damaged = || Error::Corrupt("the key of an entity".to_owned());
        let (partition_key, row_key_start) = row::split_entity(&key).ok_or_else(damaged)?;
        let is_text = |bytes: &[u8]| crate::utf16::decode(bytes).is_some();
        if !is_text(&key[partition_key.clone()]) || !is_text(&key[row_key_start..]) {
            return Err(damaged());
        }
        let partition_key_end = partition_key.end;
        Ok(Self { partition_key_end, row_key_start, key, record: Record::read(record)? })
    }

    pub fn partition_key(&self) -> Cow<'_, str> {
        self.text(row::PARTITION_KEY_AT, self.partition_key_end)
    }

    pub fn row_key(&self) -> Cow<'_, str> {
        self.text(self.row_key_start, self.key.len())
    }

    fn text(&self, from: usize, to: usize) -> Cow<'_, str> {
        crate::utf16::decode(&self.key[from..to]).expect("the key was checked when the row was read")
    }

    pub fn key(&self) -> EntityKey {
        EntityKey {
            partition_key: KeyText::stored(self.partition_key().into_owned()),
            row_key: KeyText::stored(self.row_key().into_owned()),
        }
    }

    pub fn timestamp(&self) -> Ticks {
        self.record.timestamp()
    }

    pub fn etag(&self) -> String {
        crate::version::etag(self.timestamp())
    }

    /// All but PartitionKey, RowKey and Timestamp.
    pub fn properties(&self) -> Properties<'_> {
        self.record.properties()
    }

    pub fn property(&self, name: &str) -> Option<ValueRef<'_>> {
        self.properties().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Size of the row.
    pub fn bytes(&self) -> usize {
        self.key.len() + self.record.0.len()
    }

    /// The row's key and value, as they are stored.
    pub fn stored(&self) -> (&Bytes, &Bytes) {
        (&self.key, &self.record.0)
    }
}

impl Record {
    pub fn read(bytes: Bytes) -> Result<Self, Error> {
        let damaged = |what: &str| Error::Corrupt(format!("the record of an entity {what}"));
        match bytes.first() {
            Some(&VERSION) if bytes.len() >= HEAD_BYTES => {}
            Some(version) if *version != VERSION => return Err(damaged(&format!("has version {version}"))),
            _ => return Err(damaged("is shorter than its head")),
        }
        let mut properties = Properties::of_record(&bytes);
        while properties.left > 0 {
            properties.read().ok_or_else(|| damaged("has a property that cannot be read"))?;
        }
        if !properties.bytes.is_empty() {
            return Err(damaged("goes on after its last property"));
        }
        Ok(Self(bytes))
    }

    pub fn timestamp(&self) -> Ticks {
        let bytes = self.0[TIMESTAMP_AT..COUNT_AT].try_into().expect("eight bytes");
        Ticks::from_count(u64::from_be_bytes(bytes))
    }

    pub fn properties(&self) -> Properties<'_> {
        Properties::of_record(&self.0)
    }

    pub fn bytes(&self) -> &Bytes {
        &self.0
    }
}

/// The record as of another moment.
pub(crate) fn with_timestamp(record: &[u8], at: Ticks) -> Vec<u8> {
    let mut record = record.to_vec();
    record[TIMESTAMP_AT..COUNT_AT].copy_from_slice(&at.count().to_be_bytes());
    record
}

impl<'a> Properties<'a> {
    /// Of a record that was read, or written here.
    pub(crate) fn of_record(record: &'a [u8]) -> Self {
        let count = u16::from_be_bytes([record[COUNT_AT], record[COUNT_AT + 1]]);
        Self { left: usize::from(count), bytes: &record[HEAD_BYTES..] }
    }

    pub(super) fn rest(self) -> &'a [u8] {
        self.bytes
    }

    fn read(&mut self) -> Option<(&'a str, ValueRef<'a>)> {
        let name_bytes = usize::from(u16::from_be_bytes(self.array()?));
        let name = std::str::from_utf8(self.take(name_bytes)?).ok()?;
        let [tag] = self.array()?;
        let value = match edm_type(tag)? {
            EdmType::String => {
                let bytes = u32::from_be_bytes(self.array()?) as usize;
                ValueRef::String(std::str::from_utf8(self.take(bytes)?).ok()?)
            }
            EdmType::Binary => {
                let bytes = u32::from_be_bytes(self.array()?) as usize;
                ValueRef::Binary(self.take(bytes)?)
            }
            EdmType::Boolean => match self.array()? {
                [0] => ValueRef::Boolean(false),
                [1] => ValueRef::Boolean(true),
                _ => return None,
            },
            EdmType::Int32 => ValueRef::Int32(i32::from_be_bytes(self.array()?)),
            EdmType::Int64 => ValueRef::Int64(i64::from_be_bytes(self.array()?)),
            EdmType::Double => ValueRef::Double(f64::from_be_bytes(self.array()?)),
            EdmType::DateTime => {
                let ticks = Ticks::from_count(u64::from_be_bytes(self.array()?));
                let [bytes] = self.array()?;
                let text = std::str::from_utf8(self.take(usize::from(bytes))?).ok()?;
                ValueRef::DateTime(DateTimeRef::stored(text, ticks))
            }
            EdmType::Guid => ValueRef::Guid(Guid::from_u128(u128::from_be_bytes(self.array()?))),
        };
        self.left -= 1;
        Some((name, value))
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (part, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(*part)
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (part, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(part)
    }
}

impl<'a> Iterator for Properties<'a> {
    type Item = (&'a str, ValueRef<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        (self.left > 0).then(|| self.read().expect("the record was checked when it was read"))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Properties<'_> {}

/// Writes properties into a record.
#[derive(Debug)]
pub(super) struct RecordWriter {
    bytes: Vec<u8>,
    count: u16,
}

impl RecordWriter {
    pub fn new(at: Ticks) -> Self {
        let mut bytes = vec![0; HEAD_BYTES];
        bytes[0] = VERSION;
        bytes[TIMESTAMP_AT..COUNT_AT].copy_from_slice(&at.count().to_be_bytes());
        Self { bytes, count: 0 }
    }

    pub fn push(&mut self, name: &str, value: ValueRef<'_>) {
        let bytes = &mut self.bytes;
        bytes.extend_from_slice(&(name.len() as u16).to_be_bytes());
        bytes.extend_from_slice(name.as_bytes());
        bytes.push(tag(value.edm_type()));
        match value {
            ValueRef::String(text) => push_long(bytes, text.as_bytes()),
            ValueRef::Binary(value) => push_long(bytes, value),
            ValueRef::Boolean(value) => bytes.push(u8::from(value)),
            ValueRef::Int32(value) => bytes.extend_from_slice(&value.to_be_bytes()),
            ValueRef::Int64(value) => bytes.extend_from_slice(&value.to_be_bytes()),
            ValueRef::Double(value) => bytes.extend_from_slice(&value.to_be_bytes()),
            ValueRef::DateTime(value) => {
                bytes.extend_from_slice(&value.ticks().count().to_be_bytes());
                bytes.push(value.text().len() as u8);
                bytes.extend_from_slice(value.text().as_bytes());
            }
            ValueRef::Guid(value) => bytes.extend_from_slice(&value.as_u128().to_be_bytes()),
        }
        self.count += 1;
    }

    /// Properties in the stored form.
    pub fn push_stored(&mut self, bytes: &[u8], count: usize) {
        self.bytes.extend_from_slice(bytes);
        self.count += count as u16;
    }

    pub fn finish(mut self) -> Vec<u8> {
        self.bytes[COUNT_AT..HEAD_BYTES].copy_from_slice(&self.count.to_be_bytes());
        self.bytes
    }
}

fn push_long(to: &mut Vec<u8>, bytes: &[u8]) {
    to.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
    to.extend_from_slice(bytes);
}

fn tag(of: EdmType) -> u8 {
    match of {
        EdmType::String => 1,
        EdmType::Boolean => 2,
        EdmType::Int32 => 3,
        EdmType::Int64 => 4,
        EdmType::Double => 5,
        EdmType::DateTime => 6,
        EdmType::Guid => 7,
        EdmType::Binary => 8,
    }
}

fn edm_type(wanted: u8) -> Option<EdmType> {
    EdmType::ALL.into_iter().find(|known| tag(*known) == wanted)
}
