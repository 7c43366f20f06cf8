//! What a condition implies about the key levels when it is true, or when it is false.
//!
//! Each rule is one-sided: if the condition has the wanted value, one of the terms holds; the converse need
//! not be true. A true AND makes both sides true and a false one makes one side false. A comparison with
//! undefined is neither, so it never has the wanted value.

use super::Implied;
use super::{Parameters, as_level, constant};
use crate::parse::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::plan::distributed::ast_builder::is_call;
use orrery_value::Value;

pub(super) struct Filter<'a> {
    /// The alias of the document.
    pub(super) root: &'a str,
    pub(super) parameters: Parameters<'a>,
    /// The path of each level, as member names.
    pub(super) levels: &'a [&'a [String]],
}

impl Filter<'_> {
    /// The implication of `condition` being exactly `wanted`.
    pub(super) fn implied(&self, condition: &Expr, wanted: bool) -> Implied {
        if let Some(value) = constant(condition, &self.parameters) {
            return if matches!(value, Value::Bool(it) if it == wanted) {
                Implied::Nothing
            } else {
                Implied::never()
            };
        }
        if self.level_of(condition) {
            return self.is(condition, Value::Bool(wanted));
        }
        match &condition.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => self.implied(inner, !wanted),
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), ..) => self.chain(condition, *op, wanted),
            ExprKind::Binary(BinaryOp::Equal, a, b) => self.equality(a, b, wanted),
            ExprKind::Binary(BinaryOp::NotEqual, a, b) => self.equality(a, b, !wanted),
            ExprKind::In { value, list, negated } if *negated != wanted => self.one_of(value, list),
            ExprKind::Like { value, pattern, escape, negated } if *negated != wanted => {
                self.like(value, pattern, escape.as_deref())
            }
            ExprKind::Call { .. } => self.call(condition, wanted),
            _ => Implied::Nothing,
        }
    }

    /// The terms of an AND or OR, however they were nested. There may be thousands.
    fn chain(&self, condition: &Expr, op: BinaryOp, wanted: bool) -> Implied {
        let each = links(condition, op).into_iter().map(|link| self.implied(link, wanted));
        if wanted == (op == BinaryOp::And) {
            each.fold(Implied::Nothing, Implied::and)
        } else {
            each.fold(Implied::never(), Implied::or)
        }
    }

    /// `a = b` is true (and `a != b` false) only for two equal, defined values. Its being false implies
    /// nothing unless one side is always a boolean.
    fn equality(&self, a: &Expr, b: &Expr, equal: bool) -> Implied {
        let (side, value) = match (constant(a, &self.parameters), constant(b, &self.parameters)) {
            (None, Some(value)) => (a, value),
            (Some(value), None) => (b, value),
            (Some(a), Some(b)) if a.equals(&b) != Some(equal) => return Implied::never(),
            _ => return Implied::Nothing,
        };
        match value {
            Value::Bool(it) if equal => self.implied(side, it),
            Value::Bool(it) if is_defined_call(side).is_some() => self.implied(side, !it),
            value if equal => match is_call(side, "ABS") {
                Some([of]) => self.abs(of, value),
                _ => self.is(side, value),
            },
            _ => Implied::Nothing,
        }
    }

    /// `ABS(of)` equals this value: `of` is that number or its negation.
    fn abs(&self, of: &Expr, value: Value) -> Implied {
        match value {
            Value::Number(number) if number.as_f64() >= 0.0 => {
                self.is(of, value).or(self.is(of, Value::from(-number.as_f64())))
            }
            _ => Implied::never(),
        }
    }

    /// A pattern without wildcards matches only itself.
    fn like(&self, value: &Expr, pattern: &Expr, escape: Option<&Expr>) -> Implied {
        let escape = match escape.map(|escape| constant(escape, &self.parameters)) {
            None => None,
            Some(Some(Value::String(escape))) if escape.chars().count() == 1 => escape.chars().next(),
            Some(_) => return Implied::Nothing,
        };
        match constant(pattern, &self.parameters) {
            Some(Value::String(pattern)) => match literal(&pattern, escape) {
                Some(text) => self.is(value, Value::String(text)),
                None => Implied::Nothing,
            },
            _ => Implied::Nothing,
        }
    }

    fn one_of(&self, value: &Expr, list: &[Expr]) -> Implied {
        let equal = list.iter().map(|item| self.equality(value, item, true));
        equal.fold(Implied::never(), Implied::or)
    }

    fn call(&self, condition: &Expr, wanted: bool) -> Implied {
        if let Some(of) = is_defined_call(condition) {
            return if wanted { Implied::Nothing } else { self.has(of, Value::Undefined) };
        }
        let called = |name| is_call(condition, name).filter(|_| wanted);
        if let Some([of]) = called("IS_NULL") {
            return self.is(of, Value::Null);
        }
        if let Some([of]) = called("IS_BOOL") {
            return self.is(of, Value::Bool(true)).or(self.is(of, Value::Bool(false)));
        }
        match called("ARRAY_CONTAINS").or_else(|| called("_TRY_ARRAY_CONTAINS")) {
            Some([list, of]) => match constant(list, &self.parameters) {
                Some(Value::Array(items)) => {
                    items.into_iter().map(|item| self.is(of, item)).fold(Implied::never(), Implied::or)
                }
                Some(_) => Implied::never(),
                None => Implied::Nothing,
            },
            _ => Implied::Nothing,
        }
    }

    /// The expression equals this value, so both are defined.
    fn is(&self, expr: &Expr, value: Value) -> Implied {
        if value.is_undefined() { Implied::never() } else { self.has(expr, as_level(value)) }
    }

    /// Fixes the level that the expression names, if it names one.
    fn has(&self, expr: &Expr, value: Value) -> Implied {
        if !self.level_of(expr) {
            return Implied::Nothing;
        }
        let level = |path: &&[String]| self.is_path(expr, path).then(|| value.clone());
        Implied::AnyOf([self.levels.iter().map(level).collect()].into())
    }

    fn level_of(&self, expr: &Expr) -> bool {
        self.levels.iter().any(|path| self.is_path(expr, path))
    }

    fn is_path(&self, expr: &Expr, path: &[String]) -> bool {
        match (&expr.kind, path) {
            (ExprKind::Name(name), []) => name == self.root,
            (ExprKind::Member(of, member), [above @ .., last]) => member == last && self.is_path(of, above),
            _ => false,
        }
    }
}

fn is_defined_call(expr: &Expr) -> Option<&Expr> {
    match is_call(expr, "IS_DEFINED") {
        Some([of]) => Some(of),
        _ => None,
    }
}

/// The single string that a pattern matches; `None` if it has a wildcard. A bracket may open a set.
fn literal(pattern: &str, escape: Option<char>) -> Option<String> {
    let (mut text, mut rest) = (String::new(), pattern.chars());
    while let Some(character) = rest.next() {
        match character {
            escaped if Some(escaped) == escape => text.push(rest.next().unwrap_or(escaped)),
            '%' | '_' | '[' => return None,
            other => text.push(other),
        }
    }
    Some(text)
}

fn links(condition: &Expr, op: BinaryOp) -> Vec<&Expr> {
    let (mut links, mut open) = (Vec::new(), vec![condition]);
    while let Some(next) = open.pop() {
        match &next.kind {
            ExprKind::Binary(its, a, b) if *its == op => open.extend([&**b, &**a]),
            _ => links.push(next),
        }
    }
    links
}
