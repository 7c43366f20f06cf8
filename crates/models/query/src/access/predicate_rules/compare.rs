//! `=`, `!=`, `<`, `<=`, `>` and `>=` with a constant on one side.

use super::{SlotPaths, spatial, when};
use crate::access::indexes::{Interval, Path, Step};
use crate::access::interval::kind_of;
use crate::access::predicate::IndexPredicate;
use crate::bind::bound::Expr;
use crate::datum::Kind;
use crate::limits;
use crate::parse::BinaryOp;
use orrery_value::Value;
use std::ops::Bound;

pub(super) fn comparison(
    op: BinaryOp,
    a: &Expr,
    b: &Expr,
    wanted: bool,
    slots: &SlotPaths<'_>,
) -> IndexPredicate {
    match if wanted { Some(op) } else { opposite(op) } {
        Some(op) => holds(op, a, b, slots),
        None => IndexPredicate::True,
    }
}

/// The condition for `a op b` to be true; operators other than comparisons imply nothing.
pub(super) fn holds(op: BinaryOp, a: &Expr, b: &Expr, slots: &SlotPaths<'_>) -> IndexPredicate {
    match (a.as_constant(), b.as_constant()) {
        _ if opposite(op).is_none() => IndexPredicate::True,
        (None, Some(value)) => with_constant(op, a, value, slots),
        (Some(value), None) => with_constant(flipped(op), b, value, slots),
        _ => IndexPredicate::and([is_defined(a, slots), is_defined(b, slots)]),
    }
}

/// The condition for `expr op value` to be true.
pub(super) fn with_constant(
    op: BinaryOp,
    expr: &Expr,
    value: &Value,
    slots: &SlotPaths<'_>,
) -> IndexPredicate {
    if value.is_undefined() {
        return IndexPredicate::False;
    }
    if let Some(near) = spatial::distance(op, expr, value, slots) {
        return near;
    }
    match (op, value) {
        (BinaryOp::Equal, Value::Bool(wanted)) => when(expr, *wanted, slots),
        (BinaryOp::Equal, value) => {
            slots.path_containing(expr).map_or(IndexPredicate::True, |path| equal(path, value))
        }
        (BinaryOp::NotEqual, _) => is_defined(expr, slots),
        // Arrays and objects are not ordered.
        (_, value) if kind_of(value) > Kind::String => IndexPredicate::False,
        (op, value) => IndexPredicate::at(slots.path_containing(expr), side_of(op, value)),
    }
}

/// The values for which `_ op value` is true; they have its type.
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

/// The negated comparison: for values that cannot be compared, both are undefined.
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

// Deep equality with a constant.
//
// For an array or object an index stores only that it is there. But an equal value also has the constant's
// members and elements, and those are indexed: where `/address` is `{"city": "Oslo"}`, `/address/city` is
// `"Oslo"`.

pub(super) fn equal(path: Path, value: &Value) -> IndexPredicate {
    let inside = match value {
        Value::Array(_) | Value::Object(_) => leaves(&path, value),
        _ => Vec::new(),
    };
    IndexPredicate::and(
        [IndexPredicate::at(Some(path), Interval::equal(value.clone()))].into_iter().chain(inside),
    )
}

/// The simple values inside a constant at the path, or the first of them.
pub(super) fn leaves(path: &Path, value: &Value) -> Vec<IndexPredicate> {
    let mut needs = Vec::new();
    collect_leaves(path, value, &mut needs);
    needs
}

/// Recurses as deep as the constant, which is bounded.
fn collect_leaves(path: &Path, value: &Value, needs: &mut Vec<IndexPredicate>) {
    let inside = |step: Step| path.iter().cloned().chain([step]).collect::<Path>();
    if needs.len() >= limits::PREDICATE_LEAVES_MAX {
        return;
    }
    match value {
        Value::Array(items) => {
            let path = inside(Step::Each);
            items
                .iter()
                .take(limits::PREDICATE_LEAVES_MAX)
                .for_each(|item| collect_leaves(&path, item, needs));
        }
        Value::Object(members) => {
            for (name, value) in members.iter().take(limits::PREDICATE_LEAVES_MAX) {
                collect_leaves(&inside(Step::Member(name.clone())), value, needs);
            }
        }
        Value::Undefined => {}
        leaf => needs.push(IndexPredicate::at(Some(path.clone()), Interval::equal(leaf.clone()))),
    }
}

// BETWEEN: `>=` and `<=`.

pub(super) fn between(
    [value, low, high]: [&Expr; 3],
    is_between: bool,
    slots: &SlotPaths<'_>,
) -> IndexPredicate {
    if !is_between {
        return IndexPredicate::or([
            holds(BinaryOp::Less, value, low, slots),
            holds(BinaryOp::Greater, value, high, slots),
        ]);
    }
    both(value, low, high, slots).unwrap_or_else(|| {
        IndexPredicate::and([
            holds(BinaryOp::GreaterOrEqual, value, low, slots),
            holds(BinaryOp::LessOrEqual, value, high, slots),
        ])
    })
}

/// One term for both ends, since a single value lies between them, even inside an array.
fn both(value: &Expr, low: &Expr, high: &Expr, slots: &SlotPaths<'_>) -> Option<IndexPredicate> {
    let path = slots.path_containing(value)?;
    let comparable = |end: &&Value| (Kind::Null..=Kind::String).contains(&kind_of(end));
    let low = side_of(BinaryOp::GreaterOrEqual, low.as_constant().filter(comparable)?);
    let high = side_of(BinaryOp::LessOrEqual, high.as_constant().filter(comparable)?);
    Some(low.and(high).map_or(IndexPredicate::False, |interval| IndexPredicate::at(Some(path), interval)))
}

// IN: a chain of `=`, one of which is true. If it is false, the operand still has a value.

pub(super) fn in_list(value: &Expr, list: &[Expr], is_in: bool, slots: &SlotPaths<'_>) -> IndexPredicate {
    let equals = list.iter().map(|item| holds(BinaryOp::Equal, value, item, slots));
    one_of(value, equals, is_in, slots)
}

pub(super) fn in_set(value: &Expr, set: &[Value], is_in: bool, slots: &SlotPaths<'_>) -> IndexPredicate {
    let equals = set.iter().map(|item| with_constant(BinaryOp::Equal, value, item, slots));
    one_of(value, equals, is_in, slots)
}

fn one_of(
    value: &Expr,
    equals: impl Iterator<Item = IndexPredicate>,
    is_in: bool,
    slots: &SlotPaths<'_>,
) -> IndexPredicate {
    if is_in {
        IndexPredicate::or(equals).or_else(|| is_defined(value, slots))
    } else {
        is_defined(value, slots)
    }
}

// IS_DEFINED and the type checks.

/// The values that satisfy each check. Checks are never undefined, and a false one implies nothing.
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

pub(super) fn is_of_type(name: &str, args: &[Expr], wanted: bool, slots: &SlotPaths<'_>) -> IndexPredicate {
    match (CHECKS.iter().find(|(known, _)| *known == name), args) {
        (Some((_, Some(kind))), [value]) if wanted => is_of(value, *kind, slots),
        (Some((_, None)), [value]) if wanted => is_defined(value, slots),
        _ => IndexPredicate::True,
    }
}

/// The condition for the expression to have a value.
pub(super) fn is_defined(expr: &Expr, slots: &SlotPaths<'_>) -> IndexPredicate {
    match expr {
        Expr::Constant(Value::Undefined) => IndexPredicate::False,
        other => IndexPredicate::at(slots.path_containing(other), Interval::All),
    }
}

/// The condition for the expression to have a value of this type.
pub(super) fn is_of(expr: &Expr, kind: Kind, slots: &SlotPaths<'_>) -> IndexPredicate {
    IndexPredicate::at(slots.path_containing(expr), Interval::of_kind(kind))
}

#[cfg(test)]
mod equal_tests {
    use super::*;

    #[test]
    fn only_the_first_nested_values_become_terms() {
        let path = Path::from([Step::Member("a".to_owned())]);
        let items = |count: i64| Value::Array((0..count).map(Value::from).collect());
        assert_eq!(leaves(&path, &items(3)).len(), 3);
        assert_eq!(leaves(&path, &items(100)).len(), limits::PREDICATE_LEAVES_MAX);
        let nested = Value::Array(vec![items(10), items(10), items(10)]);
        assert_eq!(leaves(&path, &nested).len(), limits::PREDICATE_LEAVES_MAX);
    }
}

#[cfg(test)]
mod defined_tests {
    use super::*;

    #[test]
    fn every_check_of_a_type_is_known() {
        let checks = crate::functions::all().map(|function| function.name).filter(|it| it.starts_with("IS_"));
        let mut checks: Vec<&str> = checks.collect();
        checks.sort_unstable();
        assert_eq!(checks, CHECKS.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    }
}
