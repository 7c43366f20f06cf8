//! Prints a tree as canonical text on one line, which parses back to the same tree.
//!
//! Every operator with two or more operands is in parentheses, needed or not: `((c.a = 1) AND (c.b > 2))`.
//! Only a chain of one associative operator shares them, `(a OR b OR c)`, because the parser regroups it
//! anyway. Strings, and names that are not plain, have double quotes and the escapes of JSON.

use super::ast::*;
use crate::lex::is_name;
use orrery_value::{Number, raw};
use std::fmt::{self, Display, Formatter, Write};

/// The text of a query.
pub fn print(query: &Query) -> String {
    query.to_string()
}

/// The text of an expression, as in a query.
pub fn print_expr(expr: &Expr) -> String {
    expr.to_string()
}

impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("SELECT ")?;
        if self.distinct {
            f.write_str("DISTINCT ")?;
        }
        if let Some(top) = &self.top {
            write!(f, "TOP {top} ")?;
        }
        write!(f, "{}", self.select)?;
        for (place, source) in self.from.iter().enumerate() {
            write!(f, " {} {source}", if place == 0 { "FROM" } else { "JOIN" })?;
        }
        if let Some(filter) = &self.filter {
            write!(f, " WHERE {filter}")?;
        }
        if !self.group_by.is_empty() {
            write!(f, " GROUP BY {}", Listed(&self.group_by))?;
        }
        write!(f, "{}", self.order_by)?;
        match &self.window {
            Some(Window { offset, limit }) => write!(f, " OFFSET {offset} LIMIT {limit}"),
            None => Ok(()),
        }
    }
}

impl Display for Select {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("*"),
            Self::Value(expr) => write!(f, "VALUE {expr}"),
            Self::List(items) => write!(f, "{}", Listed(items)),
        }
    }
}

impl Display for SelectItem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.alias {
            None => write!(f, "{}", self.expr),
            Some(alias) if is_name(&alias.text) => write!(f, "{} AS {}", self.expr, alias.text),
            Some(alias) => write!(f, "{} AS {}", self.expr, Quoted(&alias.text)),
        }
    }
}

impl Display for Source {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.alias {
            Some(alias) if self.each => write!(f, "{} IN {}", alias.text, self.of),
            Some(alias) => write!(f, "{} AS {}", self.of, alias.text),
            None => write!(f, "{}", self.of),
        }
    }
}

impl Display for Collection {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Query(query) => write!(f, "({query})"),
            Self::Path(root, steps) => {
                f.write_str(&root.text)?;
                steps.iter().try_for_each(|step| write!(f, "{step}"))
            }
        }
    }
}

impl Display for Step {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Member(name) => write_member(f, name),
            Self::Index(index) => write!(f, "[{index}]"),
        }
    }
}

impl Display for OrderBy {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keys(keys) if keys.is_empty() => Ok(()),
            Self::Keys(keys) => write!(f, " ORDER BY {}", Listed(keys)),
            Self::Rank(score) => write!(f, " ORDER BY RANK {score}"),
        }
    }
}

impl Display for OrderKey {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let direction = match self.direction {
            None => "",
            Some(Direction::Ascending) => " ASC",
            Some(Direction::Descending) => " DESC",
        };
        write!(f, "{}{direction}", self.expr)
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExprKind::Undefined => f.write_str("undefined"),
            ExprKind::Null => f.write_str("null"),
            ExprKind::Bool(value) => write!(f, "{value}"),
            ExprKind::Number(number) => write_number(f, *number),
            ExprKind::String(text) => write!(f, "{}", Quoted(text)),
            ExprKind::Parameter(name) | ExprKind::Name(name) => f.write_str(name),
            ExprKind::Member(of, name) => {
                write_base(f, of)?;
                write_member(f, name)
            }
            ExprKind::Index(of, index) => {
                write_base(f, of)?;
                write!(f, "[{index}]")
            }
            ExprKind::Unary(op, operand) => write_unary(f, *op, operand),
            ExprKind::Binary(op, left, right) => {
                f.write_char('(')?;
                write_side(f, *op, left)?;
                write!(f, " {op} ")?;
                write_side(f, *op, right)?;
                f.write_char(')')
            }
            ExprKind::Conditional(condition, then, other) => write!(f, "({condition} ? {then} : {other})"),
            ExprKind::In { value, list, negated } => {
                write!(f, "({value} {}IN ({}))", not(*negated), Listed(list))
            }
            ExprKind::Between { value, low, high, negated } => {
                write!(f, "({value} {}BETWEEN {low} AND {high})", not(*negated))
            }
            ExprKind::Like { value, pattern, escape, negated } => {
                write!(f, "({value} {}LIKE {pattern}", not(*negated))?;
                if let Some(escape) = escape {
                    write!(f, " ESCAPE {escape}")?;
                }
                f.write_char(')')
            }
            ExprKind::Array(items) => write!(f, "[{}]", Listed(items)),
            ExprKind::Object(members) => write_object(f, members),
            ExprKind::Call { name, udf, args } => {
                write!(f, "{}{}({})", if *udf { "udf." } else { "" }, name.text, Listed(args))
            }
            ExprKind::Subquery(query) => write!(f, "({query})"),
            ExprKind::Exists(query) => write!(f, "EXISTS({query})"),
            ExprKind::ArrayOf(query) => write!(f, "ARRAY({query})"),
        }
    }
}

impl Display for UnaryOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plus => "+",
            Self::Minus => "-",
            Self::BitNot => "~",
            Self::Not => "NOT ",
        })
    }
}

impl Display for BinaryOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Or => "OR",
            Self::And => "AND",
            Self::Coalesce => "??",
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::BitOr => "|",
            Self::BitXor => "^",
            Self::BitAnd => "&",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
            Self::ShiftRightZero => ">>>",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Modulo => "%",
            Self::Concat => "||",
        })
    }
}

fn not(negated: bool) -> &'static str {
    if negated { "NOT " } else { "" }
}

/// The base of a member or element access.
fn write_base(f: &mut Formatter<'_>, base: &Expr) -> fmt::Result {
    match base.kind {
        ExprKind::Number(_) | ExprKind::Unary(..) => write!(f, "({base})"),
        _ => write!(f, "{base}"),
    }
}

/// One side of an operator; a chain of the same associative operator continues without parentheses.
fn write_side(f: &mut Formatter<'_>, op: BinaryOp, side: &Expr) -> fmt::Result {
    match &side.kind {
        ExprKind::Binary(own, left, right) if *own == op && op.is_associative() => {
            write_side(f, op, left)?;
            write!(f, " {op} ")?;
            write_side(f, op, right)
        }
        _ => write!(f, "{side}"),
    }
}

/// Two minuses would start a comment, and a minus before a number would become part of it.
fn write_unary(f: &mut Formatter<'_>, op: UnaryOp, operand: &Expr) -> fmt::Result {
    match (op, &operand.kind) {
        (_, ExprKind::Unary(..)) | (UnaryOp::Minus, ExprKind::Number(_)) => write!(f, "{op}({operand})"),
        _ => write!(f, "{op}{operand}"),
    }
}

fn write_member(f: &mut Formatter<'_>, name: &str) -> fmt::Result {
    if is_name(name) { write!(f, ".{name}") } else { write!(f, "[{}]", Quoted(name)) }
}

fn write_object(f: &mut Formatter<'_>, members: &[(String, Expr)]) -> fmt::Result {
    f.write_char('{')?;
    for (place, (name, value)) in members.iter().enumerate() {
        write!(f, "{}{}: {value}", if place == 0 { "" } else { ", " }, Quoted(name))?;
    }
    f.write_char('}')
}

/// Below this limit, every integral double is an integer with exactly its digits.
const EXACT_INTEGER_MAX: f64 = 9_007_199_254_740_992.0;

fn write_number(f: &mut Formatter<'_>, number: Number) -> fmt::Result {
    match number {
        Number::Int(int) => write!(f, "{int}"),
        Number::Float(float) if float.fract() == 0.0 && float.abs() < EXACT_INTEGER_MAX => {
            write!(f, "{}", float as i64)
        }
        Number::Float(float) => write_float(f, float),
    }
}

/// Seventeen significant digits in the format of C's `%.17g`: the service's format in rewritten queries, and
/// enough to parse back the same double.
fn write_float(f: &mut Formatter<'_>, float: f64) -> fmt::Result {
    let scientific = format!("{:.16e}", float.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits = mantissa.replace('.', "");
    let digits = digits.trim_end_matches('0');
    let exponent: i32 = exponent.parse().unwrap_or(0);
    f.write_str(if float < 0.0 { "-" } else { "" })?;
    match usize::try_from(exponent) {
        Ok(before) if before < 17 => {
            let (whole, fraction) = digits.split_at(digits.len().min(before + 1));
            write!(f, "{whole:0<width$}{}{fraction}", point(fraction), width = before + 1)
        }
        Err(_) if exponent >= -4 => {
            write!(f, "0.{:0>width$}", digits, width = digits.len() + exponent.unsigned_abs() as usize - 1)
        }
        _ => {
            let (whole, fraction) = digits.split_at(1);
            let sign = if exponent < 0 { '-' } else { '+' };
            write!(f, "{whole}{}{fraction}e{sign}{:02}", point(fraction), exponent.unsigned_abs())
        }
    }
}

fn point(fraction: &str) -> &'static str {
    if fraction.is_empty() { "" } else { "." }
}

/// Items separated by commas.
struct Listed<'a, T>(&'a [T]);

impl<T: Display> Display for Listed<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (place, item) in self.0.iter().enumerate() {
            write!(f, "{}{item}", if place == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        raw::escape_into(self.0, &mut text);
        f.write_str(&String::from_utf8_lossy(&text))
    }
}
