//! Arrays: membership, length, and arrays built from other arrays and from objects.

use super::args::{ARRAY_ELEMENTS_MAX, all, any, defined, elements, flag, integer, text_or};
use super::{Function, function};
use crate::datum::{Datum, Kind};
use orrery_value::Value;
use std::collections::BTreeSet;

pub(super) const TABLE: &[Function] = &[
    function("ARRAY_CONCAT", 2, usize::MAX, |args, _| defined(concat(args))),
    function("ARRAY_CONTAINS", 2, 3, |args, _| defined(contains(args))),
    function("ARRAY_CONTAINS_ALL", 2, usize::MAX, |args, _| defined(all(contained(args)))),
    function("ARRAY_CONTAINS_ANY", 2, usize::MAX, |args, _| defined(any(contained(args)))),
    function("ARRAY_LENGTH", 1, 1, |args, _| defined(elements(args, 0).map(|it| it.len() as i64))),
    function("ARRAY_SLICE", 2, 3, |args, _| defined(slice(args))),
    function("_TRY_ARRAY_CONTAINS", 2, 3, |args, _| defined(contains(args))),
    function("CHOOSE", 2, usize::MAX, |args, _| choose(args)),
    function("ObjectToArray", 1, 3, |args, _| defined(object_to_array(args))),
    function("OBJECT_TO_ARRAY", 1, 3, |args, _| defined(object_to_array(args))),
];

fn concat(args: &[Datum<'_>]) -> Option<Vec<Value>> {
    let mut joined = Vec::new();
    for arg in args {
        joined.extend(arg.elements()?.into_iter().map(Datum::into_value));
        if joined.len() > ARRAY_ELEMENTS_MAX {
            return None;
        }
    }
    Some(joined)
}

/// An undefined third argument counts as missing.
fn contains(args: &[Datum<'_>]) -> Option<bool> {
    let partial = match args.get(2) {
        Some(Datum::Undefined) => false,
        _ => flag(args, 2)?,
    };
    let wanted = args.get(1).filter(|wanted| !wanted.is_undefined())?;
    let is_wanted =
        |element: &Datum<'_>| if partial { has_members_of(element, wanted) } else { element.same(wanted) };
    Some(elements(args, 0)?.iter().any(is_wanted))
}

/// Whether the element has every member of `wanted`; a `wanted` that is not an object must equal the element.
fn has_members_of(element: &Datum<'_>, wanted: &Datum<'_>) -> bool {
    match wanted.members() {
        Some(members) if element.kind() == Kind::Object => {
            members.iter().all(|(name, value)| element.member(name).same(value))
        }
        _ => element.same(wanted),
    }
}

/// Whether each value after the array is an element of it.
fn contained<'x>(args: &'x [Datum<'_>]) -> impl Iterator<Item = Option<bool>> + 'x {
    let elements = elements(args, 0);
    args.iter().skip(1).map(move |wanted| {
        let elements = elements.as_ref().filter(|_| !wanted.is_undefined())?;
        Some(elements.iter().any(|element| element.same(wanted)))
    })
}

/// A negative start counts from the end, at most to the beginning.
fn slice(args: &[Datum<'_>]) -> Option<Vec<Value>> {
    let elements = elements(args, 0)?;
    let start = integer(args, 1)?;
    let count = if args.len() > 2 { integer(args, 2)? } else { i64::MAX };
    let start = if start < 0 { start.saturating_add(elements.len() as i64).max(0) } else { start };
    let skip = usize::try_from(start).unwrap_or(usize::MAX);
    let take = usize::try_from(count.max(0)).unwrap_or(usize::MAX);
    Some(elements.into_iter().skip(skip).take(take).map(Datum::into_value).collect())
}

/// The first alternative is number 1.
fn choose<'a>(args: &[Datum<'a>]) -> Datum<'a> {
    let index = integer(args, 0).filter(|index| *index > 0).and_then(|index| usize::try_from(index).ok());
    index.and_then(|index| args.get(index)).cloned().unwrap_or(Datum::Undefined)
}

fn object_to_array(args: &[Datum<'_>]) -> Option<Vec<Value>> {
    let (key, value) = (text_or(args, 1, "k")?, text_or(args, 2, "v")?);
    let members = args.first()?.members()?;
    let pair = |(name, member): (String, Datum<'_>)| {
        Value::Object(vec![(key.to_owned(), Value::String(name)), (value.to_owned(), member.into_value())])
    };
    Some(members.into_iter().map(pair).collect())
}

// Aggregates over the elements of one array.
//
// Undefined elements are skipped. Sums, averages and medians accept only numbers; minima and maxima accept
// null, booleans, numbers and strings, in that order. Any other element makes the result undefined.

pub(super) const MATH: &[Function] = &[
    function("ARRAY_AVG", 1, 1, |args, _| defined(average(args))),
    function("ARRAY_MAX", 1, 1, |args, _| primitives(args).and_then(greatest).unwrap_or(Datum::Undefined)),
    function("ARRAY_MEDIAN", 1, 1, |args, _| defined(median(args))),
    function("ARRAY_MIN", 1, 1, |args, _| primitives(args).and_then(least).unwrap_or(Datum::Undefined)),
    function("ARRAY_SUM", 1, 1, |args, _| defined(numbers(args).map(|it| it.iter().sum::<f64>()))),
];

/// The average of no elements is NaN and therefore undefined.
fn average(args: &[Datum<'_>]) -> Option<f64> {
    let numbers = numbers(args)?;
    Some(numbers.iter().sum::<f64>() / numbers.len() as f64)
}

fn median(args: &[Datum<'_>]) -> Option<f64> {
    let mut numbers = numbers(args)?;
    numbers.sort_by(f64::total_cmp);
    let upper = *numbers.get(numbers.len() / 2)?;
    if numbers.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *numbers.get(numbers.len() / 2 - 1)?;
    Some((lower + upper) / 2.0)
}

fn least(values: Vec<Datum<'_>>) -> Option<Datum<'_>> {
    values.into_iter().min_by(Datum::cmp_total)
}

fn greatest(values: Vec<Datum<'_>>) -> Option<Datum<'_>> {
    values.into_iter().max_by(Datum::cmp_total)
}

fn numbers(args: &[Datum<'_>]) -> Option<Vec<f64>> {
    let elements = elements(args, 0)?;
    elements.iter().filter(|element| !element.is_undefined()).map(Datum::as_f64).collect()
}

fn primitives<'a>(args: &[Datum<'a>]) -> Option<Vec<Datum<'a>>> {
    let mut elements = elements(args, 0)?;
    elements.retain(|element| !element.is_undefined());
    elements.iter().all(|element| element.kind() < Kind::Array).then_some(elements)
}

// Arrays as sets: deeply equal elements are the same element.
//
// Results keep the order of their operands: a union that of the first, then the second; a difference that of
// the first; an intersection that of the second.

pub(super) const SETS: &[Function] = &[
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

/// The values without duplicates, in the order of their first occurrence.
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
