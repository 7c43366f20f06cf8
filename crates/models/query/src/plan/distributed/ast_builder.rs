//! Constructors of AST nodes for the queries that the planner generates. Their text spans are empty.

use super::Planner;
use crate::error::QueryError;
use crate::parse::{BinaryOp, Expr, ExprKind, Name, OrderBy, Query, Select, SelectItem, Source, TextSpan};
use orrery_value::{Number, Value};

pub(super) fn expr(kind: ExprKind) -> Expr {
    Expr { kind, at: TextSpan::default() }
}

pub(super) fn name(text: &str) -> Name {
    Name { text: text.to_owned(), at: TextSpan::default() }
}

pub(super) fn named(text: &str) -> Expr {
    expr(ExprKind::Name(text.to_owned()))
}

pub(super) fn member(of: Expr, member: &str) -> Expr {
    expr(ExprKind::Member(Box::new(of), member.to_owned()))
}

pub(super) fn array(items: Vec<Expr>) -> Expr {
    expr(ExprKind::Array(items))
}

pub(super) fn object(members: Vec<(&str, Expr)>) -> Expr {
    expr(ExprKind::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()))
}

pub(super) fn call(function: &str, args: Vec<Expr>) -> Expr {
    expr(ExprKind::Call { name: name(function), udf: false, args })
}

pub(super) fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    expr(ExprKind::Binary(op, Box::new(left), Box::new(right)))
}

pub(super) fn and(left: Option<Expr>, right: Expr) -> Expr {
    match left {
        Some(left) => binary(BinaryOp::And, left, right),
        None => right,
    }
}

pub(super) fn count(number: u64) -> Expr {
    expr(ExprKind::Number(Number::Int(i64::try_from(number).unwrap_or(i64::MAX))))
}

pub(super) fn number(value: f64) -> Expr {
    expr(ExprKind::Number(Number::Float(value)))
}

/// A value as a literal.
pub(super) fn literal(value: &Value) -> Expr {
    expr(match value {
        Value::Undefined => ExprKind::Undefined,
        Value::Null => ExprKind::Null,
        Value::Bool(it) => ExprKind::Bool(*it),
        Value::Number(it) => ExprKind::Number(*it),
        Value::String(it) => ExprKind::String(it.clone()),
        Value::Array(items) => ExprKind::Array(items.iter().map(literal).collect()),
        Value::Object(members) => {
            ExprKind::Object(members.iter().map(|(name, value)| (name.clone(), literal(value))).collect())
        }
    })
}

pub(super) fn item(expr: Expr, alias: &str) -> SelectItem {
    SelectItem { expr, alias: Some(name(alias)) }
}

/// A query with these sources and only a SELECT clause.
pub(super) fn select(select: Select, from: Vec<Source>) -> Query {
    Query {
        distinct: false,
        top: None,
        select,
        from,
        filter: None,
        group_by: Vec::new(),
        order_by: OrderBy::Keys(Vec::new()),
        window: None,
        at: TextSpan::default(),
    }
}

/// Whether a call is of this built-in function.
pub(super) fn is_call<'a>(expr: &'a Expr, function: &str) -> Option<&'a [Expr]> {
    match &expr.kind {
        ExprKind::Call { name, udf: false, args } if name.text.eq_ignore_ascii_case(function) => Some(args),
        _ => None,
    }
}

// The payload of a rewritten query: the SELECT clause as one expression.

impl Planner<'_> {
    pub(super) fn payload(&self) -> Result<Expr, QueryError> {
        match &self.query.select {
            Select::All => self.whole_row(),
            Select::Value(value) => Ok(value.clone()),
            Select::List(items) => {
                let values = items.iter().map(|item| item.expr.clone());
                Ok(expr(ExprKind::Object(member_names(items).into_iter().zip(values).collect())))
            }
        }
    }

    /// The condition that removes undefined rows. `SELECT VALUE` of undefined gives no row, but an
    /// undefined payload would merely be omitted from the object around it.
    pub(super) fn payload_is_defined(&self) -> Option<Expr> {
        match &self.query.select {
            Select::Value(value) if !is_always_defined(value) => {
                Some(call("IS_DEFINED", vec![value.clone()]))
            }
            _ => None,
        }
    }
}

/// The member names of a SELECT list; unnamed members are numbered.
pub(super) fn member_names(items: &[SelectItem]) -> Vec<String> {
    let mut unnamed = 0;
    let name = |item: &SelectItem| match (&item.alias, &item.expr.kind) {
        (Some(alias), _) => alias.text.clone(),
        (None, ExprKind::Name(name) | ExprKind::Member(_, name)) => name.clone(),
        (None, _) => {
            unnamed += 1;
            format!("${unnamed}")
        }
    };
    items.iter().map(name).collect()
}

/// Rows of a source and constructed objects or arrays are always defined.
fn is_always_defined(value: &Expr) -> bool {
    use ExprKind::{Array, Bool, Name, Null, Number, Object, String};
    matches!(value.kind, Name(_) | Object(_) | Array(_) | Null | Bool(_) | Number(_) | String(_))
}
