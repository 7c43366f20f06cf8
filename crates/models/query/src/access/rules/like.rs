//! LIKE: a string, and what it begins with.

use super::Slots;
use super::defined::is_of;
use crate::access::indexes::Interval;
use crate::access::need::IndexPredicate;
use crate::bind::bound::Expr;
use crate::datum::Kind;
use orrery_value::Value;

/// A pattern that is no string, or an escape that is not one character, makes it undefined.
pub(super) fn like(
    value: &Expr,
    pattern: &Expr,
    escape: Option<&Expr>,
    is_like: bool,
    slots: &Slots<'_>,
) -> IndexPredicate {
    let escape = match escape.map(Expr::as_constant) {
        None => None,
        Some(Some(Value::String(text))) if text.chars().count() == 1 => text.chars().next(),
        Some(Some(_)) => return IndexPredicate::False,
        Some(None) => return is_of(value, Kind::String, slots),
    };
    match pattern.as_constant() {
        Some(Value::String(pattern)) if is_like => {
            IndexPredicate::at(slots.found_at(value), Interval::starts_with(prefix(pattern, escape)))
        }
        None | Some(Value::String(_)) => is_of(value, Kind::String, slots),
        Some(_) => IndexPredicate::False,
    }
}

/// What stands before all that may be different things. A bracket may open a set.
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
