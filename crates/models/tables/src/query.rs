//! Queries: a page of the entities that a filter wants, in the order of their keys.

use crate::entity::{EntityKey, EntityRow};
use crate::filter::Filter;
use crate::limits;
use crate::plan::QueryPlan;
use crate::spaces::ENTITIES;
use crate::utf16;
use bytes::Bytes;
use orrery_kv::{Error, KeyRange, Order, Read, Rows};
use std::cmp::Ordering;

#[derive(Clone, Debug, Default)]
pub struct Query {
    /// All entities without one.
    pub filter: Option<Filter>,
    /// Entities of a page; at most [`limits::PAGE_ROWS_MAX`], which is also what there are without it.
    pub top: Option<usize>,
    /// Where the page before ended.
    pub from: Option<Position>,
    /// What a shared access signature allows.
    pub bounds: KeyBounds,
}

/// A place in the order of entities: the first row of a partition, or the first from a row key on. Where it was may be
/// gone; what comes after it is found all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    pub partition_key: String,
    pub row_key: Option<String>,
}

/// Entities from one key to another, both included. A bound without a row key is the whole partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyBounds {
    pub start: Option<Position>,
    pub end: Option<Position>,
}

#[derive(Debug)]
pub struct QueryPage {
    pub entities: Vec<EntityRow>,
    /// Where to go on; there may be nothing more that the filter wants.
    pub next: Option<Position>,
    pub scanned: Scanned,
}

/// What a page took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    pub rows: usize,
    pub bytes: usize,
    /// Ranges of keys that were begun.
    pub ranges: usize,
}

impl KeyBounds {
    pub fn contains(&self, key: &EntityKey) -> bool {
        let order = |bound: &Position| {
            utf16::compare(key.partition_key.as_str(), &bound.partition_key).then_with(|| {
                let row_key = bound.row_key.as_deref();
                row_key.map_or(Ordering::Equal, |row_key| utf16::compare(key.row_key.as_str(), row_key))
            })
        };
        self.start.as_ref().is_none_or(|start| order(start).is_ge())
            && self.end.as_ref().is_none_or(|end| order(end).is_le())
    }
}

impl From<&EntityRow> for Position {
    fn from(entity: &EntityRow) -> Self {
        Self {
            partition_key: entity.partition_key().into_owned(),
            row_key: Some(entity.row_key().into_owned()),
        }
    }
}

impl Query {
    pub fn plan(&self) -> QueryPlan {
        QueryPlan::new(self.filter.as_ref(), &self.bounds)
    }
}

/// The next page. It ends at `top` entities, or where enough was looked at: then it may be empty.
pub fn run(state: &dyn Read, table: u32, query: &Query) -> Result<QueryPage, Error> {
    run_plan(state, table, query, &query.plan())
}

/// With a plan that was made before.
pub fn run_plan(state: &dyn Read, table: u32, query: &Query, plan: &QueryPlan) -> Result<QueryPage, Error> {
    let top = query.top.unwrap_or(limits::PAGE_ROWS_MAX).min(limits::PAGE_ROWS_MAX);
    let mut page = QueryPage { entities: Vec::new(), next: None, scanned: Scanned::default() };
    if top == 0 {
        return Ok(page);
    }
    let mut bytes_out = 0;
    for range in plan.key_ranges(table, query.from.as_ref()) {
        page.scanned.ranges += 1;
        for row in rows(state, &range) {
            let (key, record) = row?;
            let entity = EntityRow::read(key, record)?;
            let is_full = page.entities.len() >= top || bytes_out >= orrery_core::limits::PAGE_BYTES_MAX;
            if is_full || page.scanned.is_enough() {
                page.next = Some(Position::from(&entity));
                return Ok(page);
            }
            page.scanned.rows += 1;
            page.scanned.bytes += entity.bytes();
            if plan.wants(&entity) {
                bytes_out += entity.bytes();
                page.entities.push(entity);
            }
        }
    }
    Ok(page)
}

/// A range of one key is a lookup, which the row cache answers.
fn rows<'a>(state: &'a dyn Read, range: &KeyRange) -> Rows<'a> {
    let is_point = range.end.as_ref().is_some_and(|end| end.strip_suffix(&[0]) == Some(&range.start[..]));
    if !is_point {
        return state.range(ENTITIES, range, Order::Ascending);
    }
    let key = Bytes::copy_from_slice(&range.start);
    let found = state.get(ENTITIES, &key).map(|record| record.map(|record| (key, record)));
    Box::new(found.transpose().into_iter())
}

impl Scanned {
    fn is_enough(&self) -> bool {
        self.rows >= limits::PAGE_ROWS_SCANNED_MAX || self.bytes >= limits::PAGE_BYTES_SCANNED_MAX
    }
}
