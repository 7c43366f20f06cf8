//! The aggregates over the elements of one array.
//!
//! Undefined elements are passed over. Sums, averages and medians are of numbers only; the least and the
//! greatest are of null, booleans, numbers and strings, in that order. Anything else makes them undefined.

use super::args::{defined, elements};
use super::{Function, function};
use crate::datum::{Datum, Kind};

pub(super) const TABLE: &[Function] = &[
    function("ARRAY_AVG", 1, 1, |args, _| defined(average(args))),
    function("ARRAY_MAX", 1, 1, |args, _| primitives(args).and_then(greatest).unwrap_or(Datum::Undefined)),
    function("ARRAY_MEDIAN", 1, 1, |args, _| defined(median(args))),
    function("ARRAY_MIN", 1, 1, |args, _| primitives(args).and_then(least).unwrap_or(Datum::Undefined)),
    function("ARRAY_SUM", 1, 1, |args, _| defined(numbers(args).map(|it| it.iter().sum::<f64>()))),
];

/// The average of none is undefined, as NaN is.
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
