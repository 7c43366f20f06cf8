//! An item's row (`docs/formats/item.md`).
//!
//! ```text
//!  0  version u8 = 1         18  etag u128
//!  1  unused u8              34  ordinal u64
//!  2  lsn u64 (stamped)      42  ttl i32, 0 = none
//! 10  written, ms u64        46  text length u32
//! 50  text: the JSON object that arrived, without system properties
//!     members: for each top-level member four varints: gap, name length, gap, value length
//! ```
//!
//! Integers are big-endian. A point read copies the text and never parses it; a filter on one member goes to
//! its bytes through the table.

use crate::catalog::Container;
use bytes::Bytes;
use orrery_core::{ETag, Guid, ItemRid, Lsn, ResourceKind, Timestamp};
use orrery_kv::Error;
use orrery_value::{Member, Span};
use std::cmp::Ordering;

const VERSION: u8 = 1;
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

/// A stored item. Its text is read in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemRow {
    bytes: Bytes,
    stamps: Stamps,
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
    let mut row = Vec::with_capacity(TEXT_AT + text.len() + members.len() * 6);
    row.resize(TEXT_AT, 0);
    row[0] = VERSION;
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

/// A copy of an encoded row with its stamps filled in; the LSN still zero.
pub(super) fn stamped(row: &[u8], stamps: Stamps) -> Vec<u8> {
    let mut row = row.to_vec();
    row[WRITTEN_AT..ETAG_AT].copy_from_slice(&stamps.written.millis().to_be_bytes());
    row[ETAG_AT..ORDINAL_AT].copy_from_slice(&stamps.etag.as_u128().to_be_bytes());
    row[ORDINAL_AT..TTL_AT].copy_from_slice(&stamps.ordinal.to_be_bytes());
    row
}

impl ItemRow {
    pub fn read(bytes: Bytes) -> Result<Self, Error> {
        let damaged = |what: &str| Err(Error::Corrupt(format!("an item's row {what}")));
        if bytes.len() < TEXT_AT {
            return damaged("is shorter than its header");
        }
        if bytes[0] != VERSION {
            return damaged(&format!("has version {}", bytes[0]));
        }
        let end = TEXT_AT + half(&bytes, LENGTH_AT) as usize;
        if end > bytes.len() || !bytes[TEXT_AT..end].ends_with(b"}") {
            return damaged("does not hold its text");
        }
        let etag = (u128::from(word(&bytes, ETAG_AT)) << 64) | u128::from(word(&bytes, ETAG_AT + 8));
        let stamps = Stamps {
            written: Timestamp::from_millis(word(&bytes, WRITTEN_AT)),
            etag: ETag::from_u128(etag),
            ordinal: word(&bytes, ORDINAL_AT),
        };
        Ok(Self { bytes, stamps })
    }

    /// An encoded row with stamps beside it: what [`stamped`] of the two will be read as, without the copy.
    pub(super) fn with(row: Bytes, stamps: Stamps) -> Self {
        Self { bytes: row, stamps }
    }

    pub fn lsn(&self) -> Lsn {
        Lsn(word(&self.bytes, LSN_AT))
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
        match half(&self.bytes, TTL_AT) as i32 {
            0 => Ttl::Default,
            ..0 => Ttl::Never,
            seconds => Ttl::Seconds(seconds as u32),
        }
    }

    /// The JSON text that is stored, without system properties.
    pub fn text(&self) -> &str {
        // Only text that `prepare` found to be UTF-8 is ever stored; damage shows as an empty object.
        std::str::from_utf8(self.text_bytes()).unwrap_or("{}")
    }

    /// [`text`](Self::text) without looking at it.
    pub fn text_bytes(&self) -> &[u8] {
        &self.bytes[TEXT_AT..TEXT_AT + self.text_length()]
    }

    /// The top-level members' places in [`text`](Self::text).
    pub fn members(&self) -> Vec<Member> {
        let mut table = &self.bytes[TEXT_AT + self.text_length()..];
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
        let text = self.text_bytes();
        let mut table = &self.bytes[TEXT_AT + text.len()..];
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

    pub fn bytes(&self) -> &Bytes {
        &self.bytes
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
        (self.bytes.slice(TEXT_AT..TEXT_AT + self.open_text().len()), Bytes::from(tail))
    }

    /// The item's text without its last brace.
    fn open_text(&self) -> &[u8] {
        let text = self.text_bytes();
        text[..text.len() - 1].trim_ascii_end()
    }

    /// The system properties and the end of the object.
    fn write_tail(&self, container: &Container, out: &mut Vec<u8>) {
        let rid = ItemRid::new(container.rid(), ResourceKind::Item, self.ordinal()).to_string();
        let tag = Guid::new(self.etag().as_u128());
        let seconds = self.written().seconds().to_string();
        let parts = [
            ",\"_rid\":\"",
            &rid,
            "\",\"_self\":\"",
            container.self_link(),
            "docs/",
            &rid,
            "/\",\"_etag\":\"\\\"",
            tag.as_str(),
            "\\\"\",\"_attachments\":\"attachments/\",\"_ts\":",
            &seconds,
            "}",
        ];
        parts.iter().for_each(|part| out.extend_from_slice(part.as_bytes()));
    }

    pub fn text_length(&self) -> usize {
        half(&self.bytes, LENGTH_AT) as usize
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
    use proptest::prelude::*;

    fn row() -> Vec<u8> {
        let text = br#"{"id":"a"}"#;
        let members = orrery_value::scan_object(text).unwrap().members;
        let etag = ETag::from_u128(1 << 127 | 5);
        let stamps = Stamps { written: Timestamp::from_millis(1234), etag, ordinal: 9 };
        stamped(&encode(text, &members, Ttl::Seconds(7)), stamps)
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
        assert!(ItemRow::read(Bytes::from(whole.clone())).is_ok());
        for length in 0..TEXT_AT + 10 {
            let cut = Bytes::copy_from_slice(&whole[..length]);
            assert!(matches!(ItemRow::read(cut), Err(Error::Corrupt(_))), "{length} bytes");
        }
        let newer = [&[2], &whole[1..]].concat();
        assert!(matches!(ItemRow::read(newer.into()), Err(Error::Corrupt(_))));
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
            let item = ItemRow::read(Bytes::from(damaged)).unwrap();
            for member in item.members() {
                prop_assert!(member.name.of(item.text()).len() <= 10 && member.value.of(item.text()).len() <= 10);
            }
        }
    }
}
