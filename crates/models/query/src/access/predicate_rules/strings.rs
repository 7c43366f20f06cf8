//! Functions that are true or false for strings, and undefined for everything else.

use super::SlotPaths;
use super::compare::{holds, is_of};
use crate::access::indexes::Interval;
use crate::access::predicate::IndexPredicate;
use crate::bind::bound::Expr;
use crate::datum::Kind;
use crate::parse::BinaryOp;
use orrery_value::Value;

/// The first argument is a string.
pub(super) fn is_text(args: &[Expr], _wanted: bool, slots: &SlotPaths<'_>) -> IndexPredicate {
    match args.first() {
        None => IndexPredicate::True,
        Some(Expr::Constant(Value::String(_))) => IndexPredicate::True,
        Some(Expr::Constant(_)) => IndexPredicate::False,
        Some(value) => is_of(value, Kind::String, slots),
    }
}

/// Whether the ignore-case flag is missing or false.
pub(super) fn is_exact(flag: &[Expr]) -> bool {
    matches!(flag, [] | [Expr::Constant(Value::Bool(false))])
}

// STARTSWITH: strings with the prefix; if case is ignored, all strings.

pub(super) fn starts_with(args: &[Expr], wanted: bool, slots: &SlotPaths<'_>) -> IndexPredicate {
    match args {
        [value, Expr::Constant(Value::String(prefix)), flag @ ..] if wanted && is_exact(flag) => {
            IndexPredicate::at(slots.path_containing(value), Interval::starts_with(prefix.clone()))
        }
        _ => is_text(args, wanted, slots),
    }
}

// STRINGEQUALS: two strings, equal if it is true.

pub(super) fn string_equals(args: &[Expr], wanted: bool, slots: &SlotPaths<'_>) -> IndexPredicate {
    let [a, b, flag @ ..] = args else { return IndexPredicate::True };
    let equal =
        if wanted && is_exact(flag) { holds(BinaryOp::Equal, a, b, slots) } else { IndexPredicate::True };
    IndexPredicate::and([equal, is_text(args, wanted, slots), is_text(&args[1..], wanted, slots)])
}

// LIKE: a string, and its literal prefix.

/// A pattern that is not a string, or an escape that is not one character, makes the result undefined.
pub(super) fn like(
    value: &Expr,
    pattern: &Expr,
    escape: Option<&Expr>,
    is_like: bool,
    slots: &SlotPaths<'_>,
) -> IndexPredicate {
    let escape = match escape.map(Expr::as_constant) {
        None => None,
        Some(Some(Value::String(text))) if text.chars().count() == 1 => text.chars().next(),
        Some(Some(_)) => return IndexPredicate::False,
        Some(None) => return is_of(value, Kind::String, slots),
    };
    match pattern.as_constant() {
        Some(Value::String(pattern)) if is_like => {
            IndexPredicate::at(slots.path_containing(value), Interval::starts_with(prefix(pattern, escape)))
        }
        None | Some(Value::String(_)) => is_of(value, Kind::String, slots),
        Some(_) => IndexPredicate::False,
    }
}

/// The literal prefix before the first wildcard. A bracket may open a set.
fn prefix(pattern: &str, escape: Option<char>) -> String {
    let (mut prefix, mut rest) = (String::new(), pattern.chars());
    while let Some(character) = rest.next() {
        match character {
            escaped if Some(escaped) == escape => prefix.push(rest.next().unwrap_or(escaped)),
            '%' | '_' | '[' => break,
            other => prefix.push(other),
        }
    }
    prefix
}
