//! From a filter to the ranges of keys that it can want.
//!
//! ```text
//! cut.rs        a place between two texts; ranges of one key
//! region.rs     sets of (PartitionKey, RowKey): for ranges of partition keys, ranges of row keys
//! conditions.rs what a filter says of keys, as a region
//! scan_range.rs a range of the order in which entities are stored, and what kind it is
//! ```
//!
//! A region is exact where the filter speaks of keys alone, and too large elsewhere, never too small. What it leaves to be
//! decided is the residual filter, which is evaluated for each entity that is read.

mod conditions;
mod cut;
mod region;
mod scan_range;

pub use scan_range::{Access, ScanRange};

use crate::entity::EntityRow;
use crate::filter::{Expr, Filter};
use crate::query::{KeyBounds, Position};
use orrery_kv::KeyRange;
use std::fmt::{self, Display, Formatter};

/// How a query is answered.
#[derive(Clone, Debug)]
pub struct QueryPlan {
    /// Disjoint and in order.
    ranges: Vec<ScanRange>,
    residual: Option<Residual>,
}

/// What is still to be decided for each entity of the ranges.
#[derive(Clone, Debug)]
struct Residual {
    filter: Filter,
    /// A part of it, if that is enough.
    expr: Expr,
}

impl QueryPlan {
    pub fn new(filter: Option<&Filter>, bounds: &KeyBounds) -> Self {
        let (ranges, residual) = match filter {
            None => (vec![ScanRange::table()], None),
            Some(filter) => {
                let (ranges, expr) = conditions::plan(filter);
                (ranges, expr.map(|expr| Residual { filter: filter.clone(), expr }))
            }
        };
        let ranges = ranges.into_iter().filter_map(|range| range.within(bounds)).collect();
        Self { ranges, residual }
    }

    pub fn ranges(&self) -> &[ScanRange] {
        &self.ranges
    }

    /// How much of the table it reads, at worst.
    pub fn access(&self) -> Access {
        self.ranges.iter().map(ScanRange::access).max().unwrap_or(Access::Nothing)
    }

    /// The partition that it reads in, if that is only one.
    pub fn partition_key(&self) -> Option<String> {
        let (first, rest) = self.ranges.split_first()?;
        let partition_key = first.partition_key()?;
        rest.iter()
            .all(|range| range.partition_key().as_ref() == Some(&partition_key))
            .then_some(partition_key)
    }

    /// Whether an entity of the ranges is wanted.
    pub fn wants(&self, entity: &EntityRow) -> bool {
        self.residual.as_ref().is_none_or(|residual| residual.filter.matches_part(&residual.expr, entity))
    }

    /// The condition that is evaluated for each entity that is read.
    pub fn residual(&self) -> Option<String> {
        self.residual.as_ref().map(Residual::to_string)
    }

    /// The stored keys of a table to read, from where the page before ended.
    pub fn key_ranges(&self, table: u32, from: Option<&Position>) -> impl Iterator<Item = KeyRange> {
        let from = from.map(|from| scan_range::first_key(table, from));
        self.ranges.iter().filter_map(move |range| {
            let mut keys = range.keys(table);
            if let Some(from) = &from
                && *from > keys.start
            {
                keys.start.clone_from(from);
            }
            (!keys.is_empty()).then_some(keys)
        })
    }
}

impl Display for Residual {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.filter.write_part(&self.expr, f)
    }
}
