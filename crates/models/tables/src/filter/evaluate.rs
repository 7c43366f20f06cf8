//! Whether an entity, or a table, is wanted.
//!
//! The properties that a filter names are looked up first, in one pass over the record. What is missing, or of another type
//! than what it is compared with, makes the comparison false, `ne` too.

use super::ast::{Expr, Operand};
use super::compare;
use crate::edm::{DateTime, ValueRef};
use crate::entity::{EntityRow, PARTITION_KEY, ROW_KEY, TIMESTAMP};

pub(crate) const TABLE_NAME: &str = "TableName";

/// Values of the properties that a filter names, in its order.
type Values<'a> = [Option<ValueRef<'a>>];

pub(crate) fn entity(expr: &Expr, names: &[String], entity: &EntityRow) -> bool {
    let is_named = |wanted: &str| names.iter().any(|name| name == wanted);
    let (partition_key, row_key) = (entity.partition_key(), entity.row_key());
    let timestamp = is_named(TIMESTAMP).then(|| DateTime::from(entity.timestamp()));
    let mut values: Vec<Option<ValueRef<'_>>> = names
        .iter()
        .map(|name| match name.as_str() {
            PARTITION_KEY => Some(ValueRef::String(&partition_key)),
            ROW_KEY => Some(ValueRef::String(&row_key)),
            TIMESTAMP => timestamp.as_ref().map(|at| ValueRef::DateTime(at.as_ref())),
            _ => None,
        })
        .collect();
    let mut missing = values.iter().filter(|value| value.is_none()).count();
    let mut properties = entity.properties();
    while missing > 0 {
        let Some((name, value)) = properties.next() else { break };
        if let Some(index) = names.iter().position(|wanted| wanted == name) {
            values[index] = Some(value);
            missing -= 1;
        }
    }
    holds(expr, &values)
}

pub(crate) fn table(expr: &Expr, names: &[String], name: &str) -> bool {
    let value = |wanted: &String| (wanted == TABLE_NAME).then_some(ValueRef::String(name));
    holds(expr, &names.iter().map(value).collect::<Vec<_>>())
}

fn holds(expr: &Expr, values: &Values<'_>) -> bool {
    match expr {
        Expr::Or(parts) => parts.iter().any(|part| holds(part, values)),
        Expr::And(parts) => parts.iter().all(|part| holds(part, values)),
        Expr::Not(part) => !holds(part, values),
        Expr::Compare(comparison, left, right) => match (value(left, values), value(right, values)) {
            (Some(left), Some(right)) => compare::holds(*comparison, left, right),
            _ => false,
        },
        Expr::Truth(operand) => value(operand, values) == Some(ValueRef::Boolean(true)),
    }
}

fn value<'a>(operand: &'a Operand, values: &Values<'a>) -> Option<ValueRef<'a>> {
    match operand {
        Operand::Property(index) => values[*index],
        Operand::Literal(value) => Some(value.as_ref()),
        Operand::Null => None,
    }
}
