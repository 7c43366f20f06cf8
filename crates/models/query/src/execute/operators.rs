//! The operators on two values. What an operator has no answer to is undefined.

use crate::datum::{Datum, Kind};
use crate::parse::BinaryOp;
use orrery_core::limits;
use orrery_value::Number;
use std::cmp::Ordering;

pub(crate) fn binary<'d>(op: BinaryOp, a: &Datum<'d>, b: &Datum<'d>) -> Datum<'d> {
    match op {
        BinaryOp::And => and(a.clone(), b.clone()),
        BinaryOp::Or => or(a, b),
        BinaryOp::Coalesce => {
            if a.is_undefined() {
                b.clone()
            } else {
                a.clone()
            }
        }
        BinaryOp::Equal | BinaryOp::NotEqual => equal(a, b, op == BinaryOp::Equal),
        BinaryOp::Less | BinaryOp::LessOrEqual | BinaryOp::Greater | BinaryOp::GreaterOrEqual => {
            compare(op, a, b)
        }
        BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::BitAnd
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight
        | BinaryOp::ShiftRightZero => bitwise(op, a, b),
        BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Modulo => {
            arithmetic(op, a, b)
        }
        BinaryOp::Concat => match (a.as_str(), b.as_str()) {
            (Some(a), Some(b)) if a.len() + b.len() <= limits::PAGE_BYTES_MAX => Datum::from([a, b].concat()),
            _ => Datum::Undefined,
        },
    }
}

pub(crate) fn and<'d>(a: Datum<'d>, b: Datum<'d>) -> Datum<'d> {
    match (a.as_bool(), b.as_bool()) {
        (Some(false), _) | (_, Some(false)) => Datum::Bool(false),
        (Some(true), Some(true)) => Datum::Bool(true),
        _ => Datum::Undefined,
    }
}

fn or<'d>(a: &Datum<'d>, b: &Datum<'d>) -> Datum<'d> {
    match (a.as_bool(), b.as_bool()) {
        (Some(true), _) | (_, Some(true)) => Datum::Bool(true),
        (Some(false), Some(false)) => Datum::Bool(false),
        _ => Datum::Undefined,
    }
}

fn equal<'d>(a: &Datum<'d>, b: &Datum<'d>, wanted: bool) -> Datum<'d> {
    if a.is_undefined() || b.is_undefined() {
        return Datum::Undefined;
    }
    Datum::Bool(a.same(b) == wanted)
}

/// `<` and its like know only two values of one type, and no arrays or objects.
pub(crate) fn compare<'d>(op: BinaryOp, a: &Datum<'d>, b: &Datum<'d>) -> Datum<'d> {
    let kind = a.kind();
    if kind != b.kind() || !(Kind::Null..=Kind::String).contains(&kind) {
        return Datum::Undefined;
    }
    let order = a.cmp_total(b);
    Datum::Bool(match op {
        BinaryOp::Less => order == Ordering::Less,
        BinaryOp::LessOrEqual => order != Ordering::Greater,
        BinaryOp::Greater => order == Ordering::Greater,
        _ => order != Ordering::Less,
    })
}

fn arithmetic<'d>(op: BinaryOp, a: &Datum<'d>, b: &Datum<'d>) -> Datum<'d> {
    let (Some(a), Some(b)) = (a.as_f64(), b.as_f64()) else { return Datum::Undefined };
    Datum::from(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Subtract => a - b,
        BinaryOp::Multiply => a * b,
        BinaryOp::Divide => a / b,
        _ => a % b,
    })
}

/// A literal keeps its digits; anything computed is a double.
pub(crate) fn negate<'d>(value: &Datum<'d>) -> Datum<'d> {
    match value.as_number() {
        Some(Number::Int(it)) if it != 0 => {
            it.checked_neg().map_or_else(|| Datum::from(-(it as f64)), Datum::from)
        }
        Some(number) => Datum::from(-number.as_f64()),
        None => Datum::Undefined,
    }
}

fn bitwise<'d>(op: BinaryOp, a: &Datum<'d>, b: &Datum<'d>) -> Datum<'d> {
    let (Some(a), Some(b)) = (bits(a), bits(b)) else { return Datum::Undefined };
    let shift = (b & 31) as u32;
    Datum::from(match op {
        BinaryOp::BitOr => i64::from(a | b),
        BinaryOp::BitXor => i64::from(a ^ b),
        BinaryOp::BitAnd => i64::from(a & b),
        BinaryOp::ShiftLeft => i64::from(a.wrapping_shl(shift)),
        BinaryOp::ShiftRight => i64::from(a >> shift),
        _ => i64::from(a as u32 >> shift),
    })
}

/// The low 32 bits of an integral number, however large.
pub(crate) fn bits(value: &Datum<'_>) -> Option<i32> {
    const BITS: f64 = 4_294_967_296.0;
    let number = value.as_f64()?;
    (number.fract() == 0.0).then(|| number.rem_euclid(BITS) as u32 as i32)
}
