//! `=`, `!=`, `<`, `<=`, `>` and `>=` with a constant on one side.

use super::defined::is_defined;
use super::equal::equal;
use super::{Slots, spatial, when};
use crate::access::indexes::Interval;
use crate::access::interval::kind_of;
use crate::access::need::IndexPredicate;
use crate::bind::bound::Expr;
use crate::datum::Kind;
use crate::parse::BinaryOp;
use orrery_value::Value;
use std::ops::Bound;

pub(super) fn comparison(
    op: BinaryOp,
    a: &Expr,
    b: &Expr,
    wanted: bool,
    slots: &Slots<'_>,
) -> IndexPredicate {
    match if wanted { Some(op) } else { opposite(op) } {
        Some(op) => holds(op, a, b, slots),
        None => IndexPredicate::True,
    }
}

/// What holds when `a op b` is true; other operators than comparisons say nothing.
pub(super) fn holds(op: BinaryOp, a: &Expr, b: &Expr, slots: &Slots<'_>) -> IndexPredicate {
    match (a.as_constant(), b.as_constant()) {
        _ if opposite(op).is_none() => IndexPredicate::True,
        (None, Some(value)) => with_constant(op, a, value, slots),
        (Some(value), None) => with_constant(flipped(op), b, value, slots),
        _ => IndexPredicate::and([is_defined(a, slots), is_defined(b, slots)]),
    }
}

/// What holds when `expr op value` is true.
pub(super) fn with_constant(op: BinaryOp, expr: &Expr, value: &Value, slots: &Slots<'_>) -> IndexPredicate {
    if value.is_undefined() {
        return IndexPredicate::False;
    }
    if let Some(near) = spatial::distance(op, expr, value, slots) {
        return near;
    }
    match (op, value) {
        (BinaryOp::Equal, Value::Bool(wanted)) => when(expr, *wanted, slots),
        (BinaryOp::Equal, value) => {
            slots.found_at(expr).map_or(IndexPredicate::True, |path| equal(path, value))
        }
        (BinaryOp::NotEqual, _) => is_defined(expr, slots),
        // Arrays and objects are not less or more than anything.
        (_, value) if kind_of(value) > Kind::String => IndexPredicate::False,
        (op, value) => IndexPredicate::at(slots.found_at(expr), side_of(op, value)),
    }
}

/// The values of which `_ op value` is true; they are of its type.
pub(super) fn side_of(op: BinaryOp, value: &Value) -> Interval {
    let value = value.clone();
    match op {
        BinaryOp::Less => Interval::Between(Bound::Unbounded, Bound::Excluded(value)),
        BinaryOp::LessOrEqual => Interval::Between(Bound::Unbounded, Bound::Included(value)),
        BinaryOp::Greater => Interval::Between(Bound::Excluded(value), Bound::Unbounded),
        BinaryOp::GreaterOrEqual => Interval::Between(Bound::Included(value), Bound::Unbounded),
        _ => Interval::All,
    }
}

/// The comparison that is true where this one is false: two values that cannot be compared make both undefined.
fn opposite(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Equal => BinaryOp::NotEqual,
        BinaryOp::NotEqual => BinaryOp::Equal,
        BinaryOp::Less => BinaryOp::GreaterOrEqual,
        BinaryOp::LessOrEqual => BinaryOp::Greater,
        BinaryOp::Greater => BinaryOp::LessOrEqual,
        BinaryOp::GreaterOrEqual => BinaryOp::Less,
        _ => return None,
    })
}

/// The comparison with its sides exchanged.
fn flipped(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::LessOrEqual => BinaryOp::GreaterOrEqual,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::GreaterOrEqual => BinaryOp::LessOrEqual,
        same => same,
    }
}
