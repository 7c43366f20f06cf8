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
use super::gather::{FoundShape, gather};
use super::text;
use orrery_catalog::indexing::IndexRules;
use orrery_catalog::indexing::number::{self, ROOT};
use orrery_core::Timestamp;
use orrery_keys::{Direction, KeyBuf};
use orrery_value::Value;
use std::mem;

/// Terms in the order of their bytes, each once. They are all in one piece of memory.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    bytes: KeyBuf,
    places: Vec<Place>,
}

/// How many terms of one number an item may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Times {
    Once,
    /// It has one for each element of an array, or each cell of a shape.
    Often,
}

/// Where a term stands. Its number is its first eight bytes, kept for comparing.
#[derive(Clone, Copy, Debug)]
struct Place {
    number: u64,
    // The text of an item is short enough for these, and terms are not much longer.
    start: u32,
    length: u16,
    times: Times,
}

/// All terms of an item, as the rules say: of its text, and of the time when it was written.
pub fn terms(rules: &IndexRules, text: &str, written: Timestamp) -> Terms {
    if rules.is_none() {
        return Terms::default();
    }
    let mut found = gather(rules, text);
    let terms = &mut found.terms;
    terms.add(number::member(ROOT, "_ts"), Times::Once, |key| {
        key.shallow(text::seconds(written), Direction::Ascending)
    });
    for composite in rules.composites() {
        super::composite::enter(composite, &found.parts, written, terms);
    }
    for shape in &found.shapes {
        enter_shape(rules, shape, terms);
    }
    found.terms.sorted()
}

fn enter_shape(rules: &IndexRules, shape: &FoundShape<'_>, terms: &mut Terms) {
    let Some(index) = rules.spatial().get(shape.index) else { return };
    for cell in cells::cover(&Value::read(shape.text), &index.types, index.bounds.as_ref()) {
        terms.add(number::shapes(shape.path), Times::Often, |key| key.u64(cell));
    }
}

impl Terms {
    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.places.iter().map(|place| place.of(&self.bytes))
    }

    /// The numbers of the paths and composite indexes that the item has once, ascending: those that tallies count.
    pub fn path_numbers(&self) -> impl Iterator<Item = u64> {
        let numbers = self.places.iter().filter(|place| place.times == Times::Once).map(|place| place.number);
        let mut last = None;
        numbers.filter(move |number| last.replace(*number) != Some(*number))
    }

    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self { bytes: KeyBuf::with_capacity(bytes), places: Vec::with_capacity(bytes / TERM_BYTES_USUAL) }
    }

    /// Adds a term; its value is what `write` appends.
    #[inline]
    pub(super) fn add(&mut self, number: u64, times: Times, write: impl FnOnce(KeyBuf) -> KeyBuf) {
        let start = self.bytes.as_bytes().len();
        self.bytes = write(mem::take(&mut self.bytes).u64(number));
        let length = self.bytes.as_bytes().len() - start;
        self.places.push(Place { number, start: start as u32, length: length as u16, times });
    }

    fn sorted(mut self) -> Self {
        let bytes = &self.bytes;
        let order = |a: &Place, b: &Place| a.number.cmp(&b.number).then_with(|| a.of(bytes).cmp(b.of(bytes)));
        self.places.sort_unstable_by(order);
        self.places.dedup_by(|a, b| a.number == b.number && a.of(bytes) == b.of(bytes));
        self
    }
}

/// For a first guess at how many terms there will be.
const TERM_BYTES_USUAL: usize = 32;

impl Place {
    fn of<'a>(&self, bytes: &'a KeyBuf) -> &'a [u8] {
        let start = self.start as usize;
        bytes.as_bytes().get(start..start + usize::from(self.length)).unwrap_or_default()
    }
}
