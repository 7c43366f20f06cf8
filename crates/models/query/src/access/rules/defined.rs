//! IS_DEFINED and the checks of types.

use super::Slots;
use crate::access::indexes::Interval;
use crate::access::need::IndexPredicate;
use crate::bind::bound::Expr;
use crate::datum::Kind;
use orrery_value::Value;

/// The values of each check; they never answer undefined, and that one is false says nothing.
const CHECKS: &[(&str, Option<Kind>)] = &[
    ("IS_ARRAY", Some(Kind::Array)),
    ("IS_BOOL", Some(Kind::Bool)),
    ("IS_BOOLEAN", Some(Kind::Bool)),
    ("IS_DATETIME", Some(Kind::String)),
    ("IS_DEFINED", None),
    ("IS_FINITE_NUMBER", Some(Kind::Number)),
    ("IS_INTEGER", Some(Kind::Number)),
    ("IS_NULL", Some(Kind::Null)),
    ("IS_NUMBER", Some(Kind::Number)),
    ("IS_OBJECT", Some(Kind::Object)),
    ("IS_PRIMITIVE", None),
    ("IS_STRING", Some(Kind::String)),
];

pub(super) fn is_of_type(name: &str, args: &[Expr], wanted: bool, slots: &Slots<'_>) -> IndexPredicate {
    match (CHECKS.iter().find(|(known, _)| *known == name), args) {
        (Some((_, Some(kind))), [value]) if wanted => is_of(value, *kind, slots),
        (Some((_, None)), [value]) if wanted => is_defined(value, slots),
        _ => IndexPredicate::True,
    }
}

/// What holds when the expression has a value.
pub(super) fn is_defined(expr: &Expr, slots: &Slots<'_>) -> IndexPredicate {
    match expr {
        Expr::Constant(Value::Undefined) => IndexPredicate::False,
        other => IndexPredicate::at(slots.found_at(other), Interval::All),
    }
}

/// What holds when the expression has a value of this type.
pub(super) fn is_of(expr: &Expr, kind: Kind, slots: &Slots<'_>) -> IndexPredicate {
    IndexPredicate::at(slots.found_at(expr), Interval::of_kind(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_of_a_type_is_known() {
        let checks = crate::functions::all().map(|function| function.name).filter(|it| it.starts_with("IS_"));
        let mut checks: Vec<&str> = checks.collect();
        checks.sort_unstable();
        assert_eq!(checks, CHECKS.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    }
}
