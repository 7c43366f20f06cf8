//! ARRAY_CONTAINS and its siblings: a known element of a document's array, or a document's value in a
//! constant array.

use super::SlotPaths;
use super::compare::is_of;
use super::compare::{equal, leaves};
use crate::access::indexes::{Interval, Path, Step};
use crate::access::predicate::IndexPredicate;
use crate::bind::bound::Expr;
use crate::datum::Kind;
use orrery_value::Value;

/// How an element is compared with the wanted value.
#[derive(Clone, Copy, PartialEq)]
enum Match {
    Whole,
    /// An object may have more members. An equal value matches too.
    Part,
}

pub(super) fn one(args: &[Expr], wanted: bool, slots: &SlotPaths<'_>) -> IndexPredicate {
    let [list, value, flag @ ..] = args else { return IndexPredicate::True };
    let how = match flag {
        [] | [Expr::Constant(Value::Bool(false) | Value::Undefined)] => Match::Whole,
        _ => Match::Part,
    };
    match (list, value) {
        (_, Expr::Constant(Value::Undefined)) => IndexPredicate::False,
        (Expr::Constant(Value::Array(items)), value) if wanted => is_in(value, items, how, slots),
        (Expr::Constant(Value::Array(_)), _) => IndexPredicate::True,
        (Expr::Constant(_), _) => IndexPredicate::False,
        (list, Expr::Constant(value)) if wanted => has(list, value, how, slots),
        (list, _) => is_of(list, Kind::Array, slots),
    }
}

pub(super) fn all(args: &[Expr], wanted: bool, slots: &SlotPaths<'_>) -> IndexPredicate {
    each(args, wanted, slots, IndexPredicate::and)
}

pub(super) fn any(args: &[Expr], wanted: bool, slots: &SlotPaths<'_>) -> IndexPredicate {
    each(args, wanted, slots, IndexPredicate::or)
}

/// The values after the list, combined.
fn each(
    args: &[Expr],
    wanted: bool,
    slots: &SlotPaths<'_>,
    join: fn(Vec<IndexPredicate>) -> IndexPredicate,
) -> IndexPredicate {
    let [list, values @ ..] = args else { return IndexPredicate::True };
    if !wanted {
        return is_of(list, Kind::Array, slots);
    }
    let need = |value: &Expr| match value {
        Expr::Constant(Value::Undefined) => IndexPredicate::False,
        Expr::Constant(value) => has(list, value, Match::Whole, slots),
        _ => IndexPredicate::True,
    };
    join(values.iter().map(need).collect()).or_else(|| is_of(list, Kind::Array, slots))
}

/// An array of the document contains this element.
fn has(list: &Expr, value: &Value, how: Match, slots: &SlotPaths<'_>) -> IndexPredicate {
    let Some(path) = slots.path_containing(list) else { return IndexPredicate::True };
    let path: Path = path.iter().cloned().chain([Step::Each]).collect();
    if how == Match::Part { has_part(path, value) } else { equal(path, value) }
}

fn has_part(path: Path, value: &Value) -> IndexPredicate {
    if !matches!(value, Value::Object(_)) {
        return equal(path, value);
    }
    let members = leaves(&path, value);
    IndexPredicate::and(members).or_else(|| IndexPredicate::at(Some(path), Interval::of_kind(Kind::Object)))
}

/// A value of the document is one of these. For a partial match, an object may have fewer members.
fn is_in(value: &Expr, items: &[Value], how: Match, slots: &SlotPaths<'_>) -> IndexPredicate {
    let Some(path) = slots.path_containing(value) else { return IndexPredicate::True };
    let is_item = |item: &Value| match item {
        Value::Object(_) if how == Match::Part => {
            IndexPredicate::at(Some(path.clone()), Interval::of_kind(Kind::Object))
        }
        item => equal(path.clone(), item),
    };
    IndexPredicate::or(items.iter().map(is_item))
        .or_else(|| IndexPredicate::at(Some(path.clone()), Interval::All))
}
