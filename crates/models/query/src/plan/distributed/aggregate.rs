//! Aggregates: their position in a SELECT clause, and the partial result of each range.
//!
//! A client only adds up whole aggregates and computes nothing from them. So an aggregate must stand alone,
//! after VALUE or as a member of the SELECT list. Aggregates inside subqueries belong to the row and do not
//! concern the client.

use super::ast_builder::{array, call, expr, is_call, item, member_names, object, select};
use super::info::{DistinctType, Distributed, QueryInfo};
use super::source::{Rows, rows};
use super::{Planner, refused};
use crate::error::QueryError;
use crate::parse::{Expr, ExprKind, OrderBy, Query, Select, SelectItem, print, print_expr};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    Average,
    Count,
    CountIf,
    MakeList,
    MakeSet,
    Max,
    Min,
    Sum,
}

impl Aggregate {
    const ALL: [Self; 8] = [
        Self::Average,
        Self::Count,
        Self::CountIf,
        Self::MakeList,
        Self::MakeSet,
        Self::Max,
        Self::Min,
        Self::Sum,
    ];

    /// The name in a query plan.
    pub fn name(self) -> &'static str {
        match self {
            Self::Average => "Average",
            Self::Count => "Count",
            Self::CountIf => "CountIf",
            Self::MakeList => "MakeList",
            Self::MakeSet => "MakeSet",
            Self::Max => "Max",
            Self::Min => "Min",
            Self::Sum => "Sum",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|aggregate| aggregate.name() == name)
    }

    /// The name in query text.
    fn function(self) -> &'static str {
        match self {
            Self::Average => "AVG",
            Self::Count => "COUNT",
            Self::CountIf => "COUNTIF",
            Self::MakeList => "MAKELIST",
            Self::MakeSet => "MAKESET",
            Self::Max => "MAX",
            Self::Min => "MIN",
            Self::Sum => "SUM",
        }
    }

    /// The object that carries a range's partial result. An average needs its sum and its count. For a
    /// minimum or maximum some clients read `item` and some `item2`, which distinguishes an empty range
    /// from one whose values cannot be compared.
    pub(super) fn part(self, arg: &Expr) -> Expr {
        let of = |aggregate: Self| call(aggregate.function(), vec![arg.clone()]);
        match self {
            Self::Average => {
                object(vec![("item", object(vec![("sum", of(Self::Sum)), ("count", of(Self::Count))]))])
            }
            Self::Max | Self::Min => {
                let name = if self == Self::Max { "max" } else { "min" };
                let both = object(vec![(name, of(self)), ("count", of(Self::Count))]);
                object(vec![("item", of(self)), ("item2", both)])
            }
            _ => object(vec![("item", of(self))]),
        }
    }
}

/// One member of the result: the partial result of an aggregate, or an expression that is constant within a
/// group.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) aggregate: Option<Aggregate>,
    pub(super) expr: Expr,
}

/// A SELECT clause that contains aggregates.
pub(super) enum Aggregated {
    /// `SELECT VALUE COUNT(1)`
    Value(Aggregate, Expr),
    /// A SELECT list.
    Members(Vec<Member>),
}

/// The aggregates of a SELECT clause; `None` if it has none.
pub(super) fn of_select(select: &Select) -> Result<Option<Aggregated>, QueryError> {
    if !is_in_select(select) {
        return Ok(None);
    }
    match select {
        Select::Value(value) => {
            let (aggregate, arg) = plain(value).ok_or_else(composed)?;
            Ok(Some(Aggregated::Value(aggregate, array(vec![aggregate.part(arg)]))))
        }
        Select::List(items) => Ok(Some(Aggregated::Members(list(items)?))),
        Select::All => Ok(None),
    }
}

/// The members of a SELECT list, with or without aggregates.
pub(super) fn list(items: &[SelectItem]) -> Result<Vec<Member>, QueryError> {
    member_names(items).into_iter().zip(items).map(|(name, item)| member(name, &item.expr)).collect()
}

fn member(name: String, value: &Expr) -> Result<Member, QueryError> {
    match plain(value) {
        Some((aggregate, arg)) => Ok(Member { name, aggregate: Some(aggregate), expr: aggregate.part(arg) }),
        None if is_in(value) => Err(composed()),
        None => Ok(Member { name, aggregate: None, expr: value.clone() }),
    }
}

/// An aggregate that stands alone, with its argument.
pub(super) fn plain(value: &Expr) -> Option<(Aggregate, &Expr)> {
    match of_call(value)? {
        (aggregate, [arg]) if !is_in(arg) => Some((aggregate, arg)),
        _ => None,
    }
}

pub(super) fn is_in_select(select: &Select) -> bool {
    match select {
        Select::All => false,
        Select::Value(value) => is_in(value),
        Select::List(items) => items.iter().any(|item| is_in(&item.expr)),
    }
}

fn of_call(value: &Expr) -> Option<(Aggregate, &[Expr])> {
    Aggregate::ALL.iter().find_map(|aggregate| Some((*aggregate, is_call(value, aggregate.function())?)))
}

fn is_in(value: &Expr) -> bool {
    use ExprKind::{Array, Between, Binary, Call, Conditional, In, Index, Like, Member, Object, Unary};
    if of_call(value).is_some() {
        return true;
    }
    match &value.kind {
        Member(of, _) | Unary(_, of) => is_in(of),
        Index(left, right) | Binary(_, left, right) => is_in(left) || is_in(right),
        Conditional(a, b, c) | Between { value: a, low: b, high: c, .. } => is_in(a) || is_in(b) || is_in(c),
        In { value, list, .. } => is_in(value) || list.iter().any(is_in),
        Like { value, pattern, .. } => is_in(value) || is_in(pattern),
        Array(items) | Call { args: items, .. } => items.iter().any(is_in),
        Object(members) => members.iter().any(|(_, value)| is_in(value)),
        _ => false,
    }
}

fn composed() -> QueryError {
    refused(
        "Cross partition query only supports aggregates that stand alone: compositions of aggregates and \
         other expressions are not allowed.",
    )
}

// Aggregates and GROUP BY: each range returns a partial result per group, and the client combines them.
//
// Without GROUP BY there is one group and no `groupByItems`. Since a range's rows are only partial, the
// client alone applies DISTINCT, TOP and OFFSET LIMIT. A single row needs no order, so ORDER BY is dropped.

impl Planner<'_> {
    pub(super) fn grouped(&self, aggregated: Option<Aggregated>) -> Result<Distributed, QueryError> {
        let mut info = QueryInfo::of(self.query);
        self.bounds()?.write_to(&mut info);
        if self.query.distinct && !self.query.group_by.is_empty() {
            info.distinct_type = DistinctType::Unordered;
        }
        let payload = self.part_payload(aggregated, &mut info)?;
        info.group_by_expressions = self.query.group_by.iter().map(print_expr).collect();
        info.rewritten_query = print(&Query {
            filter: self.query.filter.clone(),
            group_by: self.query.group_by.clone(),
            ..select(self.part_select(payload, &info), self.query.from.clone())
        });
        Ok(Distributed::of(info))
    }

    /// The values that a range returns for a group besides its keys.
    fn part_payload(&self, aggregated: Option<Aggregated>, info: &mut QueryInfo) -> Result<Expr, QueryError> {
        match (aggregated, &self.query.select) {
            (Some(Aggregated::Value(aggregate, part)), _) => {
                info.aggregates = vec![aggregate];
                Ok(part)
            }
            (Some(Aggregated::Members(members)), _) => Ok(members_payload(members, info)),
            (None, Select::List(items)) => Ok(members_payload(list(items)?, info)),
            (None, Select::Value(value)) => Ok(value.clone()),
            (None, Select::All) => Err(refused("'SELECT *' is not supported in presence of GROUP BY.")),
        }
    }

    fn part_select(&self, payload: Expr, info: &QueryInfo) -> Select {
        let keys = self.query.group_by.iter().map(|key| object(vec![("item", key.clone())])).collect();
        match &self.query.group_by[..] {
            [] if info.has_select_value => Select::Value(payload),
            [] => Select::List(vec![item(payload, "payload")]),
            _ => Select::List(vec![item(array(keys), "groupByItems"), item(payload, "payload")]),
        }
    }
}

fn members_payload(members: Vec<Member>, info: &mut QueryInfo) -> Expr {
    let aliases = members.iter().map(|member| (member.name.clone(), member.aggregate));
    info.group_by_aliases = aliases.collect();
    expr(ExprKind::Object(members.into_iter().map(|member| (member.name, member.expr)).collect()))
}

// `SELECT VALUE COUNT(1) FROM (SELECT DISTINCT …)`: the client removes duplicates and counts the rest.
//
// It is the only query over a subquery of the whole container that a client can assemble.

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

    /// The name of the count, empty with VALUE; `None` if the query does more than count rows.
    fn count_alias(&self) -> Option<String> {
        let bare =
            Query { select: self.query.select.clone(), from: self.query.from.clone(), ..empty(self.query) };
        if *self.query != bare || self.query.from.len() != 1 || self.query.from[0].each {
            return None;
        }
        let (alias, counted) = match &self.query.select {
            Select::Value(value) => (String::new(), value),
            Select::List(items) => match &items[..] {
                [one] => (member_names(items).pop()?, &one.expr),
                _ => return None,
            },
            Select::All => return None,
        };
        let (function, arg) = plain(counted)?;
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
    Query { at: query.at, ..super::ast_builder::select(Select::All, Vec::new()) }
}

fn is_only_distinct(query: &Query) -> bool {
    query.distinct
        && query.top.is_none()
        && query.window.is_none()
        && query.group_by.is_empty()
        && matches!(&query.order_by, OrderBy::Keys(keys) if keys.is_empty())
        && !is_in_select(&query.select)
        && matches!(rows(query), Rows::OfDocuments)
}
