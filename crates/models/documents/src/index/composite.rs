//! Composite indexes: one term for an item, made of what it has at several paths.
//!
//! ```text
//! number u64, then for each part its index value, in the part's direction
//! ```
//!
//! A part that an item does not have is undefined; an item that has none of them has no term.

use super::terms::{Terms, Times};
use super::text;
use orrery_catalog::indexing::{Composite, Source};
use orrery_core::Timestamp;
use orrery_keys::{Direction, KeyBuf};

/// Adds the term of an item: `found` is what was gathered of its text.
pub(super) fn enter(index: &Composite, found: &[Option<&str>], written: Timestamp, terms: &mut Terms) {
    let is_there = |source: Source| match source {
        Source::Text(at) => found.get(at).is_some_and(Option::is_some),
        Source::Written => true,
    };
    if index.columns().any(|(_, source)| is_there(source)) {
        terms.add(index.number(), Times::Once, |key| write(index, key, found, written));
    }
}

fn write(index: &Composite, key: KeyBuf, found: &[Option<&str>], written: Timestamp) -> KeyBuf {
    index.columns().fold(key, |key, ((_, descends), source)| {
        let direction = if *descends { Direction::Descending } else { Direction::Ascending };
        match source {
            Source::Text(at) => {
                text::index_value(key, found.get(at).copied().flatten().unwrap_or_default(), direction)
            }
            Source::Written => key.shallow(text::seconds(written), direction),
        }
    })
}
