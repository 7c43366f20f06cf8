//! An item's row (`docs/formats/item.md`).
//!
//! ```text
//!  0  version u8             18  etag u128
//!  1  unused u8              34  ordinal u64
//!  2  lsn u64 (stamped)      42  ttl i32, 0 = none
//! 10  written, ms u64        46  text length u32
//! 50  the body, in version 1
//!       text: the JSON object that arrived, without system properties
//!       members: for each top-level member four varints: gap, name length, gap, value length
//!     or where the body lies, in version 2
//!       number u32: with the LSN, its key among the texts
//! ```
//!
//! Integers are big-endian. A point read copies the text and never parses it; a filter on one member goes to
//! its bytes through the table. A large body lies apart and never changes: the item's row and, when that is replaced,
//! the log point to it, and it is written once.

use crate::limits;
use crate::spaces::{DOCUMENTS, OVERFLOW};
use bytes::Bytes;
use orrery_catalog::Container;
use orrery_core::{ETag, Guid, ItemRid, Lsn, ResourceKind, Timestamp};
use orrery_kv::{Error, Read, overflow_key};
use orrery_value::{Member, Span};
use std::cmp::Ordering;
use std::ops::Deref;

const INSIDE: u8 = 1;
const APART: u8 = 2;
pub(crate) const LSN_AT: usize = 2;
const WRITTEN_AT: usize = 10;
const ETAG_AT: usize = 18;
const ORDINAL_AT: usize = 34;
const TTL_AT: usize = 42;
const LENGTH_AT: usize = 46;
const TEXT_AT: usize = 50;
/// About what the system properties take.
const TAIL_BYTES: usize = 256;

/// An item's own word on its time to live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ttl {
    /// It says nothing: the container's default holds.
    Default,
    Never,
    Seconds(u32),
}

/// What is known of an item without its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemHead {
    /// The row as it is stored.
    row: Bytes,
    stamps: Stamps,
}

/// A stored item. Its text is read in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemRow {
    head: ItemHead,
    /// The body, if it is not in the row.
    apart: Option<Bytes>,
}

/// What only the transaction that wrote an item knows of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamps {
    pub written: Timestamp,
    pub etag: ETag,
    pub ordinal: u64,
}

/// The row with everything but its stamps.
pub(super) fn encode(text: &[u8], members: &[Member], ttl: Ttl) -> Vec<u8> {
    orrery_core::tour_step!();
    let mut row = Vec::with_capacity(TEXT_AT + text.len() + members.len() * 6);
    row.resize(TEXT_AT, 0);
    row[0] = INSIDE;
    let ttl = match ttl {
        Ttl::Default => 0,
        Ttl::Never => -1,
        Ttl::Seconds(seconds) => seconds.min(i32::MAX as u32) as i32,
    };
    row[TTL_AT..TTL_AT + 4].copy_from_slice(&ttl.to_be_bytes());
    row[LENGTH_AT..TEXT_AT].copy_from_slice(&(text.len() as u32).to_be_bytes());
    row.extend_from_slice(text);
    let mut last = 0;
    for Member { name, value } in members {
        for number in
            [name.start - last, name.end - name.start, value.start - name.end, value.end - value.start]
        {
            push_varint(&mut row, number);
        }
        last = value.end;
    }
    row
}

/// The body of an encoded row, if it is to lie apart.
pub(super) fn large_body(row: &Bytes) -> Option<Bytes> {
    (half(row, LENGTH_AT) as usize >= limits::TEXT_APART_BYTES_MIN).then(|| row.slice(TEXT_AT..))
}

/// The row to store of an encoded one, with its stamps filled in; the LSN still zero. If its body lies apart, this is its
/// number there.
pub(super) fn stamped(encoded: &[u8], stamps: Stamps, apart: Option<u32>) -> Vec<u8> {
    let mut row = match apart {
        None => encoded.to_vec(),
        Some(number) => [&encoded[..TEXT_AT], &number.to_be_bytes()].concat(),
    };
    row[0] = if apart.is_some() { APART } else { INSIDE };
    row[WRITTEN_AT..ETAG_AT].copy_from_slice(&stamps.written.millis().to_be_bytes());
    row[ETAG_AT..ORDINAL_AT].copy_from_slice(&stamps.etag.as_u128().to_be_bytes());
    row[ORDINAL_AT..TTL_AT].copy_from_slice(&stamps.ordinal.to_be_bytes());
    row
}

fn damaged<T>(what: &str) -> Result<T, Error> {
    Err(Error::Corrupt(format!("an item's row {what}")))
}

impl ItemHead {
    /// Of the item with this key, if it is there.
    pub fn at(state: &dyn Read, key: &[u8]) -> Result<Option<Self>, Error> {
        state.get(DOCUMENTS, key)?.map(Self::read).transpose()
    }

    pub fn read(row: Bytes) -> Result<Self, Error> {
        if row.len() < TEXT_AT {
            return damaged("is shorter than its header");
        }
        match row[0] {
            INSIDE => {}
            APART if row.len() == TEXT_AT + 4 => {}
            APART => return damaged("does not say where its text is"),
            other => return damaged(&format!("has version {other}")),
        }
        let etag = (u128::from(word(&row, ETAG_AT)) << 64) | u128::from(word(&row, ETAG_AT + 8));
        let stamps = Stamps {
            written: Timestamp::from_millis(word(&row, WRITTEN_AT)),
            etag: ETag::from_u128(etag),
            ordinal: word(&row, ORDINAL_AT),
        };
        Ok(Self { row, stamps })
    }

    /// Where its text is, if that lies apart.
    pub fn text_key(&self) -> Option<Bytes> {
        (self.row[0] == APART).then(|| overflow_key(self.lsn(), half(&self.row, TEXT_AT)))
    }

    /// With its text.
    pub fn whole(self, state: &dyn Read) -> Result<ItemRow, Error> {
        let apart = match self.text_key() {
            None => None,
            Some(key) => match state.get(OVERFLOW, &key)? {
                Some(body) => Some(body),
                None => return damaged("has lost its text"),
            },
        };
        let item = ItemRow { head: self, apart };
        let is_there = item.body().get(..item.text_length()).is_some_and(|text| text.ends_with(b"}"));
        if is_there { Ok(item) } else { damaged("does not hold its text") }
    }

    pub fn lsn(&self) -> Lsn {
        Lsn(word(&self.row, LSN_AT))
    }

    pub fn written(&self) -> Timestamp {
        self.stamps.written
    }

    pub fn etag(&self) -> ETag {
        self.stamps.etag
    }

    pub fn ordinal(&self) -> u64 {
        self.stamps.ordinal
    }

    pub fn ttl(&self) -> Ttl {
        match half(&self.row, TTL_AT) as i32 {
            0 => Ttl::Default,
            ..0 => Ttl::Never,
            seconds => Ttl::Seconds(seconds as u32),
        }
    }

    pub fn text_length(&self) -> usize {
        half(&self.row, LENGTH_AT) as usize
    }

    /// The row as it is stored.
    pub fn bytes(&self) -> &Bytes {
        &self.row
    }
}

impl Deref for ItemRow {
    type Target = ItemHead;

    fn deref(&self) -> &ItemHead {
        &self.head
    }
}

impl ItemRow {
    pub fn read(state: &dyn Read, row: Bytes) -> Result<Self, Error> {
        ItemHead::read(row)?.whole(state)
    }

    /// An encoded row with stamps beside it: what [`stamped`] of the two will be read as, without the copy.
    pub(super) fn with(row: Bytes, stamps: Stamps) -> Self {
        Self { head: ItemHead { row, stamps }, apart: None }
    }

    /// The text, and the table of its members.
    fn body(&self) -> &[u8] {
        match &self.apart {
            Some(body) => body,
            None => &self.row[TEXT_AT..],
        }
    }

    /// The JSON text that is stored, without system properties.
    pub fn text(&self) -> &str {
        // Only text that `prepare` found to be UTF-8 is ever stored; damage shows as an empty object.
        std::str::from_utf8(self.text_bytes()).unwrap_or("{}")
    }

    /// [`text`](Self::text) without looking at it.
    pub fn text_bytes(&self) -> &[u8] {
        &self.body()[..self.text_length()]
    }

    /// The top-level members' places in [`text`](Self::text).
    pub fn members(&self) -> Vec<Member> {
        let mut table = &self.body()[self.text_length()..];
        let mut members = Vec::new();
        let mut last = 0u32;
        while let Some(name) = take_span(&mut table, last) {
            let Some(value) = take_span(&mut table, name.end) else { break };
            last = value.end;
            members.push(Member { name, value });
        }
        members
    }

    /// The text of one top-level member's value, found through the table; the rest of the text is not looked at.
    pub fn member(&self, name: &str) -> Option<&str> {
        let (text, mut table) = self.body().split_at(self.text_length());
        let mut last = 0u32;
        while let Some(found) = take_span(&mut table, last) {
            let value = take_span(&mut table, found.end)?;
            last = value.end;
            let raw = text.get(found.start as usize..found.end as usize)?;
            if is_name(raw, name) {
                return std::str::from_utf8(text.get(value.start as usize..value.end as usize)?).ok();
            }
        }
        None
    }

    /// The item as clients see it: its text with the system properties spliced in at the end.
    pub fn write_json(&self, container: &Container, out: &mut Vec<u8>) {
        let text = self.open_text();
        out.reserve(text.len() + TAIL_BYTES);
        out.extend_from_slice(text);
        self.write_tail(container, out);
    }

    /// The same in two pieces, the first of them where it is stored.
    pub fn json(&self, container: &Container) -> (Bytes, Bytes) {
        let mut tail = Vec::with_capacity(TAIL_BYTES);
        self.write_tail(container, &mut tail);
        let length = self.open_text().len();
        let text = match &self.apart {
            Some(body) => body.slice(..length),
            None => self.row.slice(TEXT_AT..TEXT_AT + length),
        };
        (text, Bytes::from(tail))
    }

    /// The item's text without its last brace.
    fn open_text(&self) -> &[u8] {
        let text = self.text_bytes();
        text[..text.len() - 1].trim_ascii_end()
    }

    /// The system properties and the end of the object.
    fn write_tail(&self, container: &Container, out: &mut Vec<u8>) {
        let rid = ItemRid::new(container.rid(), ResourceKind::Item, self.ordinal()).text();
        let tag = Guid::new(self.etag().as_u128());
        let seconds = self.written().seconds().to_string();
        let parts = [
            ",\"_rid\":\"",
            rid.as_str(),
            "\",\"_self\":\"",
            container.self_link(),
            "docs/",
            rid.as_str(),
            "/\",\"_etag\":\"\\\"",
            tag.as_str(),
            "\\\"\",\"_attachments\":\"attachments/\",\"_ts\":",
            &seconds,
            "}",
        ];
        parts.iter().for_each(|part| out.extend_from_slice(part.as_bytes()));
    }
}

/// Whether the inside of a string token stands for `name`. An escape is longer than what it stands for, so the
/// lengths alone decide most of the time.
fn is_name(raw: &[u8], name: &str) -> bool {
    match raw.len().cmp(&name.len()) {
        Ordering::Less => false,
        Ordering::Equal => raw == name.as_bytes() && !raw.contains(&b'\\'),
        Ordering::Greater => raw.contains(&b'\\') && is_escaped(raw, name),
    }
}

fn is_escaped(raw: &[u8], name: &str) -> bool {
    std::str::from_utf8(raw).is_ok_and(|raw| orrery_value::raw::unescape(raw) == name)
}

fn word(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |word| u64::from_be_bytes(*word))
}

fn half(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |half| u32::from_be_bytes(*half))
}

fn push_varint(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// The next span of a table; the one before it ended at `from`. `None` at the end, or where it is damaged.
fn take_span(table: &mut &[u8], from: u32) -> Option<Span> {
    let start = from.checked_add(take_varint(table)?)?;
    Some(Span { start, end: start.checked_add(take_varint(table)?)? })
}

fn take_varint(bytes: &mut &[u8]) -> Option<u32> {
    // Nearly all are short.
    if let [byte @ ..0x80, rest @ ..] = *bytes {
        *bytes = rest;
        return Some(u32::from(*byte));
    }
    take_long_varint(bytes)
}

fn take_long_varint(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0u32;
    for shift in (0..35).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spaces::SPACES;
    use orrery_kv::{Engine, MemoryEngine};
    use proptest::prelude::*;

    fn row() -> Vec<u8> {
        let text = br#"{"id":"a"}"#;
        let members = orrery_value::scan_object(text).unwrap().members;
        stamped(&encode(text, &members, Ttl::Seconds(7)), stamps(), None)
    }

    fn stamps() -> Stamps {
        let etag = ETag::from_u128(1 << 127 | 5);
        Stamps { written: Timestamp::from_millis(1234), etag, ordinal: 9 }
    }

    fn read(row: &[u8]) -> Result<ItemRow, Error> {
        ItemRow::read(&*MemoryEngine::new(&SPACES).view(), Bytes::copy_from_slice(row))
    }

    #[test]
    fn the_stored_bytes_are_these() {
        let hex: String = row().iter().map(|byte| format!("{byte:02x}")).collect();
        let expected = "01 00 0000000000000000 00000000000004d2 80000000000000000000000000000005 \
             0000000000000009 00000007 0000000a 7b226964223a2261227d 02020203";
        assert_eq!(hex, expected.replace(' ', ""));
    }

    #[test]
    fn a_row_that_was_cut_or_is_of_another_version_is_damaged() {
        let whole = row();
        assert!(read(&whole).is_ok());
        for length in 0..TEXT_AT + 10 {
            assert!(matches!(read(&whole[..length]), Err(Error::Corrupt(_))), "{length} bytes");
        }
        for version in [0, APART, 3] {
            let other = [&[version], &whole[1..]].concat();
            assert!(matches!(read(&other), Err(Error::Corrupt(_))), "version {version}");
        }
    }

    #[test]
    fn a_row_whose_text_lies_apart_is_these_bytes_and_damaged_without_it() {
        let row = stamped(&row(), stamps(), Some(3));
        let hex: String = row.iter().map(|byte| format!("{byte:02x}")).collect();
        let expected = "02 00 0000000000000000 00000000000004d2 80000000000000000000000000000005 \
             0000000000000009 00000007 0000000a 00000003";
        assert_eq!(hex, expected.replace(' ', ""));
        let head = ItemHead::read(Bytes::from(row.clone())).unwrap();
        assert_eq!(head.text_key(), Some(overflow_key(Lsn(0), 3)));
        assert_eq!(head.text_length(), 10);
        assert!(matches!(read(&row), Err(Error::Corrupt(error)) if error.contains("lost its text")));
        assert!(matches!(read(&row[..row.len() - 1]), Err(Error::Corrupt(_))));
    }

    #[test]
    fn a_member_is_found_by_what_its_name_stands_for() {
        let check =
            |raw: &str, name: &str, expected| assert_eq!(is_name(raw.as_bytes(), name), expected, "{raw}");
        check("status", "status", true);
        check("status", "state", false);
        check("state", "status", false);
        check(r"st\u0061tus", "status", true);
        check(r"st\u0062tus", "status", false);
        check(r"a\nb", "a\nb", true);
        check(r"a\nb", r"a\nb", false);
        check(r"\ud83d\ude80", "🚀", true);
        check("", "", true);
    }

    #[test]
    fn numbers_of_every_size_survive() {
        for number in [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, 2_097_152, u32::MAX] {
            let mut bytes = Vec::new();
            push_varint(&mut bytes, number);
            assert_eq!(take_varint(&mut &bytes[..]), Some(number));
            assert_eq!(take_varint(&mut &bytes[..bytes.len() - 1]), None);
        }
    }

    proptest! {
        #[test]
        fn no_damage_to_the_table_makes_reading_panic(table in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut damaged = row();
            damaged.truncate(TEXT_AT + 10);
            damaged.extend(table);
            let item = read(&damaged).unwrap();
            for member in item.members() {
                prop_assert!(member.name.of(item.text()).len() <= 10 && member.value.of(item.text()).len() <= 10);
            }
        }
    }
}
