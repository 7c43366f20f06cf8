//! Extracts index terms in one pass over an item's text: terms of indexed paths, and the values
//! that composite and spatial indexes need.
//!
//! What no rule asks for is stepped over. The walk recurses, as deep as an item may be nested.

use super::json_cursor::{self, JsonCursor};
use super::terms::{Multiplicity, Terms};
use orrery_catalog::indexing::number::{self, ROOT};
use orrery_catalog::indexing::{IndexRules, Spot};
use orrery_core::limits::NESTING_LEVELS_MAX;
use orrery_keys::{Direction, Shallow};
use orrery_value::raw;

/// What a walk found.
pub(super) struct Extracted<'a> {
    pub terms: Terms,
    /// By the numbers that the composite indexes ask with.
    pub parts: Vec<Option<&'a str>>,
    pub shapes: Vec<FoundShape<'a>>,
}

/// An object that looks like a shape.
pub(super) struct FoundShape<'a> {
    /// The number of its path.
    pub path: u64,
    /// Which of the spatial indexes it belongs to.
    pub index: usize,
    pub text: &'a str,
}

/// Room for the terms of a small item at once; those of a large one may be few.
const FIRST_BYTES_MAX: usize = 2048;

pub(super) fn extract<'a>(rules: &'a IndexRules, text: &'a str) -> Extracted<'a> {
    let terms = Terms::with_capacity(text.len().min(FIRST_BYTES_MAX));
    let found = Extracted { terms, parts: vec![None; rules.parts], shapes: Vec::new() };
    let mut extractor = Extractor { rules, text: JsonCursor::new(text), found };
    // Text that no item has ends the walk early.
    let _ = extractor.item();
    extractor.found
}

struct Extractor<'a> {
    rules: &'a IndexRules,
    text: JsonCursor<'a>,
    found: Extracted<'a>,
}

/// Where in the item the walk is.
#[derive(Clone, Copy)]
struct PathContext {
    number: u64,
    spot: Spot,
    times: Multiplicity,
}

impl Extractor<'_> {
    fn item(&mut self) -> Option<()> {
        let place = PathContext { number: ROOT, spot: self.rules.tree.root(), times: Multiplicity::Once };
        if self.text.peek()? == b'{' { self.object(&place, 1) } else { None }
    }

    /// A value, and how many levels it is inside of.
    fn value(&mut self, place: &PathContext, levels: usize) -> Option<()> {
        let first = self.text.peek()?;
        if place.spot.is_closed || levels == NESTING_LEVELS_MAX && matches!(first, b'{' | b'[') {
            return self.text.skip();
        }
        let start = self.text.at();
        match first {
            b'{' => self.object(place, levels + 1)?,
            b'[' => self.array(place, levels + 1)?,
            _ => self.scalar(place)?,
        }
        if let Some(part) = self.rules.tree.part(place.spot) {
            self.found.parts[part] = self.text.since(start);
        }
        Some(())
    }

    fn scalar(&mut self, place: &PathContext) -> Option<()> {
        let scalar = self.text.scalar()?;
        if place.spot.is_indexed {
            let write = |key| json_cursor::index_value(key, scalar, Direction::Ascending);
            self.found.terms.add(place.number, place.times, write);
        }
        Some(())
    }

    fn object(&mut self, place: &PathContext, levels: usize) -> Option<()> {
        self.mark(place, Shallow::Object);
        let (start, mut is_shape) = (self.text.at(), false);
        let mut is_more = self.text.open(b'}')?;
        while is_more {
            let name = raw::unescape(self.text.name()?);
            is_shape |= name == "coordinates";
            let spot = self.rules.tree.member(place.spot, &name);
            let inside = PathContext { number: number::member(place.number, &name), spot, ..*place };
            self.value(&inside, levels)?;
            is_more = self.text.another(b'}')?;
        }
        if let Some(index) = place.spot.shape.filter(|_| is_shape) {
            let text = self.text.since(start)?;
            self.found.shapes.push(FoundShape { path: place.number, index, text });
        }
        Some(())
    }

    fn array(&mut self, place: &PathContext, levels: usize) -> Option<()> {
        self.mark(place, Shallow::Array);
        let spot = self.rules.tree.each(place.spot);
        let inside = PathContext { number: number::each(place.number), spot, times: Multiplicity::Many };
        let mut is_more = self.text.open(b']')?;
        while is_more {
            self.value(&inside, levels)?;
            is_more = self.text.another(b']')?;
        }
        Some(())
    }

    /// That there is an object or an array.
    fn mark(&mut self, place: &PathContext, kind: Shallow<'static>) {
        if place.spot.is_indexed && place.times == Multiplicity::Once {
            self.found
                .terms
                .add(place.number, Multiplicity::Once, |key| key.shallow(kind, Direction::Ascending));
        }
    }
}
