//! Composite indexes: one term for an item, made of what it has at several paths.
//!
//! ```text
//! number u64, then for each part its index value, in the part's direction
//! ```
//!
//! A part that an item does not have is undefined; an item that has none of them has no term.

use super::number::composite_number;
use super::terms::{Terms, Times};
use super::text;
use crate::definition::{CompositeIndex, SortOrder};
use orrery_core::Timestamp;
use orrery_keys::{Direction, KeyBuf};
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
enum Source {
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

    pub fn number(&self) -> u64 {
        self.number
    }

    pub fn parts(&self) -> Vec<(Path, bool)> {
        self.parts.clone()
    }

    pub(super) fn has(&self, parts: &[(Path, bool)]) -> bool {
        self.parts == parts
    }

    /// Adds the term of an item: `found` is what was gathered of its text.
    pub(super) fn enter(&self, found: &[Option<&str>], written: Timestamp, terms: &mut Terms) {
        let is_there = |source: &Source| match source {
            Source::Text(at) => found.get(*at).is_some_and(Option::is_some),
            Source::Written => true,
        };
        if self.sources.iter().any(is_there) {
            terms.add(self.number, Times::Once, |key| self.write(key, found, written));
        }
    }

    fn write(&self, key: KeyBuf, found: &[Option<&str>], written: Timestamp) -> KeyBuf {
        let parts = self.parts.iter().zip(&self.sources);
        parts.fold(key, |key, ((_, descends), source)| {
            let direction = if *descends { Direction::Descending } else { Direction::Ascending };
            match source {
                Source::Text(at) => {
                    text::index_value(key, found.get(*at).copied().flatten().unwrap_or_default(), direction)
                }
                Source::Written => key.shallow(text::seconds(written), direction),
            }
        })
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
