//! The terms of an item: everything that it is found by.
//!
//! ```text
//! path          number u64, the value there as an index value
//! composite     number u64, an index value for each part
//! spatial       number u64, cell u64
//! ```
//!
//! An object or an array at a path is found as being one, and so are the values in it, at paths of their own. Inside of
//! an array only values are: an item has many elements, and that some of them are objects tells little.

use super::cells;
use super::extract::{FoundShape, extract};
use super::json_cursor;
use orrery_catalog::indexing::number::{self, ROOT};
use orrery_catalog::indexing::{Composite, IndexRules, Source};
use orrery_core::Timestamp;
use orrery_keys::{Direction, KeyBuf};
use orrery_value::Value;
use std::mem;

/// Terms in the order of their bytes, each once. They are all in one piece of memory.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    bytes: KeyBuf,
    spans: Vec<TermSpan>,
}

/// How many terms of one number an item may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Multiplicity {
    Once,
    /// It has one for each element of an array, or each cell of a shape.
    Many,
}

/// Where a term stands. Its number is its first eight bytes, kept for comparing.
#[derive(Clone, Copy, Debug)]
struct TermSpan {
    number: u64,
    // The text of an item is short enough for these, and terms are not much longer.
    start: u32,
    length: u16,
    times: Multiplicity,
}

/// All terms of an item, as the rules say: of its text, and of the time when it was written.
pub fn terms(rules: &IndexRules, text: &str, written: Timestamp) -> Terms {
    if rules.is_none() {
        return Terms::default();
    }
    let mut found = extract(rules, text);
    let terms = &mut found.terms;
    terms.add(number::member(ROOT, "_ts"), Multiplicity::Once, |key| {
        key.shallow(json_cursor::seconds(written), Direction::Ascending)
    });
    for composite in rules.composites() {
        enter(composite, &found.parts, written, terms);
    }
    for shape in &found.shapes {
        enter_shape(rules, shape, terms);
    }
    found.terms.sorted()
}

fn enter_shape(rules: &IndexRules, shape: &FoundShape<'_>, terms: &mut Terms) {
    let Some(index) = rules.spatial().get(shape.index) else { return };
    for cell in cells::cover(&Value::read(shape.text), &index.types, index.bounds.as_ref()) {
        terms.add(number::shapes(shape.path), Multiplicity::Many, |key| key.u64(cell));
    }
}

impl Terms {
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.spans.iter().map(|place| place.of(&self.bytes))
    }

    /// The numbers of the paths and composite indexes that the item has once, ascending: those that tallies count.
    pub fn path_numbers(&self) -> impl Iterator<Item = u64> {
        let numbers =
            self.spans.iter().filter(|place| place.times == Multiplicity::Once).map(|place| place.number);
        let mut last = None;
        numbers.filter(move |number| last.replace(*number) != Some(*number))
    }

    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self { bytes: KeyBuf::with_capacity(bytes), spans: Vec::with_capacity(bytes / TERM_BYTES_USUAL) }
    }

    /// Adds a term; its value is what `write` appends.
    #[inline]
    pub(super) fn add(&mut self, number: u64, times: Multiplicity, write: impl FnOnce(KeyBuf) -> KeyBuf) {
        let start = self.bytes.as_bytes().len();
        self.bytes = write(mem::take(&mut self.bytes).u64(number));
        let length = self.bytes.as_bytes().len() - start;
        self.spans.push(TermSpan { number, start: start as u32, length: length as u16, times });
    }

    fn sorted(mut self) -> Self {
        let bytes = &self.bytes;
        let order =
            |a: &TermSpan, b: &TermSpan| a.number.cmp(&b.number).then_with(|| a.of(bytes).cmp(b.of(bytes)));
        self.spans.sort_unstable_by(order);
        self.spans.dedup_by(|a, b| a.number == b.number && a.of(bytes) == b.of(bytes));
        self
    }
}

/// For a first guess at how many terms there will be.
const TERM_BYTES_USUAL: usize = 32;

impl TermSpan {
    fn of<'a>(&self, bytes: &'a KeyBuf) -> &'a [u8] {
        let start = self.start as usize;
        bytes.as_bytes().get(start..start + usize::from(self.length)).unwrap_or_default()
    }
}

// Composite indexes: one term for an item, made of what it has at several paths.
//
// ```text
// number u64, then for each part its index value, in the part's direction
// ```
//
// A part that an item does not have is undefined; an item that has none of them has no term.

/// Adds the term of an item: `found` is what was gathered of its text.
pub(super) fn enter(index: &Composite, found: &[Option<&str>], written: Timestamp, terms: &mut Terms) {
    let is_there = |source: Source| match source {
        Source::Text(at) => found.get(at).is_some_and(Option::is_some),
        Source::Written => true,
    };
    if index.columns().any(|(_, source)| is_there(source)) {
        terms.add(index.number(), Multiplicity::Once, |key| write(index, key, found, written));
    }
}

fn write(index: &Composite, key: KeyBuf, found: &[Option<&str>], written: Timestamp) -> KeyBuf {
    index.columns().fold(key, |key, ((_, descends), source)| {
        let direction = if *descends { Direction::Descending } else { Direction::Ascending };
        match source {
            Source::Text(at) => {
                json_cursor::index_value(key, found.get(at).copied().flatten().unwrap_or_default(), direction)
            }
            Source::Written => key.shallow(json_cursor::seconds(written), direction),
        }
    })
}
