//! The interface to a collection's indexes.
//!
//! A document has a number, its ordinal, that no other one has. An index is a list of entries in
//! the order of their values; entries with equal values are in ordinal order. A document has one
//! entry in the index over a path that passes no array, if it has a value there, and one for each
//! different value in the index over a path that does. It has one entry in a composite index unless
//! it has none of its values.

use crate::error::QueryError;
use crate::execute::ScannedDocument;
use orrery_core::limits;
use orrery_value::Value;
use std::fmt;
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

/// A step from a value to one inside it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    Member(String),
    /// Every element of an array.
    Each,
}

/// From a document to values inside it; never empty.
pub type Path = Arc<[Step]>;

/// What an index is over.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IndexOf {
    Path(Path),
    /// Its parts, and whether each descends. No part passes an array.
    Composite(Vec<(Path, bool)>),
}

/// Which entries: those with these values in their first parts, and the next part in the interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    pub prefix: Vec<Value>,
    /// [`Interval::All`] when the prefix names every part.
    pub next: Interval,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Interval {
    All,
    /// Values of one type; an end that is open lies at the end of the type. At least one end is not open.
    Between(Bound<Value>, Bound<Value>),
    /// Strings that begin so.
    StartsWith(String),
}

/// Degrees, or units of a plane. `west` is greater than `east` when it passes the 180th meridian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rectangle {
    pub west: f64,
    pub south: f64,
    pub east: f64,
    pub north: f64,
}

/// An entry returned by a cursor; [`EntryCursor::value`] gives its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub ordinal: u64,
}

/// A value as far as an index entry holds it.
#[derive(Clone, Debug, PartialEq)]
pub enum EntryValue {
    Exact(Value),
    /// A long string, an array or an object, or a number whose digits a double does not hold: the document has it.
    Partial,
}

/// Whether an index keeps all of a value, as far as its order goes; others may stand with it under one key.
pub fn is_stored_whole(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() <= limits::INDEX_STRING_BYTES_MAX,
        Value::Array(_) | Value::Object(_) => false,
        _ => true,
    }
}

/// A cursor over index entries.
pub trait EntryCursor {
    fn next(&mut self) -> Result<Option<Entry>, QueryError>;

    /// Goes on at the first entry whose number is at least this. Only for a scan forward over a
    /// span that names every part, where the numbers ascend; and only forward.
    fn seek(&mut self, ordinal: u64) -> Result<(), QueryError>;

    /// One of the values of the entry that `next` gave last, by its place among the index's parts.
    fn value(&self, part: usize) -> EntryValue;

    /// Bytes that sort the entry that `next` gave last among others of the index: by its values from this part on, and
    /// then by its number.
    fn sort_key(&self, part: usize) -> Vec<u8>;
}

/// The indexes that a policy gives documents, whether or not a query reads them.
pub trait DeclaredIndexes {
    fn has(&self, path: &Path) -> bool;

    fn composites(&self) -> &[Vec<(Path, bool)>];

    fn has_spatial(&self, path: &Path) -> bool;
}

/// Indexes that are complete now: every document of the collection that has a value has its entry.
pub trait Indexes: DeclaredIndexes {
    /// How many documents the collection has.
    fn documents(&self) -> Result<u64, QueryError>;

    /// How many documents a scan shows, to the last one, if that is known without it.
    fn documents_exact(&self) -> Result<Option<u64>, QueryError> {
        Ok(None)
    }

    /// How many documents have an entry in the index; perhaps too few, never too many. When it is all of them, none
    /// is without a value there.
    fn documents_indexed(&self, index: &IndexOf) -> Result<u64, QueryError>;

    /// How many entries there are, counted if they are fewer than `max`: cheap for a small one. Otherwise `max`, or
    /// about how many, if something tells.
    fn count(&self, index: &IndexOf, span: &Span, max: u64) -> Result<u64, QueryError>;

    /// The entries of a span in order, or from the last to the first. With `from`, those before
    /// these values of the parts after the prefix, and this number if all parts are named, are left
    /// out; the scan begins there.
    fn entries<'a>(
        &'a self,
        index: &IndexOf,
        span: &Span,
        reverse: bool,
        from: Option<&SeekKey>,
    ) -> Result<Box<dyn EntryCursor + 'a>, QueryError>;

    /// The numbers, ascending, of documents whose shape at a path may touch the rectangle; `None` if there are more
    /// than `max`.
    fn spatial_candidates(
        &self,
        path: &Path,
        rectangle: &Rectangle,
        max: u64,
    ) -> Result<Option<Vec<u64>>, QueryError>;

    /// The paths at which every document of the collection has the value that `constant` tells for it.
    fn constant_paths(&self, constant: &dyn Fn(&Path) -> Option<Value>) -> Vec<Path> {
        let _ = constant;
        Vec::new()
    }

    /// Shows a document; nothing happens if it is not in the collection, or not any more.
    fn fetch(
        &self,
        ordinal: u64,
        visit: &mut dyn FnMut(ScannedDocument<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, QueryError>;

    /// Whether the document is in the collection; found out without reading it where that can be.
    fn contains(&self, ordinal: u64) -> Result<bool, QueryError>;
}

/// Where a scan begins: the values of the parts that the span's prefix does not name (perhaps only
/// the first of them), and the number.
#[derive(Clone, Debug, PartialEq)]
pub struct SeekKey {
    pub values: Vec<Value>,
    /// Only when the prefix and `values` name every part.
    pub ordinal: Option<u64>,
}

impl Span {
    pub fn all() -> Self {
        Self { prefix: Vec::new(), next: Interval::All }
    }

    /// The entries with one value.
    pub fn of(value: Value) -> Self {
        Self { prefix: vec![value], next: Interval::All }
    }

    pub fn within(next: Interval) -> Self {
        Self { prefix: Vec::new(), next }
    }
}

/// As an indexing policy spells it, without what it ends in: `/tags/[]`, `/"odd name"`.
pub struct PathDisplay<'a>(pub &'a [Step]);

impl fmt::Display for PathDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|step| match step {
            Step::Each => f.write_str("/[]"),
            Step::Member(name) => write!(f, "{}", NameDisplay(name)),
        })
    }
}

/// One step to a member, quoted unless it is made of letters, digits and `_`.
pub struct NameDisplay<'a>(pub &'a str);

impl fmt::Display for NameDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(name) = self;
        let is_bare = |character: char| character.is_alphanumeric() || character == '_';
        if !name.is_empty() && name.chars().all(is_bare) {
            return write!(f, "/{name}");
        }
        write!(f, "/\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
    }
}
