//! Mathematical functions: powers, logarithms, signs, constants and random numbers.
//!
//! All arithmetic is on doubles, and a result that is not a number (the root of -1, an overflow) is
//! undefined. Integers stay integers where that loses nothing.

use super::{Function, function};
use crate::datum::Datum;
use orrery_value::Number;
use std::f64::consts::PI;

pub(super) const TABLE: &[Function] = &[
    function("ABS", 1, 1, |args, _| abs(args)),
    function("EXP", 1, 1, |args, _| of_one(args, f64::exp)),
    function("LOG", 1, 2, |args, _| log(args)),
    function("LOG10", 1, 1, |args, _| of_one(args, f64::log10)),
    function("PI", 0, 0, |_, _| std::f64::consts::PI.into()),
    function("POWER", 2, 2, |args, _| of_two(args, f64::powf)),
    function("RAND", 0, 0, |_, context| context.random().into()),
    function("SIGN", 1, 1, |args, _| sign(args)),
    function("SQRT", 1, 1, |args, _| of_one(args, f64::sqrt)),
    function("SQUARE", 1, 1, |args, _| of_one(args, |x| x * x)),
];

/// A function of one number; undefined for any other argument.
pub(super) fn of_one<'a>(args: &[Datum<'a>], apply: fn(f64) -> f64) -> Datum<'a> {
    match args {
        [Datum::Number(x)] => apply(x.as_f64()).into(),
        _ => Datum::Undefined,
    }
}

/// A function of two numbers; undefined for any other argument.
pub(super) fn of_two<'a>(args: &[Datum<'a>], apply: fn(f64, f64) -> f64) -> Datum<'a> {
    match args {
        [Datum::Number(x), Datum::Number(y)] => apply(x.as_f64(), y.as_f64()).into(),
        _ => Datum::Undefined,
    }
}

fn abs<'a>(args: &[Datum<'a>]) -> Datum<'a> {
    if let [Datum::Number(Number::Int(int))] = args
        && let Some(positive) = int.checked_abs()
    {
        return positive.into();
    }
    of_one(args, f64::abs)
}

fn sign<'a>(args: &[Datum<'a>]) -> Datum<'a> {
    of_one(args, |x| if x == 0.0 { 0.0 } else { x.signum() })
}

/// The natural logarithm, or the logarithm to the given base.
fn log<'a>(args: &[Datum<'a>]) -> Datum<'a> {
    match args {
        [_, _] => of_two(args, log_to_base),
        _ => of_one(args, f64::ln),
    }
}

/// `log10(2)` equals `LOG10(2)`; a quotient of two rounded logarithms would differ in its last digit.
fn log_to_base(x: f64, base: f64) -> f64 {
    match base {
        10.0 => x.log10(),
        2.0 => x.log2(),
        _ => x.ln() / base.ln(),
    }
}

// Rounding functions.
//
// Halves round away from zero. The floor, ceiling and truncation of an integer are itself, with all digits.

pub(super) const ROUNDING: &[Function] = &[
    function("CEILING", 1, 1, |args, _| to_whole(args, f64::ceil)),
    function("FLOOR", 1, 1, |args, _| to_whole(args, f64::floor)),
    function("NumberBin", 1, 2, |args, _| number_bin(args)),
    function("ROUND", 1, 2, |args, _| round(args)),
    function("TRUNC", 1, 1, |args, _| to_whole(args, f64::trunc)),
];

/// Ten to any higher power is not a double.
const DIGITS_MAX: i64 = 308;
const EXACT_INTEGER_MAX: f64 = 9_007_199_254_740_992.0;

fn to_whole<'a>(args: &[Datum<'a>], apply: fn(f64) -> f64) -> Datum<'a> {
    match args {
        [Datum::Number(Number::Int(int))] => (*int).into(),
        _ => of_one(args, apply),
    }
}

/// Rounds to the nearest integer, or to a number of digits after the point (before it, if negative).
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
    // Above this limit a double is an integer: there are no digits to round, and scaling back might
    // change some.
    if scaled.abs() < EXACT_INTEGER_MAX { scaled.round() / scale } else { x }
}

/// Rounds down to a multiple of the bin size, which is 1 by default; a negative size rounds up.
fn number_bin<'a>(args: &[Datum<'a>]) -> Datum<'a> {
    match args {
        [_, _] => of_two(args, |x, size| (x / size).floor() * size),
        _ => to_whole(args, f64::floor),
    }
}

// Trigonometric functions, in radians.

pub(super) const TRIGONOMETRY: &[Function] = &[
    function("ACOS", 1, 1, |args, _| of_one(args, f64::acos)),
    function("ASIN", 1, 1, |args, _| of_one(args, f64::asin)),
    function("ATAN", 1, 1, |args, _| of_one(args, f64::atan)),
    function("ATN2", 2, 2, |args, _| of_two(args, f64::atan2)),
    function("COS", 1, 1, |args, _| of_one(args, f64::cos)),
    function("COT", 1, 1, |args, _| of_one(args, |x| 1.0 / x.tan())),
    function("DEGREES", 1, 1, |args, _| of_one(args, |x| x * 180.0 / PI)),
    // The order of the two operations decides the last digit.
    function("RADIANS", 1, 1, |args, _| of_one(args, |x| x * PI / 180.0)),
    function("SIN", 1, 1, |args, _| of_one(args, f64::sin)),
    function("TAN", 1, 1, |args, _| of_one(args, f64::tan)),
];

// Arithmetic on 64-bit integers, exact to the last digit.
//
// Both arguments must be integral and fit 64 bits, else the result is undefined. Overflow wraps around. A
// shift uses the low six bits of its amount; a right shift keeps the sign.

pub(super) const INTEGERS: &[Function] = &[
    function("IntAdd", 2, 2, |args, _| of_two_integers(args, i64::wrapping_add)),
    function("IntBitAnd", 2, 2, |args, _| of_two_integers(args, |a, b| a & b)),
    function("IntBitLeftShift", 2, 2, |args, _| of_two_integers(args, |a, b| a.wrapping_shl(b as u32))),
    function("IntBitNot", 1, 1, |args, _| bit_not(args)),
    function("IntBitOr", 2, 2, |args, _| of_two_integers(args, |a, b| a | b)),
    function("IntBitRightShift", 2, 2, |args, _| of_two_integers(args, |a, b| a.wrapping_shr(b as u32))),
    function("IntBitXor", 2, 2, |args, _| of_two_integers(args, |a, b| a ^ b)),
    function("IntDiv", 2, 2, |args, _| of_divisor(args, i64::wrapping_div)),
    function("IntMod", 2, 2, |args, _| of_divisor(args, i64::wrapping_rem)),
    function("IntMul", 2, 2, |args, _| of_two_integers(args, i64::wrapping_mul)),
    function("IntSub", 2, 2, |args, _| of_two_integers(args, i64::wrapping_sub)),
];

fn of_two_integers<'a>(args: &[Datum<'a>], apply: fn(i64, i64) -> i64) -> Datum<'a> {
    match args {
        [a, b] => a.as_i64().zip(b.as_i64()).map_or(Datum::Undefined, |(a, b)| apply(a, b).into()),
        _ => Datum::Undefined,
    }
}

/// Variant of [`of_two_integers`] that makes division by zero undefined.
fn of_divisor<'a>(args: &[Datum<'a>], apply: fn(i64, i64) -> i64) -> Datum<'a> {
    match args {
        [_, divisor] if divisor.as_i64() != Some(0) => of_two_integers(args, apply),
        _ => Datum::Undefined,
    }
}

fn bit_not<'a>(args: &[Datum<'a>]) -> Datum<'a> {
    args.first().and_then(Datum::as_i64).map_or(Datum::Undefined, |a| (!a).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::{Context, find};

    fn eval(name: &str, args: &[Datum<'_>]) -> String {
        format!("{:?}", (find(name).unwrap().eval)(args, &Context::frozen()))
    }

    #[test]
    fn the_sign_of_an_integer_does_not_depend_on_its_digits() {
        assert_eq!(eval("ABS", &[(-9_007_199_254_740_993i64).into()]), "9007199254740993");
        assert_eq!(eval("ABS", &[i64::MIN.into()]), "9223372036854776000");
        assert_eq!(eval("FLOOR", &[i64::MAX.into()]), "9223372036854775807");
    }
}

#[cfg(test)]
mod integers_tests {
    use super::*;
    use crate::functions::{Context, find};
    use orrery_value::Number;

    fn check(name: &str, args: &[i64], expected: &str) {
        let args: Vec<Datum<'_>> = args.iter().map(|arg| Datum::Number(Number::Int(*arg))).collect();
        let found = (find(name).unwrap().eval)(&args, &Context::frozen());
        assert_eq!(format!("{found:?}"), expected, "{name}");
    }

    #[test]
    fn digits_that_a_double_would_lose_are_kept() {
        check("IntAdd", &[9_007_199_254_740_992, 1], "9007199254740993");
        check("IntSub", &[i64::MAX, 1], "9223372036854775806");
        check("IntMul", &[3_037_000_499, 3_037_000_499], "9223372030926249001");
        check("IntBitNot", &[i64::MAX], "-9223372036854775808");
        check("IntBitOr", &[i64::MAX - 1, 1], "9223372036854775807");
    }

    #[test]
    fn overflow_wraps_around() {
        check("IntAdd", &[i64::MAX, 1], "-9223372036854775808");
        check("IntSub", &[i64::MIN, 1], "9223372036854775807");
        check("IntMul", &[i64::MAX, i64::MAX], "1");
        check("IntDiv", &[i64::MIN, -1], "-9223372036854775808");
        check("IntMod", &[i64::MIN, -1], "0");
        check("IntBitLeftShift", &[1, 63], "-9223372036854775808");
        check("IntBitLeftShift", &[1, i64::MIN], "1");
    }
}
