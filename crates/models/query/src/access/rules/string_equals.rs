//! STRINGEQUALS: two strings, equal when it is true.

use super::Slots;
use super::compare::holds;
use super::text::{is_exact, is_text};
use crate::access::need::Need;
use crate::bind::bound::Expr;
use crate::parse::BinaryOp;

pub(super) fn string_equals(args: &[Expr], wanted: bool, slots: &Slots<'_>) -> Need {
    let [a, b, flag @ ..] = args else { return Need::Anything };
    let equal = if wanted && is_exact(flag) { holds(BinaryOp::Equal, a, b, slots) } else { Need::Anything };
    Need::all([equal, is_text(args, wanted, slots), is_text(&args[1..], wanted, slots)])
}
