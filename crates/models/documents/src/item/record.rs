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

use bytes::Bytes;
use orrery_core::{ETag, ItemRid, Lsn, ResourceKind, Timestamp};
use orrery_kv::Error;
use orrery_value::{Member, Span};
use std::fmt::Write;

const VERSION: u8 = 1;
pub(super) const LSN_AT: usize = 2;
const WRITTEN_AT: usize = 10;
const ETAG_AT: usize = 18;
const ORDINAL_AT: usize = 34;
const TTL_AT: usize = 42;
const LENGTH_AT: usize = 46;
const TEXT_AT: usize = 50;

/// An item's own word on its time to live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ttl {
    /// It says nothing: the container's default holds.
    Default,
    Never,
    Seconds(u32),
}

/// A stored item. Its parts are read in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemRow(Bytes);

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
        for number in [name.start - last, name.end - name.start, value.start - name.end, value.end - value.start] {
            push_varint(&mut row, number);
        }
        last = value.end;
    }
    row
}

/// Fills in what only the transaction knows.
pub(super) fn stamp(row: &mut [u8], written: Timestamp, etag: ETag, ordinal: u64) {
    row[WRITTEN_AT..ETAG_AT].copy_from_slice(&written.millis().to_be_bytes());
    row[ETAG_AT..ORDINAL_AT].copy_from_slice(&etag.as_u128().to_be_bytes());
    row[ORDINAL_AT..TTL_AT].copy_from_slice(&ordinal.to_be_bytes());
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
        let row = Self(bytes);
        let end = TEXT_AT + row.text_length();
        if end > row.0.len() || !row.0[TEXT_AT..end].ends_with(b"}") {
            return damaged("does not hold its text");
        }
        Ok(row)
    }

    pub fn lsn(&self) -> Lsn {
        Lsn(self.word(LSN_AT))
    }

    pub fn written(&self) -> Timestamp {
        Timestamp::from_millis(self.word(WRITTEN_AT))
    }

    pub fn etag(&self) -> ETag {
        let high = u128::from(self.word(ETAG_AT));
        ETag::from_u128((high << 64) | u128::from(self.word(ETAG_AT + 8)))
    }

    pub fn ordinal(&self) -> u64 {
        self.word(ORDINAL_AT)
    }

    pub fn ttl(&self) -> Ttl {
        match self.half(TTL_AT) as i32 {
            0 => Ttl::Default,
            ..0 => Ttl::Never,
            seconds => Ttl::Seconds(seconds as u32),
        }
    }

    /// The JSON text that is stored, without system properties.
    pub fn text(&self) -> &str {
        // Only text that `prepare` found to be UTF-8 is ever stored; damage shows as an empty object.
        std::str::from_utf8(&self.0[TEXT_AT..TEXT_AT + self.text_length()]).unwrap_or("{}")
    }

    /// The top-level members' places in [`text`](Self::text).
    pub fn members(&self) -> Vec<Member> {
        let mut table = &self.0[TEXT_AT + self.text_length()..];
        let mut members = Vec::new();
        let mut last = 0u32;
        while let Some(name) = take_span(&mut table, last) {
            let Some(value) = take_span(&mut table, name.end) else { break };
            last = value.end;
            members.push(Member { name, value });
        }
        members
    }

    pub fn bytes(&self) -> &Bytes {
        &self.0
    }

    /// The item as clients see it: its text with the system properties spliced in at the end.
    pub fn write_json(&self, container: &crate::catalog::Container, out: &mut Vec<u8>) {
        let text = self.text().as_bytes();
        out.reserve(text.len() + 256);
        out.extend_from_slice(text[..text.len() - 1].trim_ascii_end());
        let rid = ItemRid::new(container.rid(), ResourceKind::Item, self.ordinal());
        let etag = self.etag().to_string();
        let mut tail = String::with_capacity(256);
        // Writing to a String cannot fail.
        let _ = write!(
            tail,
            ",\"_rid\":\"{rid}\",\"_self\":\"{}docs/{rid}/\",\"_etag\":\"\\\"{}\\\"\",\"_attachments\":\"attachments/\",\"_ts\":{}}}",
            container.self_link(),
            etag.trim_matches('"'),
            self.written().seconds(),
        );
        out.extend_from_slice(tail.as_bytes());
    }

    fn text_length(&self) -> usize {
        self.half(LENGTH_AT) as usize
    }

    fn word(&self, at: usize) -> u64 {
        self.0[at..at + 8].iter().fold(0, |word, byte| (word << 8) | u64::from(*byte))
    }

    fn half(&self, at: usize) -> u32 {
        self.0[at..at + 4].iter().fold(0, |word, byte| (word << 8) | u32::from(*byte))
    }
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
