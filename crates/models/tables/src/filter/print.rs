//! The tree as text again, with no more parentheses than it needs; it parses as the same tree. Or its shape: the same without
//! the constants.

use super::ast::{Expr, Filter, Operand};
use crate::edm::Value;
use std::fmt::{self, Display, Formatter};

impl Display for Filter {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write(self.root(), self.names(), f)
    }
}

/// A filter with `?` for each constant: the same question about other values has the same shape.
pub struct Shape<'a>(pub(super) &'a Filter);

impl Display for Shape<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Printer { names: self.0.names(), literal: |_, f| f.write_str("?") }.expr(self.0.root(), f)
    }
}

pub(crate) fn write(expr: &Expr, names: &[String], f: &mut Formatter<'_>) -> fmt::Result {
    Printer { names, literal }.expr(expr, f)
}

struct Printer<'a> {
    names: &'a [String],
    literal: fn(&Value, &mut Formatter<'_>) -> fmt::Result,
}

impl Printer<'_> {
    fn expr(&self, expr: &Expr, f: &mut Formatter<'_>) -> fmt::Result {
        match expr {
            Expr::Or(parts) => self.join(parts, " or ", f),
            Expr::And(parts) => self.join(parts, " and ", f),
            Expr::Not(part) => {
                f.write_str("not ")?;
                self.inside(part, f)
            }
            Expr::Compare(comparison, left, right) => {
                self.operand(left, f)?;
                write!(f, " {} ", comparison.keyword())?;
                self.operand(right, f)
            }
            Expr::Truth(part) => self.operand(part, f),
        }
    }

    fn join(&self, parts: &[Expr], word: &str, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                f.write_str(word)?;
            }
            self.inside(part, f)?;
        }
        Ok(())
    }

    /// In parentheses if it is a chain.
    fn inside(&self, part: &Expr, f: &mut Formatter<'_>) -> fmt::Result {
        match part {
            Expr::Or(_) | Expr::And(_) => {
                f.write_str("(")?;
                self.expr(part, f)?;
                f.write_str(")")
            }
            _ => self.expr(part, f),
        }
    }

    fn operand(&self, operand: &Operand, f: &mut Formatter<'_>) -> fmt::Result {
        match operand {
            Operand::Property(index) => f.write_str(&self.names[*index]),
            Operand::Literal(value) => (self.literal)(value, f),
            Operand::Null => f.write_str("null"),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_has_the_names_and_none_of_the_constants() {
        let check = |text: &str, expected: &str| {
            assert_eq!(Filter::parse(text).expect(text).shape().to_string(), expected);
        };
        check("Status eq 'it''s secret'", "Status eq ?");
        check("(n gt 5L or n lt -1.5) and not (Done eq true)", "(n gt ? or n lt ?) and not Done eq ?");
        check(
            "PartitionKey eq 'a' and At ge datetime'2026-11-19T00:00:00Z'",
            "PartitionKey eq ? and At ge ?",
        );
        check("Id eq guid'00000000-0000-0000-0000-000000000001' or B eq X'00ff'", "Id eq ? or B eq ?");
    }
}
