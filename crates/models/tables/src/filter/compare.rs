//! How two values compare: numbers by value whatever their types, other values with those of their own type.

use super::ast::Comparison;
use crate::edm::ValueRef;
use crate::utf16;
use std::cmp::Ordering;

/// What is known of two values.
enum Relation {
    Ordered(Ordering),
    /// Numbers, and one of them is no number.
    Unordered,
    /// Of different types: no comparison holds.
    Incomparable,
}

pub(crate) fn holds(comparison: Comparison, left: ValueRef<'_>, right: ValueRef<'_>) -> bool {
    let order = match relate(left, right) {
        Relation::Ordered(order) => order,
        Relation::Unordered => return comparison == Comparison::NotEqual,
        Relation::Incomparable => return false,
    };
    match comparison {
        Comparison::Equal => order.is_eq(),
        Comparison::NotEqual => order.is_ne(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
    }
}

fn relate(left: ValueRef<'_>, right: ValueRef<'_>) -> Relation {
    use ValueRef::{Binary, Boolean, DateTime, Guid, String};
    match (left, right) {
        (String(left), String(right)) => Relation::Ordered(utf16::compare(left, right)),
        (Boolean(left), Boolean(right)) => Relation::Ordered(left.cmp(&right)),
        (DateTime(left), DateTime(right)) => Relation::Ordered(left.ticks().cmp(&right.ticks())),
        (Guid(left), Guid(right)) => Relation::Ordered(left.cmp(&right)),
        (Binary(left), Binary(right)) => Relation::Ordered(left.cmp(right)),
        _ => match (number(left), number(right)) {
            (Some(left), Some(right)) => {
                relate_numbers(left, right).map_or(Relation::Unordered, Relation::Ordered)
            }
            _ => Relation::Incomparable,
        },
    }
}

#[derive(Clone, Copy)]
enum Number {
    Integer(i64),
    Double(f64),
}

fn number(value: ValueRef<'_>) -> Option<Number> {
    match value {
        ValueRef::Int32(value) => Some(Number::Integer(i64::from(value))),
        ValueRef::Int64(value) => Some(Number::Integer(value)),
        ValueRef::Double(value) => Some(Number::Double(value)),
        _ => None,
    }
}

fn relate_numbers(left: Number, right: Number) -> Option<Ordering> {
    match (left, right) {
        (Number::Integer(left), Number::Integer(right)) => Some(left.cmp(&right)),
        (Number::Double(left), Number::Double(right)) => left.partial_cmp(&right),
        (Number::Integer(left), Number::Double(right)) => relate_mixed(left, right),
        (Number::Double(left), Number::Integer(right)) => relate_mixed(right, left).map(Ordering::reverse),
    }
}

/// Exact, also for integers that no double equals.
fn relate_mixed(integer: i64, double: f64) -> Option<Ordering> {
    const ABOVE_INTEGERS: f64 = 9_223_372_036_854_775_808.0;
    if double.is_nan() {
        None
    } else if double >= ABOVE_INTEGERS {
        Some(Ordering::Less)
    } else if double < -ABOVE_INTEGERS {
        Some(Ordering::Greater)
    } else {
        let whole = double.trunc();
        integer.cmp(&(whole as i64)).then_with(|| whole.total_cmp(&double)).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn integers_and_doubles_compare_by_value(integer: i64, whole in -(1i64 << 52)..1 << 52, eighths in 0u8..8) {
            // Such a double is exact.
            let double = whole as f64 / 8.0 + f64::from(eighths) / 64.0;
            let exact = (i128::from(integer) * 64).cmp(&(i128::from(whole) * 8 + i128::from(eighths)));
            let is_exact = (double * 64.0) as i128 == i128::from(whole) * 8 + i128::from(eighths);
            prop_assert!(!is_exact || relate_mixed(integer, double) == Some(exact));
        }

        #[test]
        fn integers_compare_with_their_own_doubles(integer in -(1i64 << 52)..1 << 52, by in -3i64..3) {
            prop_assert_eq!(relate_mixed(integer, (integer + by) as f64), Some(0.cmp(&by)));
        }
    }

    #[test]
    fn the_edges_of_integers_are_exact() {
        let check = |integer: i64, double: f64, expected| {
            assert_eq!(relate_mixed(integer, double), expected, "{integer} {double}");
        };
        check(i64::MAX, 9_223_372_036_854_775_808.0, Some(Ordering::Less));
        check(i64::MIN, -9_223_372_036_854_775_808.0, Some(Ordering::Equal));
        check(9_007_199_254_740_993, 9_007_199_254_740_992.0, Some(Ordering::Greater));
        check(0, -0.0, Some(Ordering::Equal));
        check(1, 1.5, Some(Ordering::Less));
        check(-1, -1.5, Some(Ordering::Greater));
        check(0, 1e-300, Some(Ordering::Less));
        check(7, f64::INFINITY, Some(Ordering::Less));
        check(7, f64::NEG_INFINITY, Some(Ordering::Greater));
        check(7, f64::NAN, None);
    }
}
