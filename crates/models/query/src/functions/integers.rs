//! Arithmetic on 64-bit integers, with all their digits.
//!
//! Both arguments must be integral and fit 64 bits, else the answer is undefined. What overflows wraps
//! around; a shift counts by the low six bits of its amount, and to the right it keeps the sign.

use super::{Function, function};
use crate::datum::Datum;

pub(super) const TABLE: &[Function] = &[
    function("IntAdd", 2, 2, |args, _| of_two(args, i64::wrapping_add)),
    function("IntBitAnd", 2, 2, |args, _| of_two(args, |a, b| a & b)),
    function("IntBitLeftShift", 2, 2, |args, _| of_two(args, |a, b| a.wrapping_shl(b as u32))),
    function("IntBitNot", 1, 1, |args, _| bit_not(args)),
    function("IntBitOr", 2, 2, |args, _| of_two(args, |a, b| a | b)),
    function("IntBitRightShift", 2, 2, |args, _| of_two(args, |a, b| a.wrapping_shr(b as u32))),
    function("IntBitXor", 2, 2, |args, _| of_two(args, |a, b| a ^ b)),
    function("IntDiv", 2, 2, |args, _| of_divisor(args, i64::wrapping_div)),
    function("IntMod", 2, 2, |args, _| of_divisor(args, i64::wrapping_rem)),
    function("IntMul", 2, 2, |args, _| of_two(args, i64::wrapping_mul)),
    function("IntSub", 2, 2, |args, _| of_two(args, i64::wrapping_sub)),
];

fn of_two<'a>(args: &[Datum<'a>], apply: fn(i64, i64) -> i64) -> Datum<'a> {
    match args {
        [a, b] => a.as_i64().zip(b.as_i64()).map_or(Datum::Undefined, |(a, b)| apply(a, b).into()),
        _ => Datum::Undefined,
    }
}

/// As [`of_two`], and nothing is divided by zero.
fn of_divisor<'a>(args: &[Datum<'a>], apply: fn(i64, i64) -> i64) -> Datum<'a> {
    match args {
        [_, divisor] if divisor.as_i64() != Some(0) => of_two(args, apply),
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
    use orrery_value::Number;

    fn check(name: &str, args: &[i64], expected: &str) {
        let args: Vec<Datum<'_>> = args.iter().map(|arg| Datum::Number(Number::Int(*arg))).collect();
        let found = (find(name).unwrap().eval)(&args, &Context::still());
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
