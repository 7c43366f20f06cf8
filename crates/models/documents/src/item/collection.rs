//! Items as a query's collection: documents in key order.
//!
//! A document is an item's row, read in place: a member costs a walk along the row's table, a system property
//! or a computed one is made when it is asked for. Expired items are not there.

use super::creation_order::CreationOrder;
use super::feed::FeedScope;
use super::prefetch;
use super::record::{ItemHead, ItemRow};
use crate::index::{EpkRange, IndexReader, IndexScope, PolicyIndexes, StatisticsView};
use crate::{expiry, row};
use orrery_catalog::Container;
use orrery_core::{ItemRid, ResourceKind, SYSTEM_MEMBERS, Timestamp};
use orrery_keys::{Epk, Hashing};
use orrery_kv::{KeyRange, Read, Row};
use orrery_query::access::{self, EntryCursor, IndexOf, Indexes, Path, Rectangle, SeekKey, Span, Step};
use orrery_query::execute::{
    Collection, Host, OrdinalScan, RelativePosition, ScannedDocument, Start, value_of,
};
use orrery_query::limits;
use orrery_query::plan::{Plan, Rules};
use orrery_query::{Datum, Document, QueryError, prepare};
use orrery_value::Value;
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
    /// The same as effective partition keys; nothing if it is single items.
    areas: Option<Vec<(Epk, Epk)>>,
    /// What the policy says, which holds for items that are read through as well.
    declared: Option<PolicyIndexes<'a>>,
    indexes: Option<IndexReader<'a>>,
    statistics: Option<StatisticsView<'a>>,
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
        let (ranges, areas) = (vec![scope.range(container)], Some(vec![scope.area()]));
        Ok(Self {
            state,
            container,
            ranges,
            areas,
            declared: None,
            indexes: None,
            statistics: None,
            now,
            computed,
            host,
        })
    }

    /// Only what lies in these partitions too; `(min, max)` of effective partition keys.
    pub fn restrict_ranges(self, partitions: &[(Epk, Epk)]) -> Self {
        orrery_core::tour_step!();
        let container = self.container.number();
        let keys = partitions.iter().map(|(min, max)| {
            if min == max {
                row::items_of_partition(container, min.as_bytes())
            } else {
                row::items_between(container, min.as_bytes(), max.as_bytes())
            }
        });
        let keys = keys.collect();
        let areas = self.areas.as_deref().map(|areas| {
            let both = partitions.iter().flat_map(|part| areas.iter().filter_map(|area| overlap(part, area)));
            both.collect()
        });
        Self { areas, ..self }.restrict(keys)
    }

    /// Uses the cached counts of earlier queries.
    pub fn with_statistics(self, statistics: StatisticsView<'a>) -> Self {
        Self { statistics: Some(statistics), ..self }
    }

    /// Attaches the container's indexes, where they cover these items.
    pub fn indexed(self) -> Result<Self, QueryError> {
        orrery_core::tour_step!();
        let scope = match &self.areas {
            None => None,
            Some(areas) if areas.iter().all(|(min, max)| min == max) => {
                let epks = areas.iter().map(|(epk, _)| epk.as_bytes().to_vec()).collect();
                IndexScope::of_partitions(self.state, self.container.number(), epks).map_err(failed)?
            }
            Some(areas) => Some(IndexScope::Ranges(areas.iter().map(area).collect())),
        };
        // Single items are fetched by their keys, and no index would help.
        let areas = self.areas.as_ref();
        let declared = areas.and_then(|_| PolicyIndexes::new(self.container, |path| self.is_stored(path)));
        let indexes = match scope.filter(|_| declared.is_some()) {
            None => None,
            Some(scope) => IndexReader::new(self.state, self.container, scope, self.statistics, self.now)
                .map_err(failed)?,
        };
        Ok(Self { declared, indexes, ..self })
    }

    /// Restricts the collection to these items, named by partition and id.
    pub fn restrict_ids(self, items: &[(Epk, String)]) -> Self {
        let container = self.container.number();
        let keys = items.iter().map(|(epk, id)| {
            let key = row::Row::Item { container, epk: epk.as_bytes(), id }.key().to_vec();
            let end = [&key[..], &[0]].concat();
            KeyRange::new(key, end)
        });
        let keys = keys.collect();
        Self { areas: None, ..self }.restrict(keys)
    }

    fn restrict(self, mut keys: Vec<KeyRange>) -> Self {
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
        visit: &mut dyn FnMut(ScannedDocument<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let view = View { item, items: self };
        visit(ScannedDocument {
            position: &key[CONTAINER_BYTES..],
            ordinal: item.ordinal(),
            part: 0,
            bytes: item.text_length(),
            root: Datum::Document(&view),
        })
    }
}

impl Items<'_> {
    /// Shows an item that was found by its number.
    fn numbered_row(
        &self,
        ordinal: u64,
        item: &ItemRow,
        visit: &mut dyn FnMut(ScannedDocument<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let view = View { item, items: self };
        visit(ScannedDocument {
            position: &ordinal.to_be_bytes(),
            ordinal,
            part: 0,
            bytes: item.text_length(),
            root: Datum::Document(&view),
        })
    }
}

/// What two areas have in common. One of them may be a single partition, named by its key twice.
fn overlap(a: &(Epk, Epk), b: &(Epk, Epk)) -> Option<(Epk, Epk)> {
    let holds =
        |(min, max): &(Epk, Epk), epk: &Epk| if min == max { min == epk } else { min <= epk && epk < max };
    if a.0 == a.1 {
        return holds(b, &a.0).then(|| a.clone());
    }
    if b.0 == b.1 {
        return holds(a, &b.0).then(|| b.clone());
    }
    let (min, max) = (a.0.clone().max(b.0.clone()), a.1.clone().min(b.1.clone()));
    (min < max).then_some((min, max))
}

/// An area as bytes, its end left out.
fn area((min, max): &(Epk, Epk)) -> EpkRange {
    let end = if min == max { [max.as_bytes(), &[0]].concat() } else { max.as_bytes().to_vec() };
    (min.as_bytes().to_vec(), end)
}

pub(crate) fn failed(error: orrery_kv::Error) -> QueryError {
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
        visit: &mut dyn FnMut(ScannedDocument<'_>) -> ControlFlow<()>,
    ) -> Result<(), QueryError> {
        let first = match start {
            Start::Beginning => Vec::new(),
            Start::At(position) => self.key(position),
            Start::After(position) => [&self.key(position)[..], &[0]].concat(),
        };
        let mut expired = 0u64;
        let mut show = |(key, value): Row| {
            let item = ItemHead::read(value).map_err(failed)?;
            if expiry::is_expired(self.container, &item, self.now) {
                expired += 1;
                self.check_time(expired)?;
                return Ok(ControlFlow::Continue(()));
            }
            let item = item.whole(self.state).map_err(failed)?;
            Ok(self.row(&key, &item, visit))
        };
        for range in &self.ranges {
            let range = KeyRange { start: range.start.clone().max(first.clone()), end: range.end.clone() };
            if range.is_empty() {
                continue;
            }
            if prefetch::each_row(self.state, &range, &mut show)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn indexes(&self) -> Option<&dyn Indexes> {
        self.indexes.as_ref().map(|_| self as &dyn Indexes)
    }

    fn declared(&self) -> Option<&dyn access::DeclaredIndexes> {
        self.declared.as_ref().map(|_| self as &dyn access::DeclaredIndexes)
    }

    fn ordinal_scan(&self, begun: bool) -> Result<Option<OrdinalScan<'_>>, QueryError> {
        let Self { state, container, ref ranges, ref areas, now, .. } = *self;
        let ordered = CreationOrder { state, container, ranges, areas: areas.as_deref() };
        let strategy = if begun { ordered.resume_strategy().map(Some) } else { ordered.strategy() };
        let Some(strategy) = strategy.map_err(failed)? else { return Ok(None) };
        Ok(Some(Box::new(move |from, visit| {
            let each = ordered.each(strategy, from, &mut |ordinal, item| {
                if expiry::is_expired(container, &item, now) {
                    return Ok(ControlFlow::Continue(()));
                }
                Ok(self.numbered_row(ordinal, &item.whole(state)?, visit))
            });
            each.map_err(failed)
        })))
    }

    fn relative_position(&self, position: &[u8]) -> RelativePosition {
        let key = self.key(position);
        let is_before = self.ranges.first().is_some_and(|first| key < first.start);
        let is_behind =
            self.ranges.last().is_none_or(|last| last.end.as_ref().is_some_and(|end| key >= *end));
        match (is_before, is_behind) {
            (true, _) => RelativePosition::Before,
            (false, true) => RelativePosition::After,
            (false, false) => RelativePosition::Inside,
        }
    }
}

impl Items<'_> {
    /// The indexed paths of the partition key, where these are the items of one partition: the request names their
    /// values, whatever the filter says.
    pub fn scope_key_paths(&self) -> Vec<Path> {
        let is_one = matches!(self.areas.as_deref(), Some([(min, max)]) if min == max);
        let paths = if is_one { self.key_paths() } else { Vec::new() };
        paths.into_iter().filter(|path| access::DeclaredIndexes::has(self, path)).collect()
    }

    fn key_paths(&self) -> Vec<Path> {
        let paths = self.container.definition().partition_key().paths().iter();
        paths.map(|path| path.segments().iter().map(|name| Step::Member(name.clone())).collect()).collect()
    }

    fn searched(&self) -> Result<&IndexReader<'_>, QueryError> {
        self.indexes.as_ref().ok_or_else(|| QueryError::Storage("the indexes are not there".to_owned()))
    }

    /// Whether what a path names is stored in the items, and not made when it is asked for.
    fn is_stored(&self, path: &Path) -> bool {
        let Some(Step::Member(first)) = path.first() else { return false };
        let is_computed = self.computed.iter().any(|(name, _)| name == first);
        !is_computed && !SYSTEM_MEMBERS.iter().any(|name| name == first && *name != "_ts")
    }
}

impl access::DeclaredIndexes for Items<'_> {
    fn has(&self, path: &Path) -> bool {
        self.is_stored(path) && self.declared.as_ref().is_some_and(|declared| declared.has(path))
    }

    fn composites(&self) -> &[Vec<(Path, bool)>] {
        self.declared.as_ref().map_or(&[], PolicyIndexes::composites)
    }

    fn has_spatial(&self, path: &Path) -> bool {
        self.is_stored(path) && self.declared.as_ref().is_some_and(|declared| declared.has_spatial(path))
    }
}

impl Indexes for Items<'_> {
    fn documents(&self) -> Result<u64, QueryError> {
        Ok(self.searched()?.documents())
    }

    fn documents_exact(&self) -> Result<Option<u64>, QueryError> {
        let is_all = |(min, max): &(Epk, Epk)| *min == Epk::start() && *max == Epk::end();
        let is_whole = self.areas.as_deref().is_some_and(|areas| matches!(areas, [area] if is_all(area)));
        self.searched()?.documents_there(is_whole)
    }

    fn documents_indexed(&self, index: &IndexOf) -> Result<u64, QueryError> {
        self.searched()?.documents_in(index)
    }

    fn count(&self, index: &IndexOf, span: &Span, max: u64) -> Result<u64, QueryError> {
        self.searched()?.count(index, span, max)
    }

    fn entries<'s>(
        &'s self,
        index: &IndexOf,
        span: &Span,
        reverse: bool,
        from: Option<&SeekKey>,
    ) -> Result<Box<dyn EntryCursor + 's>, QueryError> {
        Ok(self.searched()?.entries(index, span, reverse, from))
    }

    fn spatial_candidates(
        &self,
        path: &Path,
        rectangle: &Rectangle,
        max: u64,
    ) -> Result<Option<Vec<u64>>, QueryError> {
        self.searched()?.near(path, rectangle, max)
    }

    /// The values of the partition key, where it is of one partition.
    fn constant_paths(&self, constant: &dyn Fn(&Path) -> Option<Value>) -> Vec<Path> {
        let Some([(epk, end)]) = self.areas.as_deref() else { return Vec::new() };
        let paths = self.key_paths();
        let values = paths.iter().map(constant).collect::<Option<Vec<_>>>();
        // Arrays and objects are no keys, and lie with what has none.
        let is_key = |value: &Value| !matches!(value, Value::Undefined | Value::Array(_) | Value::Object(_));
        let values = values.filter(|values| values.iter().all(is_key));
        // The first version of hashing does not look at all of a long value.
        let is_sure = epk == end && self.container.hashing() != Hashing::HashV1;
        let is_it = values
            .is_some_and(|values| is_sure && *epk == orrery_keys::epk(self.container.hashing(), &values));
        if is_it { paths } else { Vec::new() }
    }

    fn fetch(
        &self,
        ordinal: u64,
        visit: &mut dyn FnMut(ScannedDocument<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, QueryError> {
        let Some(item) = self.searched()?.item(ordinal)? else { return Ok(ControlFlow::Continue(())) };
        Ok(self.numbered_row(ordinal, &item, visit))
    }

    fn contains(&self, ordinal: u64) -> Result<bool, QueryError> {
        self.searched()?.is_there(ordinal)
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
            let Items { state, container, now, host, .. } = *self.items;
            let (computed, ranges) = (Vec::new(), Vec::new());
            let (declared, indexes, statistics, areas) = (None, None, None, None);
            let bare =
                Items { state, container, ranges, areas, declared, indexes, statistics, now, computed, host };
            let view = View { item: self.item, items: &bare };
            Datum::owned(value_of(plan, Datum::Document(&view), self.items.host))
        })
    }
}
