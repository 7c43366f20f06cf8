//! IN: a chain of `=`, one of which is true. Out of it, the value is still one.

use super::Slots;
use super::compare::{holds, with_constant};
use super::defined::is_defined;
use crate::access::need::IndexPredicate;
use crate::bind::bound::Expr;
use crate::parse::BinaryOp;
use orrery_value::Value;

pub(super) fn in_list(value: &Expr, list: &[Expr], is_in: bool, slots: &Slots<'_>) -> IndexPredicate {
    let equals = list.iter().map(|item| holds(BinaryOp::Equal, value, item, slots));
    one_of(value, equals, is_in, slots)
}

pub(super) fn in_set(value: &Expr, set: &[Value], is_in: bool, slots: &Slots<'_>) -> IndexPredicate {
    let equals = set.iter().map(|item| with_constant(BinaryOp::Equal, value, item, slots));
    one_of(value, equals, is_in, slots)
}

fn one_of(
    value: &Expr,
    equals: impl Iterator<Item = IndexPredicate>,
    is_in: bool,
    slots: &Slots<'_>,
) -> IndexPredicate {
    if is_in {
        IndexPredicate::or(equals).or_else(|| is_defined(value, slots))
    } else {
        is_defined(value, slots)
    }
}
