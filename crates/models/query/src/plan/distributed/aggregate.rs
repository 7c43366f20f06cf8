//! Aggregates: where they stand in a SELECT clause, and what each range gives for one.
//!
//! A client adds up whole aggregates and computes nothing from them, so an aggregate stands alone, after VALUE or
//! as a member of the SELECT list. Aggregates of a subquery belong to its rows and are none of the client's
//! business.

use super::projection::member_names;
use super::refused;
use super::tree::{array, call, is_call, object};
use crate::error::QueryError;
use crate::parse::{Expr, ExprKind, Select, SelectItem};

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

    /// As a plan names it.
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

    /// As a query names it.
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

    /// The object in which a range hands over its part. An average needs its sum and its count; of a least
    /// or greatest value some clients read `item` and some `item2`, which tells an empty range from one with
    /// values that cannot be compared.
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

/// One member of the result: an aggregate's part, or an expression that is the same in all rows of a group.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) aggregate: Option<Aggregate>,
    pub(super) expr: Expr,
}

/// A SELECT clause with aggregates.
pub(super) enum Aggregated {
    /// `SELECT VALUE COUNT(1)`
    Value(Aggregate, Expr),
    /// A SELECT list.
    Members(Vec<Member>),
}

/// What a SELECT clause aggregates; nothing if it does not.
pub(super) fn select(select: &Select) -> Result<Option<Aggregated>, QueryError> {
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

/// The members of a SELECT list, with aggregates or without.
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
