//! The value of an expression in one row, or in one group of rows.

use super::aggregates::{aggregate, is_aggregate};
use super::functions::{call, of_number, of_text};
use super::like::like;
use super::operators::{and, binary, equal, is_true, or, unary};
use super::run::rows_of;
use orrery_query::parse::{BinaryOp, Expr, ExprKind, Query, UnaryOp};
use orrery_value::Value;

/// What every part of a query can see.
pub struct Input<'a> {
    pub documents: &'a [Value],
    pub parameters: &'a [(String, Value)],
}

/// The names that are bound, the nearest last.
pub type Row = Vec<(String, Value)>;

/// Where an expression is evaluated.
#[derive(Clone, Copy)]
pub struct Here<'a> {
    pub input: &'a Input<'a>,
    pub row: &'a Row,
    /// The rows that an aggregate is of; none outside SELECT, or when nothing is aggregated.
    pub group: Option<&'a [Row]>,
}

type Answer = Result<Value, String>;

pub fn eval(expr: &Expr, here: Here<'_>) -> Answer {
    let of = |expr: &Expr| eval(expr, here);
    Ok(match &expr.kind {
        ExprKind::Undefined => Value::Undefined,
        ExprKind::Null => Value::Null,
        ExprKind::Bool(it) => Value::Bool(*it),
        ExprKind::Number(it) => Value::Number(*it),
        ExprKind::String(it) => Value::String(it.clone()),
        ExprKind::Parameter(name) => parameter(name, here.input)?,
        ExprKind::Name(name) => {
            bound(here.row, name).cloned().ok_or_else(|| format!("{name} is not bound"))?
        }
        ExprKind::Member(of_what, name) => of(of_what)?.member(name).clone(),
        ExprKind::Index(of_what, index) => element(&of(of_what)?, &of(index)?),
        ExprKind::Unary(op, value) => unary(*op, &of(value)?),
        ExprKind::Binary(op, a, b) => binary(*op, &of(a)?, &of(b)?),
        ExprKind::Conditional(test, yes, no) => {
            if is_true(&of(test)?) {
                of(yes)?
            } else {
                of(no)?
            }
        }
        ExprKind::In { value, list, negated } => negate(*negated, is_in(&of(value)?, &all(list, here)?)),
        ExprKind::Between { value, low, high, negated } => {
            negate(*negated, between(&of(value)?, &of(low)?, &of(high)?))
        }
        ExprKind::Like { value, pattern, escape, negated } => {
            let escape = escape.as_ref().map(|it| of(it)).transpose()?;
            negate(*negated, is_like(&of(value)?, &of(pattern)?, escape.as_ref()))
        }
        ExprKind::Array(items) => Value::Array(defined(all(items, here)?)),
        ExprKind::Object(members) => object(members, here)?,
        ExprKind::Call { udf: true, name, .. } => return Err(format!("udf.{} is not known here", name.text)),
        ExprKind::Call { name, args, .. } if is_aggregate(&name.text) => aggregated(&name.text, args, here)?,
        ExprKind::Call { name, args, .. } => call(&name.text, &all(args, here)?)?,
        ExprKind::Subquery(query) => scalar(query, here)?,
        ExprKind::Exists(query) => Value::Bool(!rows_of(query, here.input, here.row)?.is_empty()),
        ExprKind::ArrayOf(query) => Value::Array(rows_of(query, here.input, here.row)?),
    })
}

pub fn bound<'a>(row: &'a Row, name: &str) -> Option<&'a Value> {
    row.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value)
}

fn parameter(name: &str, input: &Input<'_>) -> Answer {
    let found = input.parameters.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.clone()).ok_or_else(|| format!("{name} has no value"))
}

fn all(list: &[Expr], here: Here<'_>) -> Result<Vec<Value>, String> {
    list.iter().map(|expr| eval(expr, here)).collect()
}

fn defined(values: Vec<Value>) -> Vec<Value> {
    values.into_iter().filter(|value| !value.is_undefined()).collect()
}

pub fn element(value: &Value, index: &Value) -> Value {
    match (value, of_number(index), of_text(index)) {
        (Value::Array(items), Some(at), _) if at >= 0.0 && at.fract() == 0.0 => {
            items.get(at as usize).cloned().unwrap_or_default()
        }
        (Value::Object(_), _, Some(name)) => value.member(name).clone(),
        _ => Value::Undefined,
    }
}

fn negate(negated: bool, value: Value) -> Value {
    if negated { unary(UnaryOp::Not, &value) } else { value }
}

fn is_in(value: &Value, list: &[Value]) -> Value {
    list.iter().fold(Value::Bool(false), |so_far, item| or(&so_far, &equal(value, item)))
}

fn between(value: &Value, low: &Value, high: &Value) -> Value {
    and(&binary(BinaryOp::GreaterOrEqual, value, low), &binary(BinaryOp::LessOrEqual, value, high))
}

fn is_like(value: &Value, pattern: &Value, escape: Option<&Value>) -> Value {
    let (Some(text), Some(pattern)) = (of_text(value), of_text(pattern)) else { return Value::Undefined };
    let escape = match escape.map(of_text) {
        None => None,
        Some(Some(it)) if it.chars().count() == 1 => it.chars().next(),
        Some(_) => return Value::Undefined,
    };
    like(text, pattern, escape).map_or(Value::Undefined, Value::Bool)
}

fn object(members: &[(String, Expr)], here: Here<'_>) -> Answer {
    let mut made = Vec::new();
    for (name, expr) in members {
        let value = eval(expr, here)?;
        if !value.is_undefined() {
            made.push((name.clone(), value));
        }
    }
    Ok(Value::Object(made))
}

fn aggregated(name: &str, args: &[Expr], here: Here<'_>) -> Answer {
    let Some(group) = here.group else { return Err(format!("{name} where nothing is grouped")) };
    let [arg] = args else { return Err(format!("{name} of {} arguments", args.len())) };
    let values: Result<Vec<Value>, String> =
        group.iter().map(|row| eval(arg, Here { row, group: None, ..here })).collect();
    Ok(aggregate(name, &values?))
}

fn scalar(query: &Query, here: Here<'_>) -> Answer {
    let mut rows = rows_of(query, here.input, here.row)?;
    match rows.len() {
        0 => Ok(Value::Undefined),
        1 => Ok(rows.remove(0)),
        many => Err(format!("{many} rows in a scalar subquery")),
    }
}
