//! Mathematical functions: powers, logarithms, signs, and the numbers that come from nowhere.
//!
//! Everything is a double, and a result that is no number (the root of -1, a power too large) is undefined.
//! Whole numbers stay whole where nothing can be lost by it. Angles are in `math_trig`, rounding in
//! `math_round`, 64-bit integers in `integers`.

use super::{Function, function};
use crate::datum::Datum;
use orrery_value::Number;

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

/// A function of one number; undefined for anything else.
pub(super) fn of_one<'a>(args: &[Datum<'a>], apply: fn(f64) -> f64) -> Datum<'a> {
    match args {
        [Datum::Number(x)] => apply(x.as_f64()).into(),
        _ => Datum::Undefined,
    }
}

/// A function of two numbers; undefined for anything else.
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

/// The logarithm to base e, or to the base given.
fn log<'a>(args: &[Datum<'a>]) -> Datum<'a> {
    match args {
        [_, _] => of_two(args, log_to_base),
        _ => of_one(args, f64::ln),
    }
}

/// `log10(2)` is `LOG10(2)`: a quotient of two rounded logarithms would be off in its last digit.
fn log_to_base(x: f64, base: f64) -> f64 {
    match base {
        10.0 => x.log10(),
        2.0 => x.log2(),
        _ => x.ln() / base.ln(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::{Context, find};

    fn eval(name: &str, args: &[Datum<'_>]) -> String {
        format!("{:?}", (find(name).unwrap().eval)(args, &Context::still()))
    }

    #[test]
    fn the_sign_of_an_integer_goes_without_its_digits() {
        assert_eq!(eval("ABS", &[(-9_007_199_254_740_993i64).into()]), "9007199254740993");
        assert_eq!(eval("ABS", &[i64::MIN.into()]), "9223372036854776000");
        assert_eq!(eval("FLOOR", &[i64::MAX.into()]), "9223372036854775807");
    }
}
