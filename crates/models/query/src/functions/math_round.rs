//! Mathematical functions that round.
//!
//! A half goes away from zero. An integer is its own floor, ceiling and whole part, with all its digits.

use super::math::{of_one, of_two};
use super::{Function, function};
use crate::datum::Datum;
use orrery_value::Number;

pub(super) const TABLE: &[Function] = &[
    function("CEILING", 1, 1, |args, _| to_whole(args, f64::ceil)),
    function("FLOOR", 1, 1, |args, _| to_whole(args, f64::floor)),
    function("NumberBin", 1, 2, |args, _| number_bin(args)),
    function("ROUND", 1, 2, |args, _| round(args)),
    function("TRUNC", 1, 1, |args, _| to_whole(args, f64::trunc)),
];

/// Ten to a higher power is no double.
const DIGITS_MAX: i64 = 308;
const EXACT_INTEGER_MAX: f64 = 9_007_199_254_740_992.0;

fn to_whole<'a>(args: &[Datum<'a>], apply: fn(f64) -> f64) -> Datum<'a> {
    match args {
        [Datum::Number(Number::Int(int))] => (*int).into(),
        _ => of_one(args, apply),
    }
}

/// To the nearest integer, or to so many digits right (left, if negative) of the point.
fn round<'a>(args: &[Datum<'a>]) -> Datum<'a> {
    match args {
        [x, digits] => match (x, digits.as_i64()) {
            (Datum::Number(Number::Int(int)), Some(0..)) => (*int).into(),
            (Datum::Number(x), Some(digits)) => round_to(x.as_f64(), digits).into(),
            _ => Datum::Undefined,
        },
        _ => to_whole(args, f64::round),
    }
}

fn round_to(x: f64, digits: i64) -> f64 {
    let scale = 10f64.powi(digits.clamp(-DIGITS_MAX, DIGITS_MAX).unsigned_abs() as i32);
    if digits < -DIGITS_MAX {
        return 0.0;
    }
    if digits < 0 {
        return (x / scale).round() * scale;
    }
    let scaled = x * scale;
    // Above this a double is whole: there are no digits left to round, and scaling back might change some.
    if scaled.abs() < EXACT_INTEGER_MAX { scaled.round() / scale } else { x }
}

/// Down to a multiple of the bin's size, which is 1 unless given; a negative size rounds up.
fn number_bin<'a>(args: &[Datum<'a>]) -> Datum<'a> {
    match args {
        [_, _] => of_two(args, |x, size| (x / size).floor() * size),
        _ => to_whole(args, f64::floor),
    }
}
