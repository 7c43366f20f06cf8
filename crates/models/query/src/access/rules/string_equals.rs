//! STRINGEQUALS: two strings, equal when it is true.

use super::Slots;
use super::compare::holds;
use super::text::{is_exact, is_text};
use crate::access::need::IndexPredicate;
use crate::bind::bound::Expr;
use crate::parse::BinaryOp;

pub(super) fn string_equals(args: &[Expr], wanted: bool, slots: &Slots<'_>) -> IndexPredicate {
    let [a, b, flag @ ..] = args else { return IndexPredicate::True };
    let equal =
        if wanted && is_exact(flag) { holds(BinaryOp::Equal, a, b, slots) } else { IndexPredicate::True };
    IndexPredicate::and([equal, is_text(args, wanted, slots), is_text(&args[1..], wanted, slots)])
}
