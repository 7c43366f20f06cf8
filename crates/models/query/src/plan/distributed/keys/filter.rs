//! What a condition that is true, or false, says of the levels.
//!
//! Each rule is one-sided: when the condition is as wanted, one of the terms holds. The other way need not
//! be so. An AND that is true makes both sides true, one that is false makes one of them false; a comparison
//! with undefined is neither, so it is never as wanted.

use super::constant::{Parameters, as_level, constant};
use super::implied::Implied;
use crate::parse::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::plan::distributed::tree::is_call;
use orrery_value::Value;

pub(super) struct Filter<'a> {
    /// The name of the document.
    pub(super) root: &'a str,
    pub(super) parameters: Parameters<'a>,
    /// The path of each level, as member names.
    pub(super) levels: &'a [&'a [String]],
}

impl Filter<'_> {
    /// What `condition` being exactly `wanted` says.
    pub(super) fn when(&self, condition: &Expr, wanted: bool) -> Implied {
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
            ExprKind::Unary(UnaryOp::Not, inner) => self.when(inner, !wanted),
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), ..) => self.chain(condition, *op, wanted),
            ExprKind::Binary(BinaryOp::Equal, a, b) => self.equality(a, b, wanted),
            ExprKind::Binary(BinaryOp::NotEqual, a, b) => self.equality(a, b, !wanted),
            ExprKind::In { value, list, negated } if *negated != wanted => self.one_of(value, list),
            ExprKind::Call { .. } => self.call(condition, wanted),
            _ => Implied::Nothing,
        }
    }

    /// The terms of an AND or OR, however it was nested. It may have thousands.
    fn chain(&self, condition: &Expr, op: BinaryOp, wanted: bool) -> Implied {
        let each = links(condition, op).into_iter().map(|link| self.when(link, wanted));
        if wanted == (op == BinaryOp::And) {
            each.fold(Implied::Nothing, Implied::and)
        } else {
            each.fold(Implied::never(), Implied::or)
        }
    }

    /// `a = b` is true (and `a != b` false) only of two defined, equal values; of its being false nothing
    /// is known, unless a side is always a boolean.
    fn equality(&self, a: &Expr, b: &Expr, equal: bool) -> Implied {
        let sides = match (constant(a, &self.parameters), constant(b, &self.parameters)) {
            (None, Some(value)) => Some((a, value)),
            (Some(value), None) => Some((b, value)),
            _ => None,
        };
        match sides {
            Some((side, Value::Bool(it))) if equal => self.when(side, it),
            Some((side, Value::Bool(it))) if is_defined_call(side).is_some() => self.when(side, !it),
            Some((side, value)) if equal => self.is(side, value),
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
        match (is_call(condition, "IS_NULL"), is_call(condition, "ARRAY_CONTAINS")) {
            (Some([of]), _) if wanted => self.is(of, Value::Null),
            (_, Some([list, of])) if wanted => match constant(list, &self.parameters) {
                Some(Value::Array(items)) => {
                    items.into_iter().map(|item| self.is(of, item)).fold(Implied::never(), Implied::or)
                }
                Some(_) => Implied::never(),
                None => Implied::Nothing,
            },
            _ => Implied::Nothing,
        }
    }

    /// The expression equals this value, so neither is undefined.
    fn is(&self, expr: &Expr, value: Value) -> Implied {
        if value.is_undefined() { Implied::never() } else { self.has(expr, as_level(value)) }
    }

    /// The expression has this value as a level, if it is one.
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
