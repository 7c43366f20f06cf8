//! What the query-plan endpoint answers: how a client runs a query over several ranges and merges the rows.
//!
//! A client sends one text to every range and puts the rows together with the little it knows: merge by the
//! order of `orderByItems`, add up aggregates, drop duplicates, skip and take. So a plan is that text and
//! which of these steps follow it. Where plain concatenation is right there is no rewritten text at all, and
//! where no client could put the rows together rightly the query is refused with a sentence.
//!
//! ```text
//! Ast ─ source:  do its rows come from one document each? ─ no ─> a count of distinct rows, or refused
//!     ├ hybrid:  ORDER BY RANK     ├ order: ORDER BY     ├ group: aggregates, GROUP BY     └ plain
//! ```
//!
//! Beside the plan stand [`partition_keys`] and [`id_and_key_lookups`]: which documents a filter can name.
//!
//! What this leaves out: whether the query is valid (the binder says that) and the bounds of ranges.

mod aggregate;
mod ast_builder;
mod feature;
mod hybrid;
mod info;
mod keys;
pub mod merge;
mod order;
mod plain;
mod score;
mod source;

pub use aggregate::Aggregate;
pub use feature::{Feature, unsupported};
pub use info::{Direction, DistinctType, Distributed, HybridSearchInfo, QueryInfo, QueryRange};
pub use keys::{KEYS_MAX, id_and_key_lookups, partition_keys};

use crate::error::QueryError;
use crate::functions::vector::Distance;
use crate::parse::{OrderBy, Query};
use orrery_value::Value;
use source::Rows;

/// What a plan depends on beside the query.
#[derive(Clone, Debug, Default)]
pub struct DistributeOptions {
    pub hybrid: HybridForm,
    /// Whether the filter names one whole partition key: then one range has all rows, and sorts, skips and takes
    /// them itself.
    pub is_one_partition: bool,
    /// The distance of each vector path of the container, for the direction of `ORDER BY VectorDistance`.
    pub vectors: Vec<(Vec<String>, Distance)>,
}

/// How the component queries of a hybrid search look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HybridForm {
    /// As queries with an ORDER BY to merge.
    #[default]
    Ordered,
    /// Plain rows that carry their scores; for clients that know [`Feature::HybridSearchSkipOrderByRewrite`].
    Scored,
}

impl HybridForm {
    /// The form for the value of a client's `x-ms-cosmos-supported-query-features`.
    pub fn for_client(header: &str) -> Self {
        match unsupported(&[Feature::HybridSearchSkipOrderByRewrite], header) {
            None => Self::Scored,
            Some(_) => Self::Ordered,
        }
    }
}

/// How to run a query over several ranges. The query is taken to be valid: binding it finds no fault.
pub fn distribute(
    query: &Query,
    parameters: &[(String, Value)],
    options: &DistributeOptions,
) -> Result<Distributed, QueryError> {
    let planner = Planner { query, parameters, options };
    match source::rows(query) {
        Rows::None => planner.without_source(),
        Rows::OfDocuments => planner.of_documents(),
        Rows::OfAll(inner) => planner.distinct_count(inner),
        Rows::Constant => {
            Err(refused("A subquery in FROM that reads no container gives its rows in every partition."))
        }
    }
}

/// Whether the rows of several ranges put one after the other are not the query's answer, so that a client has to
/// merge them by a plan. A query without FROM needs no container, and so no merging.
pub fn needs_merging(query: &Query) -> bool {
    match source::rows(query) {
        Rows::None => false,
        Rows::OfDocuments => !source::is_row_by_row(query),
        Rows::OfAll(_) | Rows::Constant => true,
    }
}

struct Planner<'a> {
    query: &'a Query,
    parameters: &'a [(String, Value)],
    options: &'a DistributeOptions,
}

impl Planner<'_> {
    fn of_documents(&self) -> Result<Distributed, QueryError> {
        let projection = aggregate::of_select(&self.query.select)?;
        match &self.query.order_by {
            OrderBy::Rank(score) => self.hybrid(score),
            OrderBy::Keys(keys) if !self.query.group_by.is_empty() && !keys.is_empty() => {
                Err(refused("'ORDER BY' is not supported in presence of GROUP BY."))
            }
            _ if projection.is_some() || !self.query.group_by.is_empty() => self.grouped(projection),
            OrderBy::Keys(keys) if !keys.is_empty() => self.ordered(keys),
            OrderBy::Keys(_) => self.plain(),
        }
    }
}

fn refused(why: &str) -> QueryError {
    QueryError::Refused(why.to_owned())
}
