//! `SELECT VALUE COUNT(1) FROM (SELECT DISTINCT …)`: the client drops duplicates and counts what is left.
//!
//! It is the one query over a subquery of the whole container that a client can put together.

use super::aggregate::{self, Aggregate};
use super::info::{DistinctType, Distributed, QueryInfo};
use super::source::{Rows, rows};
use super::{Planner, projection, refused};
use crate::error::QueryError;
use crate::parse::{Expr, ExprKind, OrderBy, Query, Select, print};

impl Planner<'_> {
    pub(super) fn distinct_count(&self, inner: &Query) -> Result<Distributed, QueryError> {
        let alias = self.count_alias().filter(|_| is_only_distinct(inner)).ok_or_else(|| {
            refused(
                "A subquery in FROM that sorts, groups, aggregates, limits or makes distinct looks at all \
                 documents, and cannot be merged across partitions; only a COUNT over a SELECT DISTINCT can.",
            )
        })?;
        let mut info = QueryInfo::of(self.query);
        info.distinct_type = DistinctType::Unordered;
        info.distinct_count_alias = Some(alias);
        info.rewritten_query = print(inner);
        Ok(Distributed::of(info))
    }

    /// The name the count goes by, empty with VALUE; nothing if the query does more than count rows.
    fn count_alias(&self) -> Option<String> {
        let plain =
            Query { select: self.query.select.clone(), from: self.query.from.clone(), ..empty(self.query) };
        if *self.query != plain || self.query.from.len() != 1 || self.query.from[0].each {
            return None;
        }
        let (alias, counted) = match &self.query.select {
            Select::Value(value) => (String::new(), value),
            Select::List(items) => match &items[..] {
                [one] => (projection::member_names(items).pop()?, &one.expr),
                _ => return None,
            },
            Select::All => return None,
        };
        let (function, arg) = aggregate::plain(counted)?;
        (function == Aggregate::Count && self.is_in_every_row(arg)).then_some(alias)
    }

    fn is_in_every_row(&self, arg: &Expr) -> bool {
        let alias = self.query.from.first().and_then(|source| source.alias.as_ref());
        match &arg.kind {
            ExprKind::Null | ExprKind::Bool(_) | ExprKind::Number(_) | ExprKind::String(_) => true,
            ExprKind::Name(name) => alias.is_some_and(|alias| alias.text == *name),
            _ => false,
        }
    }
}

fn empty(query: &Query) -> Query {
    Query { at: query.at, ..super::tree::select(Select::All, Vec::new()) }
}

fn is_only_distinct(query: &Query) -> bool {
    query.distinct
        && query.top.is_none()
        && query.window.is_none()
        && query.group_by.is_empty()
        && matches!(&query.order_by, OrderBy::Keys(keys) if keys.is_empty())
        && !aggregate::is_in_select(&query.select)
        && matches!(rows(query), Rows::OfDocuments)
}
