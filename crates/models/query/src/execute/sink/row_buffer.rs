//! The rows of a page, sorted by key, with their JSON in one buffer.
//!
//! For a long row only its document's position is held instead of its text.
//!
//! While rows arrive in order they are appended to a list. The first one out of order moves them to a tree.

use super::top_n::SortKey;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

/// Compaction waits until dead bytes exceed this, or half of the live bytes.
const DEAD_BYTES_MIN: usize = 64 * 1024;
/// Spare capacity kept after a long row.
const SPARE_BYTES_MAX: usize = 256 * 1024;

/// The representation of a buffered row, and its place in the buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BufferedRow {
    Text(Range<usize>),
    Position(Range<usize>),
}

impl BufferedRow {
    fn place(&self) -> &Range<usize> {
        match self {
            Self::Text(place) | Self::Position(place) => place,
        }
    }

    fn place_mut(&mut self) -> &mut Range<usize> {
        match self {
            Self::Text(place) | Self::Position(place) => place,
        }
    }
}

#[derive(Default)]
pub(crate) struct RowBuffer {
    /// Empty once the tree is in use.
    run: Vec<(SortKey, BufferedRow)>,
    tree: BTreeMap<SortKey, BufferedRow>,
    text: Vec<u8>,
    /// Bytes of removed rows.
    dead: usize,
}

impl RowBuffer {
    pub fn len(&self) -> usize {
        self.run.len() + self.tree.len()
    }

    pub fn last(&self) -> Option<&SortKey> {
        self.run.last().map(|(key, _)| key).or_else(|| self.tree.last_key_value().map(|(key, _)| key))
    }

    /// The end of the buffer, where the next row's text goes; returns the value that
    /// [`insert`](Self::insert) and [`forget`](Self::forget) take.
    pub fn begin(&mut self) -> (usize, &mut Vec<u8>) {
        (self.text.len(), &mut self.text)
    }

    /// Discards the text written since.
    pub fn forget(&mut self, start: usize) {
        self.text.truncate(start);
    }

    /// Adds a row with the text written since, unless its key is present.
    pub fn insert(&mut self, key: SortKey, start: usize) -> bool {
        self.keep(key, BufferedRow::Text(start..self.text.len()), start)
    }

    /// Adds a row with its document's position instead of the text written since.
    pub fn insert_position(&mut self, key: SortKey, start: usize, position: &[u8]) -> bool {
        self.text.truncate(start);
        self.text.extend_from_slice(position);
        // A row may be as long as an item; its text must not stay before the next rows.
        if self.text.capacity() > SPARE_BYTES_MAX.max(2 * self.text.len()) {
            self.text.shrink_to(2 * self.text.len());
        }
        self.keep(key, BufferedRow::Position(start..self.text.len()), start)
    }

    fn keep(&mut self, key: SortKey, place: BufferedRow, start: usize) -> bool {
        if self.tree.is_empty() {
            if self.run.last().is_none_or(|(last, _)| *last < key) {
                self.run.push((key, place));
                return true;
            }
            self.tree.extend(self.run.drain(..));
        }
        match self.tree.entry(key) {
            Entry::Vacant(vacant) => {
                vacant.insert(place);
                true
            }
            Entry::Occupied(_) => {
                self.forget(start);
                false
            }
        }
    }

    /// Removes the last row; returns its key and text length.
    pub fn pop_last(&mut self) -> Option<(SortKey, usize)> {
        let (key, place) = self.run.pop().or_else(|| self.tree.pop_last())?;
        Some((key, self.free(place)))
    }

    /// Removes a row; returns its text length.
    pub fn remove(&mut self, key: &SortKey) -> Option<usize> {
        let place = match self.run.binary_search_by(|(known, _)| known.cmp(key)) {
            Ok(at) => Some(self.run.remove(at).1),
            Err(_) => self.tree.remove(key),
        };
        place.map(|place| self.free(place))
    }

    fn free(&mut self, kept: BufferedRow) -> usize {
        let place = kept.place();
        let length = place.len();
        if place.end == self.text.len() {
            self.text.truncate(place.start);
        } else {
            self.dead += length;
            if self.dead > DEAD_BYTES_MIN && self.dead > (self.text.len() - self.dead) / 2 {
                self.compact();
            }
        }
        length
    }

    /// Compacts the buffer: copies the live rows to a new one.
    fn compact(&mut self) {
        let mut text = Vec::with_capacity(self.text.len() - self.dead);
        let ordered = self.run.iter_mut().map(|(_, kept)| kept);
        for place in ordered.chain(self.tree.values_mut()).map(BufferedRow::place_mut) {
            let start = text.len();
            text.extend_from_slice(&self.text[place.clone()]);
            *place = start..text.len();
        }
        (self.text, self.dead) = (text, 0);
    }

    /// Unused and dead bytes of the buffer.
    pub fn spare(&self) -> usize {
        self.text.capacity() - self.text.len() + self.dead
    }

    /// The rows in order, and the buffer with their texts.
    pub fn finish(self) -> (impl ExactSizeIterator<Item = (SortKey, BufferedRow)>, Vec<u8>) {
        let rows = if self.tree.is_empty() { self.run } else { self.tree.into_iter().collect() };
        (rows.into_iter(), self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::continuation::ResumeKey;
    use proptest::prelude::*;

    fn key(number: u64) -> SortKey {
        SortKey { after: ResumeKey { keys: Vec::new(), ordinal: number, inner: 0 }, order: [].into() }
    }

    fn text_of(number: u64, length: usize) -> Vec<u8> {
        (0..length).map(|at| (number as usize + at) as u8).collect()
    }

    fn insert(buffer: &mut RowBuffer, number: u64, length: usize) -> bool {
        let (start, text) = buffer.begin();
        text.extend_from_slice(&text_of(number, length));
        buffer.insert(key(number), start)
    }

    fn rows(buffer: RowBuffer) -> Vec<(u64, Vec<u8>)> {
        let (rows, text) = buffer.finish();
        rows.map(|(key, kept)| (key.after.ordinal, text[kept.place().clone()].to_vec())).collect()
    }

    #[derive(Clone, Debug)]
    enum Step {
        Put(u64, usize),
        PopLast,
        Remove(u64),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            6 => (0u64..40, 1usize..40_000).prop_map(|(number, length)| Step::Put(number, length)),
            2 => Just(Step::PopLast),
            1 => (0u64..40).prop_map(Step::Remove),
        ];
        prop::collection::vec(step, 0..60)
    }

    proptest! {
        /// It behaves like a map under any sequence of operations.
        #[test]
        fn it_behaves_like_a_map(steps in steps(), comes_sorted in any::<bool>()) {
            let (mut buffer, mut map) = (RowBuffer::default(), BTreeMap::new());
            for (at, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Put(number, length) => {
                        let number = if comes_sorted { at as u64 } else { number };
                        let is_new = !map.contains_key(&number);
                        map.entry(number).or_insert(text_of(number, length));
                        prop_assert_eq!(insert(&mut buffer, number, length), is_new);
                    }
                    Step::PopLast => {
                        let dead = buffer.pop_last().map(|(key, length)| (key.after.ordinal, length));
                        prop_assert_eq!(dead, map.pop_last().map(|(number, text)| (number, text.len())));
                    }
                    Step::Remove(number) => {
                        let dead = buffer.remove(&key(number));
                        prop_assert_eq!(dead, map.remove(&number).map(|text| text.len()));
                    }
                }
                prop_assert_eq!(buffer.len(), map.len());
                prop_assert_eq!(buffer.last().map(|key| key.after.ordinal), map.last_key_value().map(|(it, _)| *it));
            }
            prop_assert_eq!(rows(buffer), map.into_iter().collect::<Vec<_>>());
        }
    }

    /// A page of few rows out of many in descending order needs space for only a few.
    #[test]
    fn removed_rows_do_not_accumulate_in_the_buffer() {
        let mut buffer = RowBuffer::default();
        for number in (0..10_000).rev() {
            insert(&mut buffer, number, 1000);
            if buffer.len() > 10 {
                buffer.pop_last();
            }
        }
        assert!(buffer.text.len() < 2 * DEAD_BYTES_MIN, "{}", buffer.text.len());
        assert_eq!(rows(buffer), (0..10).map(|number| (number, text_of(number, 1000))).collect::<Vec<_>>());
    }
}
