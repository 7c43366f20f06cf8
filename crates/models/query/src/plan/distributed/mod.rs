//! Distributed plans: the query-plan endpoint's answer to how a client runs a query over several ranges.
//!
//! A client sends one query to every range and combines the rows with the few steps it knows: merge by
//! `orderByItems`, combine aggregates, remove duplicates, skip and take. A plan is that query and the steps
//! to apply. If concatenation is enough, there is no rewritten query; if no client could combine the rows
//! correctly, the query is refused with an explanation.
//!
//! ```text
//! Ast ─ source:  do its rows come from one document each? ─ no ─> a count of distinct rows, or refused
//!     ├ hybrid:  ORDER BY RANK     ├ order: ORDER BY     ├ group: aggregates, GROUP BY     └ plain
//! ```
//!
//! Besides the plan, [`partition_keys`] and [`id_and_key_lookups`] derive the documents that a filter can
//! name.
//!
//! Absent: validation of the query (the binder's task) and the bounds of ranges.

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

/// The inputs of a plan besides the query.
#[derive(Clone, Debug, Default)]
pub struct DistributeOptions {
    pub hybrid: HybridForm,
    /// Whether the filter names one whole partition key. Then one range has all rows and sorts, skips
    /// and takes them itself.
    pub is_one_partition: bool,
    /// The distance function of each vector path, for the direction of `ORDER BY VectorDistance`.
    pub vectors: Vec<(Vec<String>, Distance)>,
}

/// The form of the component queries of a hybrid search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HybridForm {
    /// Queries with an ORDER BY to merge.
    #[default]
    Ordered,
    /// Plain rows that carry their scores, for clients that support
    /// [`Feature::HybridSearchSkipOrderByRewrite`].
    Scored,
}

impl HybridForm {
    /// The form that a client's `x-ms-cosmos-supported-query-features` selects.
    pub fn for_client(header: &str) -> Self {
        match unsupported(&[Feature::HybridSearchSkipOrderByRewrite], header) {
            None => Self::Scored,
            Some(_) => Self::Ordered,
        }
    }
}

/// Plans a query over several ranges. The query must be valid, that is, bind without errors.
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

/// Whether concatenating the rows of several ranges gives a wrong result, so that a client must merge them by
/// a plan. A query without FROM needs no container and therefore no merging.
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
