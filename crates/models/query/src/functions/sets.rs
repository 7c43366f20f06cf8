//! Arrays as sets: two elements that are deeply equal are one.
//!
//! Results keep the order of the arrays: a union that of the first and then of the second, a difference that
//! of the first, an intersection that of the second.

use super::args::{ARRAY_ELEMENTS_MAX, defined, elements};
use super::{Function, function};
use crate::datum::Datum;
use orrery_value::Value;
use std::collections::BTreeSet;

pub(super) const TABLE: &[Function] = &[
    function("SetDifference", 2, 2, |args, _| defined(difference(args))),
    function("SET_DIFFERENCE", 2, 2, |args, _| defined(difference(args))),
    function("SetEqual", 2, 2, |args, _| defined(equal(args))),
    function("SET_EQUAL", 2, 2, |args, _| defined(equal(args))),
    function("SetIntersect", 2, 2, |args, _| defined(intersect(args))),
    function("SET_INTERSECT", 2, 2, |args, _| defined(intersect(args))),
    function("SetUnion", 2, 2, |args, _| defined(union(args))),
    function("SET_UNION", 2, 2, |args, _| defined(union(args))),
];

fn difference(args: &[Datum<'_>]) -> Option<Vec<Value>> {
    let (first, second) = (list(args, 0)?, set(args, 1)?);
    Some(distinct(first.into_iter().filter(|value| !second.contains(value))))
}

fn equal(args: &[Datum<'_>]) -> Option<bool> {
    Some(set(args, 0)? == set(args, 1)?)
}

fn intersect(args: &[Datum<'_>]) -> Option<Vec<Value>> {
    let (first, second) = (set(args, 0)?, list(args, 1)?);
    Some(distinct(second.into_iter().filter(|value| first.contains(value))))
}

fn union(args: &[Datum<'_>]) -> Option<Vec<Value>> {
    let all = distinct(list(args, 0)?.into_iter().chain(list(args, 1)?));
    (all.len() <= ARRAY_ELEMENTS_MAX).then_some(all)
}

/// The values without those that came before.
fn distinct(values: impl Iterator<Item = Value>) -> Vec<Value> {
    let mut seen = BTreeSet::new();
    values.filter(|value| seen.insert(value.clone())).collect()
}

fn list(args: &[Datum<'_>], index: usize) -> Option<Vec<Value>> {
    Some(elements(args, index)?.into_iter().map(Datum::into_value).collect())
}

fn set(args: &[Datum<'_>], index: usize) -> Option<BTreeSet<Value>> {
    Some(list(args, index)?.into_iter().collect())
}
