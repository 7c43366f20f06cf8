//! Composite indexes: one term for an item, made of what it has at several paths.
//!
//! ```text
//! number u64, then for each part its index value, in the part's direction
//! ```
//!
//! A part that an item does not have is undefined; an item that has none of them has no term.

use super::number::composite_number;
use crate::definition::{CompositeIndex, SortOrder};
use orrery_query::access::{Path, Step};

#[derive(Debug, PartialEq)]
pub struct Composite {
    number: u64,
    /// Each path, and whether it descends.
    parts: Vec<(Path, bool)>,
    /// Where the value of each part comes from.
    sources: Vec<Source>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// The item's text: what was gathered under this number.
    Text(usize),
    /// The time of the write, which `_ts` shows.
    Written,
}

impl Composite {
    /// Has what is at the paths gathered by `ask`, which tells under which number.
    pub(super) fn new(parts: Vec<(Path, bool)>, mut ask: impl FnMut(&[Step]) -> usize) -> Self {
        let source = |(path, _): &(Path, bool)| match &path[..] {
            [Step::Member(name)] if name == "_ts" => Source::Written,
            path => Source::Text(ask(path)),
        };
        let sources = parts.iter().map(source).collect();
        Self { number: composite_number(&parts), parts, sources }
    }

    /// Each path and whether it descends, with the source of its value.
    pub fn columns(&self) -> impl Iterator<Item = (&(Path, bool), Source)> {
        self.parts.iter().zip(self.sources.iter().copied())
    }

    pub fn number(&self) -> u64 {
        self.number
    }

    pub fn parts(&self) -> Vec<(Path, bool)> {
        self.parts.clone()
    }

    pub fn has(&self, parts: &[(Path, bool)]) -> bool {
        self.parts == parts
    }
}

/// The paths of a definition, and whether each descends.
pub(super) fn parts_of(index: &CompositeIndex) -> Vec<(Path, bool)> {
    let parts = index.paths().iter().map(|part| {
        let path = part.path.segments().iter().cloned().map(Step::Member).collect();
        (path, part.order == SortOrder::Descending)
    });
    parts.collect()
}
