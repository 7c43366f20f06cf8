//! The operators on two values. Where an operator does not apply, the result is undefined.

use super::exec_context::ExecContext;
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

/// `<` and its siblings compare only values of one type, and no arrays or objects.
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

/// A literal keeps its digits; computed numbers are doubles.
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

// LIKE: `%` any text, `_` one character, `[a-z]` and `[^a-z]` one of a set, and an escape.

/// Character comparisons that count as one step.
const COMPARISONS_PER_STEP: usize = 256;

enum Part {
    AnyText,
    AnyOne,
    One(char),
    Set { negated: bool, ranges: Vec<(char, char)> },
}

pub(crate) fn like<'d>(
    value: &Datum<'d>,
    pattern: &Datum<'d>,
    escape: Option<&Datum<'d>>,
    ctx: &ExecContext<'_>,
) -> Datum<'d> {
    let escape = match escape {
        None => None,
        Some(escape) => match escape.as_str().map(|text| text.chars().collect::<Vec<_>>()).as_deref() {
            Some([one]) => Some(*one),
            _ => return Datum::Undefined,
        },
    };
    match (value.as_str(), pattern.as_str()) {
        (Some(text), Some(pattern)) => Datum::Bool(matches(text, &parts(pattern, escape), ctx)),
        _ => Datum::Undefined,
    }
}

fn parts(pattern: &str, escape: Option<char>) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = pattern.chars();
    while let Some(character) = rest.next() {
        parts.push(match character {
            escaped if Some(escaped) == escape => Part::One(rest.next().unwrap_or(escaped)),
            '%' => Part::AnyText,
            '_' => Part::AnyOne,
            '[' => match set(rest.as_str()) {
                Some((part, length)) => {
                    rest = rest.as_str()[length..].chars();
                    part
                }
                None => Part::One('['),
            },
            other => Part::One(other),
        });
    }
    parts
}

/// The set whose bracket precedes `text`, and its length in bytes. An unclosed bracket is not a set.
fn set(text: &str) -> Option<(Part, usize)> {
    let (negated, body) = text.strip_prefix('^').map_or((false, text), |body| (true, body));
    // A bracket right after the opening one is a member of the set.
    let end = body.char_indices().skip(1).find(|(_, c)| *c == ']').map(|(at, _)| at)?;
    let members: Vec<char> = body[..end].chars().collect();
    let mut ranges = Vec::new();
    let mut at = 0;
    while let Some(&low) = members.get(at) {
        match members.get(at + 1..at + 3) {
            Some(['-', high]) => {
                ranges.push((low, *high));
                at += 3;
            }
            _ => {
                ranges.push((low, low));
                at += 1;
            }
        }
    }
    Some((Part::Set { negated, ranges }, text.len() - body.len() + end + 1))
}

/// Backtracks only to the last `%`, so the time is bounded by the product of the lengths; steps are counted.
fn matches(text: &str, parts: &[Part], ctx: &ExecContext<'_>) -> bool {
    let mut rest = text.chars();
    let mut part = 0;
    let mut retry = None;
    let mut comparisons = 0usize;
    loop {
        comparisons += 1;
        if comparisons.is_multiple_of(COMPARISONS_PER_STEP) && !ctx.count_row() {
            return false;
        }
        if let Some(Part::AnyText) = parts.get(part) {
            part += 1;
            retry = Some((part, rest.clone()));
            continue;
        }
        let mut ahead = rest.clone();
        let fits = match (parts.get(part), ahead.next()) {
            (None, None) => return true,
            (Some(part), Some(character)) => is_one(part, character),
            _ => false,
        };
        if fits {
            rest = ahead;
            part += 1;
            continue;
        }
        let Some((after, from)) = &mut retry else { return false };
        if from.next().is_none() {
            return false;
        }
        part = *after;
        rest = from.clone();
    }
}

fn is_one(part: &Part, character: char) -> bool {
    match part {
        Part::AnyText => false,
        Part::AnyOne => true,
        Part::One(wanted) => *wanted == character,
        Part::Set { negated, ranges } => {
            ranges.iter().any(|(low, high)| (*low..=*high).contains(&character)) != *negated
        }
    }
}
