//! A cursor over the entries of one index span, within the scope of a query.

use super::layout::Layout;
use super::locator::Locator;
use super::scope::{IndexScope, Membership};
use crate::item::failed;
use crate::row;
use crate::spaces::INDEX;
use bytes::Bytes;
use orrery_catalog::Container;
use orrery_keys::{IndexValue, KeyReader};
use orrery_kv::{Error, KeyRange, Order, Read, Rows};
use orrery_query::QueryError;
use orrery_query::access::{Entry, EntryCursor, EntryValue, SeekKey, Span};
use std::iter::Peekable;

/// How many entries a seek tries one by one before it looks for the next.
const STEPS_BEFORE_SEEK: usize = 8;

pub(super) struct SpanCursor<'a> {
    state: &'a dyn Read,
    container: u32,
    scope: &'a IndexScope,
    layout: Layout,
    order: Order,
    /// What the keys of each list begin with, before the term.
    bases: Vec<Vec<u8>>,
    ranges: Vec<KeyRange>,
    lists: Vec<Peekable<Rows<'a>>>,
    /// The key of the entry that was met last, and how much of it stands before its values.
    current: (Bytes, usize),
}

impl<'a> SpanCursor<'a> {
    pub fn new(
        state: &'a dyn Read,
        container: &Container,
        scope: &'a IndexScope,
        layout: Layout,
        span: &Span,
        reverse: bool,
        begin: Option<&SeekKey>,
    ) -> Self {
        let number = container.number();
        let bases: Vec<Vec<u8>> = match scope {
            IndexScope::Ranges(_) => vec![row::entries_of(number)],
            IndexScope::Partitions { epks, .. } => {
                epks.iter().map(|epk| row::local_entries_of(number, epk)).collect()
            }
        };
        let range = |base: &Vec<u8>| match begin {
            None => layout.range(base, span),
            Some(begin) => layout.range_from(base, span, begin, reverse),
        };
        let ranges: Vec<KeyRange> = bases.iter().map(range).collect();
        let order = if reverse { Order::Descending } else { Order::Ascending };
        let lists = ranges.iter().map(|range| rows(state, range, order)).collect();
        let current = (Bytes::new(), 0);
        Self { state, container: number, scope, layout, order, bases, ranges, lists, current }
    }

    /// The list whose next entry comes first, by its term and number.
    fn first(&mut self) -> Option<usize> {
        if self.lists.len() == 1 {
            return self.lists[0].peek().map(|_| 0);
        }
        let mut first: Option<(usize, Bytes)> = None;
        for (at, list) in self.lists.iter_mut().enumerate() {
            let Some(next) = list.peek() else { continue };
            // A failure comes first, so that it is heard.
            let Ok((key, _)) = next else { return Some(at) };
            let key = key.slice(self.bases[at].len().min(key.len())..);
            let is_first = first.as_ref().is_none_or(|(_, known)| match self.order {
                Order::Ascending => key < *known,
                Order::Descending => key > *known,
            });
            if is_first {
                first = Some((at, key));
            }
        }
        first.map(|(at, _)| at)
    }

    fn step(&mut self) -> Result<Option<u64>, Error> {
        loop {
            let Some(at) = self.first() else { return Ok(None) };
            let Some(next) = self.lists[at].next() else { return Ok(None) };
            let (key, _) = next?;
            let damaged = || Error::Corrupt("an index entry's key".into());
            let ordinal = match self.scope {
                IndexScope::Partitions { .. } => Some(row::read_local_entry(&key).ok_or_else(damaged)?),
                IndexScope::Ranges(_) => {
                    let (ordinal, prefix) = row::read_entry(&key).ok_or_else(damaged)?;
                    self.is_inside(ordinal, prefix)?.then_some(ordinal)
                }
            };
            if let Some(ordinal) = ordinal {
                self.current = (key, self.bases[at].len() + size_of::<u64>());
                return Ok(Some(ordinal));
            }
        }
    }

    fn is_inside(&self, ordinal: u64, prefix: [u8; 4]) -> Result<bool, Error> {
        Ok(match self.scope.holds_prefix(prefix) {
            Membership::Yes => true,
            Membership::No => false,
            Membership::Unsure => Locator::of(self.state, self.container, ordinal)?
                .is_some_and(|place| self.scope.holds(&place.epk)),
        })
    }

    /// What follows the first parts of the entry that was met last.
    fn reader_at(&self, part: usize) -> Option<KeyReader<'_>> {
        let (key, from) = &self.current;
        let mut reader = KeyReader::new(key.get(*from..).unwrap_or_default());
        let mut before = self.layout.directions.iter().take(part);
        before.try_for_each(|direction| reader.skip_index_value(*direction).ok()).map(|()| reader)
    }

    /// The number of a list's next entry.
    fn peeked(&mut self, at: usize) -> Option<u64> {
        let Some(Ok((key, _))) = self.lists[at].peek() else { return None };
        match self.scope {
            IndexScope::Partitions { .. } => row::read_local_entry(key),
            IndexScope::Ranges(_) => row::read_entry(key).map(|(ordinal, _)| ordinal),
        }
    }
}

fn rows<'a>(state: &'a dyn Read, range: &KeyRange, order: Order) -> Peekable<Rows<'a>> {
    if range.is_empty() {
        let none: Rows<'a> = Box::new(std::iter::empty());
        return none.peekable();
    }
    state.range(INDEX, range, order).peekable()
}

impl EntryCursor for SpanCursor<'_> {
    fn next(&mut self) -> Result<Option<Entry>, QueryError> {
        let ordinal = self.step().map_err(failed)?;
        Ok(ordinal.map(|ordinal| Entry { ordinal }))
    }

    fn seek(&mut self, ordinal: u64) -> Result<(), QueryError> {
        for at in 0..self.lists.len() {
            for _ in 0..STEPS_BEFORE_SEEK {
                if self.peeked(at).is_none_or(|next| next >= ordinal) {
                    break;
                }
                self.lists[at].next();
            }
            if self.peeked(at).is_none_or(|next| next >= ordinal) {
                continue;
            }
            let start = [&self.ranges[at].start[..], &ordinal.to_be_bytes()].concat();
            let range = KeyRange { start, end: self.ranges[at].end.clone() };
            self.lists[at] = rows(self.state, &range, self.order);
        }
        Ok(())
    }

    fn value(&self, part: usize) -> EntryValue {
        let direction = self.layout.directions.get(part).copied();
        let value = self.reader_at(part).zip(direction).map(|(mut at, direction)| at.index_value(direction));
        match value {
            Some(Ok(IndexValue::Exactly(value))) => EntryValue::Exact(value),
            _ => EntryValue::Partial,
        }
    }

    fn sort_key(&self, part: usize) -> Vec<u8> {
        self.reader_at(part).map_or_else(Vec::new, |reader| reader.raw().to_vec())
    }
}
