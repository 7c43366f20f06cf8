//! The tree as text again, with no more parentheses than it needs; it parses as the same tree.

use super::ast::{Expr, Filter, Operand};
use crate::edm::Value;
use std::fmt::{self, Display, Formatter};

impl Display for Filter {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write(self.root(), self.names(), f)
    }
}

pub(crate) fn write(expr: &Expr, names: &[String], f: &mut Formatter<'_>) -> fmt::Result {
    match expr {
        Expr::Or(parts) => join(parts, " or ", names, f),
        Expr::And(parts) => join(parts, " and ", names, f),
        Expr::Not(part) => {
            f.write_str("not ")?;
            inside(part, names, f)
        }
        Expr::Compare(comparison, left, right) => {
            operand(left, names, f)?;
            write!(f, " {} ", comparison.keyword())?;
            operand(right, names, f)
        }
        Expr::Truth(part) => operand(part, names, f),
    }
}

fn join(parts: &[Expr], word: &str, names: &[String], f: &mut Formatter<'_>) -> fmt::Result {
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            f.write_str(word)?;
        }
        inside(part, names, f)?;
    }
    Ok(())
}

/// In parentheses if it is a chain.
fn inside(part: &Expr, names: &[String], f: &mut Formatter<'_>) -> fmt::Result {
    match part {
        Expr::Or(_) | Expr::And(_) => {
            f.write_str("(")?;
            write(part, names, f)?;
            f.write_str(")")
        }
        _ => write(part, names, f),
    }
}

fn operand(operand: &Operand, names: &[String], f: &mut Formatter<'_>) -> fmt::Result {
    match operand {
        Operand::Property(index) => f.write_str(&names[*index]),
        Operand::Literal(value) => literal(value, f),
        Operand::Null => f.write_str("null"),
    }
}

fn literal(value: &Value, f: &mut Formatter<'_>) -> fmt::Result {
    match value {
        Value::String(text) => write!(f, "'{}'", text.replace('\'', "''")),
        Value::Boolean(value) => write!(f, "{value}"),
        Value::Int32(value) => write!(f, "{value}"),
        Value::Int64(value) => write!(f, "{value}L"),
        Value::Double(value) if value.is_nan() => f.write_str("NaN"),
        Value::Double(value) if value.is_infinite() => {
            f.write_str(if *value > 0.0 { "Infinity" } else { "-Infinity" })
        }
        // With a fraction or an exponent, always.
        Value::Double(value) => write!(f, "{value:?}"),
        Value::DateTime(value) => write!(f, "datetime'{}'", value.text()),
        Value::Guid(value) => write!(f, "guid'{value}'"),
        Value::Binary(bytes) => {
            f.write_str("X'")?;
            bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
            f.write_str("'")
        }
    }
}
