//! Functions that are true or false of strings, and undefined of everything else.

use super::Slots;
use super::defined::is_of;
use crate::access::need::IndexPredicate;
use crate::bind::bound::Expr;
use crate::datum::Kind;
use orrery_value::Value;

/// The first argument is a string.
pub(super) fn is_text(args: &[Expr], _wanted: bool, slots: &Slots<'_>) -> IndexPredicate {
    match args.first() {
        None => IndexPredicate::True,
        Some(Expr::Constant(Value::String(_))) => IndexPredicate::True,
        Some(Expr::Constant(_)) => IndexPredicate::False,
        Some(value) => is_of(value, Kind::String, slots),
    }
}

/// Whether the flag that ignores case is left out or false.
pub(super) fn is_exact(flag: &[Expr]) -> bool {
    matches!(flag, [] | [Expr::Constant(Value::Bool(false))])
}
