//! Entities and tables as answers have them, at the level that was asked for.
//!
//! ```text
//! none      {"PartitionKey":"p",…,"Big":"5"}
//! minimal   odata.metadata and odata.etag, and the types that JSON does not show: "Big@odata.type":"Edm.Int64"
//! full      odata.type, odata.id and odata.editLink too, and the type of Timestamp
//! ```
//!
//! A Double always has a point or an exponent, so that a reader does not take it for an integer; an Int64 is a string.

use super::Level;
use crate::address;
use crate::limits::PAGE_ROOM_BYTES_MAX;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use orrery_tables::entity::{PARTITION_KEY, Properties, ROW_KEY, TIMESTAMP};
use orrery_tables::{EdmType, EntityRow, Ticks, ValueRef, etag};
use orrery_value::raw::escape_into;

/// What an answer is written for.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    pub level: Level,
    /// The account, as the client addressed it.
    pub base_url: &'a str,
    pub account: &'a str,
    /// The properties that are wanted; all without it.
    pub select: Option<&'a [String]>,
}

/// An entity to be written: one that is stored, or one that was just inserted.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    pub partition_key: &'a str,
    pub row_key: &'a str,
    pub timestamp: Ticks,
    pub properties: Properties<'a>,
}

/// One entity of a table.
pub fn entity(answer: &Answer<'_>, table: &str, shown: &Shown<'_>) -> Bytes {
    let mut object = Object::new(Vec::new());
    object.metadata(answer, &["#", table, "/@Element"]);
    object.entity(answer, table, shown);
    object.finish().into()
}

/// A page of the entities of a table.
pub fn entities(answer: &Answer<'_>, table: &str, rows: &[EntityRow]) -> Bytes {
    let mut page = Page::new(answer, &["#", table]);
    for row in rows {
        let (partition_key, row_key) = (row.partition_key(), row.row_key());
        let shown = Shown {
            partition_key: &partition_key,
            row_key: &row_key,
            timestamp: row.timestamp(),
            properties: row.properties(),
        };
        page.push(|object| object.entity(answer, table, &shown));
    }
    page.finish()
}

/// One table.
pub fn table(answer: &Answer<'_>, name: &str) -> Bytes {
    let mut object = Object::new(Vec::new());
    object.metadata(answer, &["#Tables/@Element"]);
    object.table(answer, name);
    object.finish().into()
}

/// A page of tables.
pub fn tables<'a>(answer: &Answer<'_>, names: impl Iterator<Item = &'a str>) -> Bytes {
    let mut page = Page::new(answer, &["#Tables"]);
    for name in names {
        page.push(|object| object.table(answer, name));
    }
    page.finish()
}

impl Answer<'_> {
    fn wants(&self, property: &str) -> bool {
        self.select.is_none_or(|names| names.iter().any(|name| name == property))
    }
}

/// `{"odata.metadata":…,"value":[…]}`
struct Page {
    out: Vec<u8>,
    is_empty: bool,
}

impl Page {
    fn new(answer: &Answer<'_>, fragment: &[&str]) -> Self {
        let mut object = Object::new(Vec::new());
        object.metadata(answer, fragment);
        object.name("value");
        let mut out = object.out;
        out.push(b'[');
        Self { out, is_empty: true }
    }

    fn push(&mut self, write: impl FnOnce(&mut Object)) {
        if !self.is_empty {
            self.out.push(b',');
        }
        self.is_empty = false;
        let mut object = Object::new(std::mem::take(&mut self.out));
        write(&mut object);
        self.out = object.finish();
    }

    fn finish(mut self) -> Bytes {
        self.out.extend_from_slice(b"]}");
        // Up to half of what a growing vector has is room.
        if self.out.capacity() - self.out.len() > PAGE_ROOM_BYTES_MAX {
            self.out.shrink_to_fit();
        }
        self.out.into()
    }
}

/// An object being written at the end of what there is.
struct Object {
    out: Vec<u8>,
    is_empty: bool,
}

impl Object {
    fn new(mut out: Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, is_empty: true }
    }

    fn finish(mut self) -> Vec<u8> {
        self.out.push(b'}');
        self.out
    }

    fn name(&mut self, name: &str) {
        if !self.is_empty {
            self.out.push(b',');
        }
        self.is_empty = false;
        escape_into(name, &mut self.out);
        self.out.push(b':');
    }

    fn text(&mut self, name: &str, text: &str) {
        self.name(name);
        escape_into(text, &mut self.out);
    }

    fn metadata(&mut self, answer: &Answer<'_>, fragment: &[&str]) {
        if answer.level != Level::None {
            self.text("odata.metadata", &[&[answer.base_url, "/$metadata"], fragment].concat().concat());
        }
    }

    fn table(&mut self, answer: &Answer<'_>, name: &str) {
        if answer.level == Level::Full {
            let link = address::entry(name);
            self.text("odata.type", &[answer.account, ".Tables"].concat());
            self.text("odata.id", &[answer.base_url, "/", &link].concat());
            self.text("odata.editLink", &link);
        }
        self.text("TableName", name);
    }

    fn entity(&mut self, answer: &Answer<'_>, table: &str, shown: &Shown<'_>) {
        self.control(answer, table, shown);
        for (name, key) in [(PARTITION_KEY, shown.partition_key), (ROW_KEY, shown.row_key)] {
            if answer.wants(name) {
                self.text(name, key);
            }
        }
        if answer.wants(TIMESTAMP) {
            if answer.level == Level::Full {
                self.annotation(TIMESTAMP, EdmType::DateTime);
            }
            self.text(TIMESTAMP, &shown.timestamp.to_string());
        }
        for (name, value) in shown.properties.filter(|(name, _)| answer.wants(name)) {
            self.property(answer.level, name, value);
        }
    }

    fn control(&mut self, answer: &Answer<'_>, table: &str, shown: &Shown<'_>) {
        if answer.level == Level::None {
            return;
        }
        let link = || address::entity(table, shown.partition_key, shown.row_key);
        if answer.level == Level::Full {
            self.text("odata.type", &[answer.account, ".", table].concat());
            self.text("odata.id", &[answer.base_url, "/", &link()].concat());
        }
        self.text("odata.etag", &etag(shown.timestamp));
        if answer.level == Level::Full {
            self.text("odata.editLink", &link());
        }
    }

    fn property(&mut self, level: Level, name: &str, value: ValueRef<'_>) {
        if level != Level::None && is_annotated(value) {
            self.annotation(name, value.edm_type());
        }
        self.name(name);
        self.value(value);
    }

    fn annotation(&mut self, name: &str, edm_type: EdmType) {
        self.text(&[name, "@odata.type"].concat(), edm_type.name());
    }

    fn value(&mut self, value: ValueRef<'_>) {
        let out = &mut self.out;
        match value {
            ValueRef::String(text) => escape_into(text, out),
            ValueRef::Boolean(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
            ValueRef::Int32(value) => out.extend_from_slice(value.to_string().as_bytes()),
            ValueRef::Int64(value) => escape_into(&value.to_string(), out),
            ValueRef::Double(value) => write_double(value, out),
            ValueRef::DateTime(value) => escape_into(value.text(), out),
            ValueRef::Guid(value) => escape_into(&value.to_string(), out),
            ValueRef::Binary(bytes) => escape_into(&STANDARD.encode(bytes), out),
        }
    }
}

/// Whether JSON alone does not show the type.
fn is_annotated(value: ValueRef<'_>) -> bool {
    match value {
        ValueRef::String(_) | ValueRef::Boolean(_) | ValueRef::Int32(_) => false,
        ValueRef::Double(value) => !value.is_finite(),
        ValueRef::Int64(_) | ValueRef::DateTime(_) | ValueRef::Guid(_) | ValueRef::Binary(_) => true,
    }
}

/// With the fewest digits that read back, and a point or an exponent.
fn write_double(value: f64, out: &mut Vec<u8>) {
    let text = match value {
        _ if value.is_nan() => "\"NaN\"".to_owned(),
        f64::INFINITY => "\"Infinity\"".to_owned(),
        f64::NEG_INFINITY => "\"-Infinity\"".to_owned(),
        _ => format!("{value:?}"),
    };
    out.extend_from_slice(text.as_bytes());
}
