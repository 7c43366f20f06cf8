//! STARTSWITH: strings that begin so; when case is ignored, only strings.

use super::Slots;
use super::text::{is_exact, is_text};
use crate::access::indexes::Interval;
use crate::access::need::IndexPredicate;
use crate::bind::bound::Expr;
use orrery_value::Value;

pub(super) fn starts_with(args: &[Expr], wanted: bool, slots: &Slots<'_>) -> IndexPredicate {
    match args {
        [value, Expr::Constant(Value::String(prefix)), flag @ ..] if wanted && is_exact(flag) => {
            IndexPredicate::at(slots.found_at(value), Interval::starts_with(prefix.clone()))
        }
        _ => is_text(args, wanted, slots),
    }
}
