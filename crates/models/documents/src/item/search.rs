//! Items as a query sees them: a collection of documents in key order.
//!
//! A document is an item's row, read in place: a member costs a walk along the row's table, a system property
//! or a computed one is made when it is asked for. Expired items are not there.

use super::feed::FeedScope;
use super::record::ItemRow;
use crate::catalog::Container;
use crate::{expiry, row};
use orrery_core::{ItemRid, ResourceKind, Timestamp, limits};
use orrery_keys::Epk;
use orrery_kv::{KeyRange, Order, Read, Row, Rows, Space};
use orrery_query::execute::{Collection, Found, Host, Start, Whereabouts, value_of};
use orrery_query::plan::{Plan, Rules};
use orrery_query::{Datum, Document, QueryError, prepare};
use std::ops::ControlFlow;

/// Every key begins with its container; a position leaves that out.
const CONTAINER_BYTES: usize = 4;
/// The clock is looked at once in so many expired items.
const EXPIRED_PER_LOOK: u64 = 1024;

pub struct Items<'a> {
    state: &'a dyn Read,
    container: &'a Container,
    /// Sorted, and none overlaps another.
    ranges: Vec<KeyRange>,
    now: Timestamp,
    computed: Vec<(String, Plan)>,
    host: &'a dyn Host,
}

impl<'a> Items<'a> {
    /// The items of a scope.
    pub fn new(
        state: &'a dyn Read,
        container: &'a Container,
        scope: &FeedScope,
        host: &'a dyn Host,
    ) -> Result<Self, QueryError> {
        let now = Timestamp::from_millis(host.now_ms());
        let computed = container.definition().computed().iter();
        let computed = computed.map(|property| {
            let prepared = prepare(&property.query, &[], Rules::On)?;
            Ok((property.name.clone(), prepared.plan))
        });
        let computed = computed.collect::<Result<Vec<_>, QueryError>>()?;
        Ok(Self { state, container, ranges: vec![scope.range(container)], now, computed, host })
    }

    /// Only what lies in these partitions too; `(min, max)` of effective partition keys.
    pub fn within(self, partitions: &[(Epk, Epk)]) -> Self {
        let container = self.container.number();
        let keys = partitions.iter().map(|(min, max)| {
            if min == max {
                row::items_of_partition(container, min.as_bytes())
            } else {
                row::items_between(container, min.as_bytes(), max.as_bytes())
            }
        });
        let keys = keys.collect();
        self.narrowed(keys)
    }

    /// Only these items: partition and id.
    pub fn among(self, items: &[(Epk, String)]) -> Self {
        let container = self.container.number();
        let keys = items.iter().map(|(epk, id)| {
            let key = row::Row::Item { container, epk: epk.as_bytes(), id }.key().to_vec();
            let end = [&key[..], &[0]].concat();
            KeyRange::new(key, end)
        });
        let keys = keys.collect();
        self.narrowed(keys)
    }

    fn narrowed(self, mut keys: Vec<KeyRange>) -> Self {
        keys.sort_by(|a, b| a.start.cmp(&b.start));
        let mut ranges: Vec<KeyRange> = Vec::with_capacity(keys.len());
        for range in keys.iter().flat_map(|key| self.ranges.iter().map(|range| intersection(key, range))) {
            match ranges.last_mut() {
                _ if range.is_empty() => {}
                Some(last) if last.end.as_ref().is_none_or(|end| range.start < *end) => {
                    last.end = last.end.take().zip(range.end).map(|(a, b)| a.max(b));
                }
                _ => ranges.push(range),
            }
        }
        Self { ranges, ..self }
    }

    fn key(&self, position: &[u8]) -> Vec<u8> {
        [&self.container.number().to_be_bytes(), position].concat()
    }

    /// Expired items are shown to nobody, so nobody else counts them.
    fn check_time(&self, expired: u64) -> Result<(), QueryError> {
        if expired.is_multiple_of(EXPIRED_PER_LOOK) && self.host.elapsed_ms() > limits::QUERY_MILLIS_MAX {
            return Err(QueryError::TooLong(
                "The query met too many items that have expired; try again.".to_owned(),
            ));
        }
        Ok(())
    }

    fn row(
        &self,
        key: &[u8],
        item: &ItemRow,
        visit: &mut dyn FnMut(Found<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let view = View { item, items: self };
        visit(Found {
            position: &key[CONTAINER_BYTES..],
            ordinal: item.ordinal(),
            part: 0,
            bytes: item.text_length(),
            root: Datum::Document(&view),
        })
    }
}

fn intersection(a: &KeyRange, b: &KeyRange) -> KeyRange {
    let end = match (&a.end, &b.end) {
        (Some(a), Some(b)) => Some(a.min(b).clone()),
        (a, b) => a.as_ref().or(b.as_ref()).cloned(),
    };
    KeyRange { start: a.start.clone().max(b.start.clone()), end }
}

impl Collection for Items<'_> {
    fn scan(
        &self,
        start: &Start,
        visit: &mut dyn FnMut(Found<'_>) -> ControlFlow<()>,
    ) -> Result<(), QueryError> {
        let first = match start {
            Start::Beginning => Vec::new(),
            Start::At(position) => self.key(position),
            Start::After(position) => [&self.key(position)[..], &[0]].concat(),
        };
        let failed = |error: orrery_kv::Error| QueryError::Storage(error.to_string());
        let mut ahead = Ahead::default();
        let mut expired = 0u64;
        for range in &self.ranges {
            let range = KeyRange { start: range.start.clone().max(first.clone()), end: range.end.clone() };
            if range.is_empty() {
                continue;
            }
            let mut rows = self.state.range(Space::Documents, &range, Order::Ascending);
            while ahead.fetch(&mut rows) {
                for row in ahead.rows.drain(..) {
                    let (key, value) = row.map_err(failed)?;
                    let item = ItemRow::read(value).map_err(failed)?;
                    if expiry::is_expired(self.container, &item, self.now) {
                        expired += 1;
                        self.check_time(expired)?;
                        continue;
                    }
                    if self.row(&key, &item, visit).is_break() {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    fn whereabouts(&self, position: &[u8]) -> Whereabouts {
        let key = self.key(position);
        let is_before = self.ranges.first().is_some_and(|first| key < first.start);
        let is_behind =
            self.ranges.last().is_none_or(|last| last.end.as_ref().is_some_and(|end| key >= *end));
        match (is_before, is_behind) {
            (true, _) => Whereabouts::Before,
            (false, true) => Whereabouts::Behind,
            (false, false) => Whereabouts::Inside,
        }
    }
}

/// Rows that are fetched before the first of them is looked at.
///
/// Rows lie all over memory, and to look at one is to wait until it has arrived. Here the ends of several are
/// asked for at once, so they arrive together. A scan that ends soon has not fetched much: the first time it is
/// one row, then two, then four.
#[derive(Default)]
struct Ahead {
    rows: Vec<Result<Row, orrery_kv::Error>>,
    fetched: usize,
}

const AHEAD_ROWS_MAX: usize = 32;
const AHEAD_BYTES_MAX: usize = 256 * 1024;
const CACHE_LINE: usize = 64;

impl Ahead {
    /// Whether there are any more.
    fn fetch(&mut self, from: &mut Rows<'_>) -> bool {
        let count = (2 * self.fetched).clamp(1, AHEAD_ROWS_MAX);
        let mut bytes = 0;
        while self.rows.len() < count && bytes < AHEAD_BYTES_MAX {
            let Some(row) = from.next() else { break };
            bytes += row.as_ref().map_or(0, |(_, value)| value.len());
            self.rows.push(row);
        }
        self.fetched = self.rows.len();
        self.touch();
        self.fetched > 0
    }

    /// Reads a byte of each piece of memory that a look at a row begins with: its header, its first members, and
    /// the table at its end.
    fn touch(&self) {
        let mut seen = 0;
        for (_, value) in self.rows.iter().flatten() {
            let end = value.len();
            for place in
                [0, CACHE_LINE, 2 * CACHE_LINE, end.saturating_sub(CACHE_LINE), end.saturating_sub(1)]
            {
                seen ^= value.get(place).copied().unwrap_or_default();
            }
        }
        std::hint::black_box(seen);
    }
}

struct View<'a> {
    item: &'a ItemRow,
    items: &'a Items<'a>,
}

impl Document for View<'_> {
    fn member(&self, name: &str) -> Datum<'_> {
        match self.item.member(name) {
            Some(text) => Datum::read(text),
            None if name.starts_with('_') => self.system(name).unwrap_or_else(|| self.computed(name)),
            None => self.computed(name),
        }
    }

    fn write_json(&self, out: &mut Vec<u8>) {
        self.item.write_json(self.items.container, out);
    }
}

impl View<'_> {
    fn system(&self, name: &str) -> Option<Datum<'static>> {
        let container = self.items.container;
        let rid = || ItemRid::new(container.rid(), ResourceKind::Item, self.item.ordinal());
        let value = match name {
            "_rid" => Datum::from(rid().to_string()),
            "_self" => Datum::from(format!("{}docs/{}/", container.self_link(), rid())),
            "_etag" => Datum::from(self.item.etag().to_string()),
            "_attachments" => Datum::from("attachments/".to_owned()),
            "_ts" => Datum::from(self.item.written().seconds() as i64),
            _ => return None,
        };
        Some(value)
    }

    fn computed(&self, name: &str) -> Datum<'static> {
        let property = self.items.computed.iter().find(|(known, _)| known == name);
        property.map_or(Datum::Undefined, |(_, plan)| {
            // A computed property sees the item as it is stored, and no other computed property.
            let bare = Items { computed: Vec::new(), ranges: Vec::new(), ..*self.items };
            let view = View { item: self.item, items: &bare };
            Datum::owned(value_of(plan, Datum::Document(&view), self.items.host))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use std::cell::Cell;

    fn rows(bytes: usize, asked: &Cell<usize>) -> Rows<'_> {
        Box::new((0..100u8).map(move |number| {
            asked.set(asked.get() + 1);
            Ok((Bytes::copy_from_slice(&[number]), Bytes::from(vec![0; bytes])))
        }))
    }

    fn fetched(ahead: &mut Ahead, from: &mut Rows<'_>) -> Vec<u8> {
        ahead.fetch(from);
        ahead.rows.drain(..).flatten().map(|(key, _)| key[0]).collect()
    }

    #[test]
    fn a_scan_that_ends_soon_has_not_fetched_much() {
        let asked = Cell::new(0);
        let (mut ahead, mut from) = (Ahead::default(), rows(10, &asked));
        for (keys, so_far) in [(vec![0], 1), (vec![1, 2], 3), (vec![3, 4, 5, 6], 7)] {
            assert_eq!(fetched(&mut ahead, &mut from), keys);
            assert_eq!(asked.get(), so_far);
        }
    }

    #[test]
    fn every_row_comes_once_and_in_order() {
        let asked = Cell::new(0);
        let (mut ahead, mut from) = (Ahead::default(), rows(0, &asked));
        let mut seen = Vec::new();
        while ahead.fetch(&mut from) {
            assert!(ahead.rows.len() <= AHEAD_ROWS_MAX);
            seen.extend(ahead.rows.drain(..).flatten().map(|(key, _)| key[0]));
        }
        assert_eq!(seen, (0..100).collect::<Vec<u8>>());
    }

    #[test]
    fn large_rows_are_fetched_few_at_a_time() {
        let asked = Cell::new(0);
        let (mut ahead, mut from) = (Ahead::default(), rows(AHEAD_BYTES_MAX / 2, &asked));
        let counts: Vec<usize> = (0..5).map(|_| fetched(&mut ahead, &mut from).len()).collect();
        assert_eq!(counts, [1, 2, 2, 2, 2]);
    }
}
