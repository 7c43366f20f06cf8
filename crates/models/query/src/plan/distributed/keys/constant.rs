//! Expressions that have one value whatever the document, and that value as a level of a key.

use crate::parse::{Expr, ExprKind, UnaryOp};
use orrery_value::{Number, Value};
use std::collections::HashMap;

/// Parameters by name; a filter may have thousands.
pub(super) type Parameters<'a> = HashMap<&'a str, &'a Value>;

/// The value of literals and of parameters; nothing for all else.
pub(super) fn constant(expr: &Expr, parameters: &Parameters<'_>) -> Option<Value> {
    let of = |expr: &Expr| constant(expr, parameters);
    Some(match &expr.kind {
        ExprKind::Undefined => Value::Undefined,
        ExprKind::Null => Value::Null,
        ExprKind::Bool(it) => Value::Bool(*it),
        ExprKind::Number(it) => Value::Number(*it),
        ExprKind::String(it) => Value::String(it.clone()),
        ExprKind::Parameter(name) => (*parameters.get(name.as_str())?).clone(),
        ExprKind::Unary(UnaryOp::Minus, inner) => match of(inner)? {
            Value::Number(it) => Value::from(-it.as_f64()),
            _ => Value::Undefined,
        },
        ExprKind::Array(items) => Value::Array(items.iter().map(of).collect::<Option<_>>()?),
        ExprKind::Object(members) => {
            let member = |(name, value): &(String, Expr)| Some((name.clone(), of(value)?));
            Value::Object(members.iter().map(member).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

/// The level of the key of a document whose member has this value: arrays and objects are no keys, so such
/// a document is kept as one without the member.
pub(super) fn as_level(value: Value) -> Value {
    match value {
        Value::Array(_) | Value::Object(_) => Value::Undefined,
        // -0 equals 0, and is stored as it.
        Value::Number(number) if number.as_f64() == 0.0 => Value::Number(Number::Int(0)),
        other => other,
    }
}
