//! Mathematical functions of angles, which are in radians.

use super::math::{of_one, of_two};
use super::{Function, function};
use std::f64::consts::PI;

pub(super) const TABLE: &[Function] = &[
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
