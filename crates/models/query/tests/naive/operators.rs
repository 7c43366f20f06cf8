//! The operators, each a function of one or two values.

use super::functions::{number, of_number, of_text};
use orrery_query::parse::{BinaryOp, UnaryOp};
use orrery_value::Value;
use std::cmp::Ordering;

pub fn unary(op: UnaryOp, value: &Value) -> Value {
    match (op, value) {
        (UnaryOp::Not, Value::Bool(it)) => Value::Bool(!it),
        (UnaryOp::Plus, Value::Number(_)) => value.clone(),
        (UnaryOp::Minus, Value::Number(it)) => number(-it.as_f64()),
        (UnaryOp::BitNot, _) => word(value).map_or(Value::Undefined, |it| number(f64::from(!it))),
        _ => Value::Undefined,
    }
}

pub fn binary(op: BinaryOp, a: &Value, b: &Value) -> Value {
    use BinaryOp::*;
    match op {
        And => and(a, b),
        Or => or(a, b),
        Coalesce => {
            if a.is_undefined() {
                b.clone()
            } else {
                a.clone()
            }
        }
        Equal => equal(a, b),
        NotEqual => unary(UnaryOp::Not, &equal(a, b)),
        Less => ordered(a, b, Ordering::is_lt),
        LessOrEqual => ordered(a, b, Ordering::is_le),
        Greater => ordered(a, b, Ordering::is_gt),
        GreaterOrEqual => ordered(a, b, Ordering::is_ge),
        Add | Subtract | Multiply | Divide | Modulo => arithmetic(op, a, b),
        BitOr | BitXor | BitAnd | ShiftLeft | ShiftRight | ShiftRightZero => bits(op, a, b),
        Concat => match (of_text(a), of_text(b)) {
            (Some(a), Some(b)) => Value::String(format!("{a}{b}")),
            _ => Value::Undefined,
        },
    }
}

pub fn and(a: &Value, b: &Value) -> Value {
    match (a, b) {
        (Value::Bool(false), _) | (_, Value::Bool(false)) => Value::Bool(false),
        (Value::Bool(true), Value::Bool(true)) => Value::Bool(true),
        _ => Value::Undefined,
    }
}

pub fn or(a: &Value, b: &Value) -> Value {
    match (a, b) {
        (Value::Bool(true), _) | (_, Value::Bool(true)) => Value::Bool(true),
        (Value::Bool(false), Value::Bool(false)) => Value::Bool(false),
        _ => Value::Undefined,
    }
}

/// Values of two types are not equal; what is undefined is neither equal nor unequal.
pub fn equal(a: &Value, b: &Value) -> Value {
    if a.is_undefined() || b.is_undefined() {
        return Value::Undefined;
    }
    Value::Bool(match (a, b) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::String(a), Value::String(b)) => a == b,
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b))
        }
        (Value::Object(a), Value::Object(_)) => {
            members(a) == members(object(b)) && a.iter().all(|(name, value)| is_equal(value, b.member(name)))
        }
        _ => false,
    })
}

pub fn is_equal(a: &Value, b: &Value) -> bool {
    is_true(&equal(a, b))
}

pub fn is_true(value: &Value) -> bool {
    matches!(value, Value::Bool(true))
}

fn object(value: &Value) -> &[(String, Value)] {
    if let Value::Object(members) = value { members } else { &[] }
}

fn members(object: &[(String, Value)]) -> usize {
    object.iter().filter(|(_, value)| !value.is_undefined()).count()
}

/// `<` and its like: of two values of one simple type.
fn ordered(a: &Value, b: &Value, holds: fn(Ordering) -> bool) -> Value {
    let order = match (a, b) {
        (Value::Null, Value::Null) => Some(Ordering::Equal),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        (Value::Number(a), Value::Number(b)) => a.as_f64().partial_cmp(&b.as_f64()),
        (Value::String(a), Value::String(b)) => Some(a.chars().cmp(b.chars())),
        _ => None,
    };
    order.map_or(Value::Undefined, |order| Value::Bool(holds(order)))
}

fn arithmetic(op: BinaryOp, a: &Value, b: &Value) -> Value {
    let (Some(a), Some(b)) = (of_number(a), of_number(b)) else { return Value::Undefined };
    number(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Subtract => a - b,
        BinaryOp::Multiply => a * b,
        BinaryOp::Divide => a / b,
        _ => a % b,
    })
}

fn bits(op: BinaryOp, a: &Value, b: &Value) -> Value {
    let (Some(a), Some(b)) = (word(a), word(b)) else { return Value::Undefined };
    let places = (b & 31) as u32;
    number(match op {
        BinaryOp::BitOr => f64::from(a | b),
        BinaryOp::BitXor => f64::from(a ^ b),
        BinaryOp::BitAnd => f64::from(a & b),
        BinaryOp::ShiftLeft => f64::from(a.wrapping_shl(places)),
        BinaryOp::ShiftRight => f64::from(a >> places),
        _ => f64::from((a as u32) >> places),
    })
}

/// An integral number as JavaScript makes 32 bits of it.
fn word(value: &Value) -> Option<i32> {
    let it = of_number(value).filter(|it| it.fract() == 0.0)?;
    Some(it.rem_euclid(4_294_967_296.0) as u32 as i32)
}

#[test]
fn bit_operators_use_32_bits() {
    let check = |op, a: i64, b: i64, expected: i64| {
        assert_eq!(binary(op, &Value::from(a), &Value::from(b)), Value::from(expected), "{a} {op:?} {b}");
    };
    check(BinaryOp::ShiftRight, 100, 2, 25);
    check(BinaryOp::ShiftLeft, 100, 2, 400);
    check(BinaryOp::ShiftRightZero, 100, 0, 100);
    check(BinaryOp::BitAnd, 100, 1000, 96);
    check(BinaryOp::BitOr, 100, 1000, 1004);
    check(BinaryOp::BitXor, 100, 1000, 908);
    check(BinaryOp::ShiftRightZero, -1, 28, 15);
    check(BinaryOp::ShiftRight, -8, 1, -4);
    check(BinaryOp::ShiftLeft, 1, 31, -2_147_483_648);
    check(BinaryOp::BitOr, 4_294_967_296 + 5, 0, 5);
    assert!(binary(BinaryOp::BitOr, &Value::from(1.5), &Value::from(1i64)).is_undefined());
}
