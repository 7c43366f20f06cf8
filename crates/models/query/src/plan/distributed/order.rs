//! ORDER BY: each range returns sorted rows, each with its sort keys, and the client merges them.
//!
//! A row is `{_rid, orderByItems: [{item}], payload}`. An undefined key leaves its object empty.

use super::ast_builder::{and, array, item, member, named, object, select};
use super::info::{Direction, DistinctType, Distributed, QueryInfo};
use super::{Planner, score};
use crate::error::QueryError;
use crate::parse::{Expr, OrderBy, OrderKey, Query, Select, SelectItem, print, print_expr};

impl Planner<'_> {
    pub(super) fn ordered(&self, keys: &[OrderKey]) -> Result<Distributed, QueryError> {
        if self.options.is_one_partition && !self.query.distinct {
            return self.plain();
        }
        let bounds = self.bounds()?;
        let mut info = QueryInfo::of(self.query);
        bounds.write_to(&mut info);
        info.distinct_type = self.distinct_type(keys);
        info.order_by = keys.iter().map(|key| self.direction(key)).collect();
        info.order_by_expressions = keys.iter().map(|key| print_expr(&key.expr)).collect();
        info.has_non_streaming_order_by = keys.iter().any(|key| score::is_distance(&key.expr));
        let mut marks = Marks::new(self.query);
        let items = keys.iter().map(|key| key.expr.clone()).collect();
        let mut each = self.ordered_rows(items, self.payload()?, &mut marks)?;
        each.order_by = OrderBy::Keys(keys.to_vec());
        if !self.query.distinct {
            bounds.limit_each_range(&mut each);
        }
        info.rewritten_query = marks.fill(print(&each));
        Ok(Distributed::of(info))
    }

    /// The query that returns rows with these keys and this payload, not yet ordered.
    pub(super) fn ordered_rows(
        &self,
        keys: Vec<Expr>,
        payload: Expr,
        marks: &mut Marks,
    ) -> Result<Query, QueryError> {
        let named_root = self.named_root()?;
        let items = keys.into_iter().map(|key| object(vec![("item", key)])).collect();
        let list = vec![
            SelectItem { expr: member(named(&named_root.root), "_rid"), alias: None },
            item(array(items), "orderByItems"),
            item(payload, "payload"),
        ];
        let filter = and(self.query.filter.clone(), marks.name_for(FILTER));
        let filter = match self.payload_is_defined() {
            Some(there) => and(Some(filter), there),
            None => filter,
        };
        Ok(Query { filter: Some(filter), ..select(Select::List(list), named_root.from) })
    }

    /// Equal rows are adjacent only if SELECT and ORDER BY name the same expressions.
    fn distinct_type(&self, keys: &[OrderKey]) -> DistinctType {
        match (&self.query.select, keys) {
            _ if !self.query.distinct => DistinctType::None,
            (Select::Value(value), [key]) if print_expr(value) == print_expr(&key.expr) => {
                DistinctType::Ordered
            }
            _ => DistinctType::Unordered,
        }
    }

    fn direction(&self, key: &OrderKey) -> Direction {
        match score::distance(&key.expr, self.parameters, &self.options.vectors) {
            Some(distance) => score::best_first(distance),
            None if key.descends() => Direction::Descending,
            None => Direction::Ascending,
        }
    }
}

// Placeholders in a rewritten query: text in braces that a client replaces before it sends the query.
//
// They are not expressions. In the tree an otherwise unused name represents each of them, and printing the
// query replaces the name.

/// Placeholder for a client's resume condition.
pub(super) const FILTER: &str = "({documentdb-formattableorderbyquery-filter})";

pub(super) struct Marks {
    prefix: String,
    placeholders: Vec<String>,
}

impl Marks {
    pub(super) fn new(query: &Query) -> Self {
        let text = print(query);
        let mut prefix = "mark".to_owned();
        while text.contains(&prefix) {
            prefix.push('_');
        }
        Self { prefix, placeholders: Vec::new() }
    }

    /// The name that represents a placeholder.
    pub(super) fn name_for(&mut self, placeholder: &str) -> Expr {
        let known = self.placeholders.iter().position(|it| it == placeholder);
        let index = known.unwrap_or_else(|| {
            self.placeholders.push(placeholder.to_owned());
            self.placeholders.len() - 1
        });
        named(&self.mark(index))
    }

    /// The query text with its placeholders.
    pub(super) fn fill(&self, printed: String) -> String {
        let marked = self.placeholders.iter().enumerate();
        marked.fold(printed, |text, (index, placeholder)| text.replace(&self.mark(index), placeholder))
    }

    /// Ends in a letter, so that no name is a prefix of another.
    fn mark(&self, index: usize) -> String {
        format!("{}{index}x", self.prefix)
    }
}
