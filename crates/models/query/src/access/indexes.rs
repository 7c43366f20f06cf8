//! The interface to a collection's indexes.
//!
//! Every document has a unique number, its ordinal. An index is a list of entries in the order of their
//! values; entries with equal values are in ordinal order. A single-path index has one entry per document
//! with a value at the path or, if the path passes an array, one per distinct value. A composite index has
//! one entry per document that has at least one of its values.

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

/// The subject of an index.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IndexOf {
    Path(Path),
    /// Its parts, and whether each descends. No part passes an array.
    Composite(Vec<(Path, bool)>),
}

/// The entries that have these values in their first parts and the next part in the interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    pub prefix: Vec<Value>,
    /// [`Interval::All`] if the prefix fixes every part.
    pub next: Interval,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Interval {
    All,
    /// Values of one type; an open end reaches the end of the type. At least one end is closed.
    Between(Bound<Value>, Bound<Value>),
    /// Strings with this prefix.
    StartsWith(String),
}

/// Degrees, or units of a plane. `west` is greater than `east` if the rectangle crosses the 180th meridian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rectangle {
    pub west: f64,
    pub south: f64,
    pub east: f64,
    pub north: f64,
}

/// An entry returned by a cursor; [`EntryCursor::value`] returns its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub ordinal: u64,
}

/// The part of a value that an index entry holds.
#[derive(Clone, Debug, PartialEq)]
pub enum EntryValue {
    Exact(Value),
    /// A long string, an array or object, or a number that a double cannot hold exactly: only the
    /// document has it.
    Partial,
}

/// Whether an index key determines the value's sort position; other values may still share the key.
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

    /// Moves to the first entry whose ordinal is at least this. Only forwards, and only for a forward
    /// scan of a span that fixes every part, where ordinals ascend.
    fn seek(&mut self, ordinal: u64) -> Result<(), QueryError>;

    /// A value of the entry that `next` returned last, by its index part.
    fn value(&self, part: usize) -> EntryValue;

    /// A sort key for the entry that `next` returned last: its values from this part on, then its
    /// ordinal.
    fn sort_key(&self, part: usize) -> Vec<u8>;
}

/// The indexes that the policy declares, whether or not a query uses them.
pub trait DeclaredIndexes {
    fn has(&self, path: &Path) -> bool;

    fn composites(&self) -> &[Vec<(Path, bool)>];

    fn has_spatial(&self, path: &Path) -> bool;
}

/// Indexes that are complete now: every document with a value has its entry.
pub trait Indexes: DeclaredIndexes {
    /// The number of documents in the collection.
    fn documents(&self) -> Result<u64, QueryError>;

    /// The number of documents that a full scan returns, if known without scanning.
    fn documents_exact(&self) -> Result<Option<u64>, QueryError> {
        Ok(None)
    }

    /// The number of documents with an entry in the index: a lower bound. If it equals the number of
    /// documents, every document has a value.
    fn documents_indexed(&self, index: &IndexOf) -> Result<u64, QueryError>;

    /// The number of entries, exact if below `max`, so a small count is cheap. Otherwise `max` or an
    /// available estimate.
    fn count(&self, index: &IndexOf, span: &Span, max: u64) -> Result<u64, QueryError>;

    /// The entries of a span in order, or in reverse. `from` gives the values of the parts after the
    /// prefix, and the ordinal if all parts are fixed; the scan starts there and omits earlier entries.
    fn entries<'a>(
        &'a self,
        index: &IndexOf,
        span: &Span,
        reverse: bool,
        from: Option<&SeekKey>,
    ) -> Result<Box<dyn EntryCursor + 'a>, QueryError>;

    /// The ordinals, ascending, of documents whose shape at a path may touch the rectangle; `None` if
    /// there are more than `max`.
    fn spatial_candidates(
        &self,
        path: &Path,
        rectangle: &Rectangle,
        max: u64,
    ) -> Result<Option<Vec<u64>>, QueryError>;

    /// The paths at which every document of the collection has the value that `constant` returns for
    /// it.
    fn constant_paths(&self, constant: &dyn Fn(&Path) -> Option<Value>) -> Vec<Path> {
        let _ = constant;
        Vec::new()
    }

    /// Fetches a document; does nothing if it is not, or no longer, in the collection.
    fn fetch(
        &self,
        ordinal: u64,
        visit: &mut dyn FnMut(ScannedDocument<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, QueryError>;

    /// Whether the document is in the collection, determined without reading it if possible.
    fn contains(&self, ordinal: u64) -> Result<bool, QueryError>;
}

/// The start of a scan: values of the parts after the span's prefix (perhaps only the first), and the
/// ordinal.
#[derive(Clone, Debug, PartialEq)]
pub struct SeekKey {
    pub values: Vec<Value>,
    /// Only if the prefix and `values` fix every part.
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

/// The indexing policy's spelling, without the suffix: `/tags/[]`, `/"odd name"`.
pub struct PathDisplay<'a>(pub &'a [Step]);

impl fmt::Display for PathDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|step| match step {
            Step::Each => f.write_str("/[]"),
            Step::Member(name) => write!(f, "{}", NameDisplay(name)),
        })
    }
}

/// A member step, quoted unless it consists of letters, digits and `_`.
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
