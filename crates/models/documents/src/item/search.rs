//! Items as a query sees them: a collection of documents in key order.
//!
//! A document is an item's row, read in place: a member costs a walk along the row's table, a system property
//! or a computed one is made when it is asked for. Expired items are not there.

use super::ahead;
use super::feed::FeedScope;
use super::record::ItemRow;
use crate::catalog::Container;
use crate::{expiry, row};
use orrery_core::{ItemRid, ResourceKind, Timestamp, limits};
use orrery_keys::Epk;
use orrery_kv::{KeyRange, Read, Row};
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

pub(super) fn failed(error: orrery_kv::Error) -> QueryError {
    QueryError::Storage(error.to_string())
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
        let mut expired = 0u64;
        let mut show = |(key, value): Row| {
            let item = ItemRow::read(value).map_err(failed)?;
            if expiry::is_expired(self.container, &item, self.now) {
                expired += 1;
                self.check_time(expired)?;
                return Ok(ControlFlow::Continue(()));
            }
            Ok(self.row(&key, &item, visit))
        };
        for range in &self.ranges {
            let range = KeyRange { start: range.start.clone().max(first.clone()), end: range.end.clone() };
            if range.is_empty() {
                continue;
            }
            if ahead::each_row(self.state, &range, &mut show)?.is_break() {
                break;
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
