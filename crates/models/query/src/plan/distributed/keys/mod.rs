//! Partition pruning: the partition keys and single items that a filter permits.
//!
//! A true filter implies something about the members it compares with constants. Its implications for the
//! partition key paths and the id are kept as a list of terms ([`Implied`]), one of which holds for every
//! match. A condition that is not understood implies nothing, so no match is ever excluded. The filter is
//! still applied to the documents found.

use crate::parse::{Collection, Expr, ExprKind, Query, UnaryOp};
use filter::Filter;
use orrery_value::{Number, Value};
use std::collections::{BTreeSet, HashMap};

mod filter;
#[cfg(test)]
mod property;
#[cfg(test)]
mod tests;

/// The most keys or items listed individually; a filter with more is treated as one without any.
pub const KEYS_MAX: usize = 10_000;

/// The partition keys of all possible matches, as tuples of their first levels. Empty if nothing matches or
/// no document is read; `None` if the filter does not restrict the key.
pub fn partition_keys(
    query: &Query,
    parameters: &[(String, Value)],
    paths: &[Vec<String>],
) -> Option<Vec<Vec<Value>>> {
    orrery_core::tour_step!();
    if query.from.is_empty() {
        return Some(Vec::new());
    }
    let levels: Vec<&[String]> = paths.iter().map(Vec::as_slice).collect();
    let mut keys: Vec<Vec<Value>> = Vec::new();
    for term in terms(query, parameters, &levels)? {
        let key: Vec<Value> = term.into_iter().map_while(|level| level).collect();
        if key.is_empty() {
            return None;
        }
        keys.push(key);
    }
    keys.sort();
    // A shorter key sorts before the keys it is a prefix of, and covers them.
    keys.dedup_by(|next, kept| next.starts_with(kept));
    Some(keys)
}

/// The id and full partition key of every possible match. `None` if the filter leaves either open.
pub fn id_and_key_lookups(
    query: &Query,
    parameters: &[(String, Value)],
    paths: &[Vec<String>],
) -> Option<Vec<(String, Vec<Value>)>> {
    // Most filters do not mention the id and need no further analysis.
    if !query.filter.as_ref().is_some_and(|filter| mentions(filter, "id")) {
        return None;
    }
    let id = ["id".to_owned()];
    let levels: Vec<&[String]> = [&id[..]].into_iter().chain(paths.iter().map(Vec::as_slice)).collect();
    let mut lookups = Vec::new();
    for term in terms(query, parameters, &levels)? {
        let mut values = term.into_iter().collect::<Option<Vec<Value>>>()?.into_iter();
        // Ids are strings, so a condition on any other type matches no document.
        if let Some(Value::String(id)) = values.next() {
            lookups.push((id, values.collect()));
        }
    }
    Some(lookups)
}

/// Whether a member of this name occurs where [`Filter::implied`] looks.
fn mentions(filter: &Expr, name: &str) -> bool {
    let mut open = vec![filter];
    while let Some(next) = open.pop() {
        match &next.kind {
            ExprKind::Member(_, member) if member == name => return true,
            ExprKind::Unary(_, of) => open.push(of),
            ExprKind::Binary(_, a, b) => open.extend([&**a, &**b]),
            ExprKind::In { value, list, .. } => open.extend(list.iter().chain([&**value])),
            ExprKind::Like { value, .. } => open.push(value),
            ExprKind::Call { args, .. } => open.extend(args),
            _ => {}
        }
    }
    false
}

/// The filter's implications for the levels; `None` if it has none or does not read documents.
fn terms(query: &Query, parameters: &[(String, Value)], levels: &[&[String]]) -> Option<Vec<Term>> {
    let root = root(query)?;
    let parameters = parameters.iter().map(|(name, value)| (name.as_str(), value)).collect();
    let filter = Filter { root, parameters, levels };
    match filter.implied(query.filter.as_ref()?, true) {
        Implied::Nothing => None,
        Implied::AnyOf(terms) => Some(terms.into_iter().collect()),
    }
}

/// The alias of the document, if the first source is the document.
fn root(query: &Query) -> Option<&str> {
    let (first, others) = query.from.split_first()?;
    let Collection::Path(container, steps) = &first.of else { return None };
    let root = first.alias.as_ref().unwrap_or(container);
    let hidden =
        others.iter().any(|source| source.alias.as_ref().is_none_or(|alias| alias.text == root.text));
    (steps.is_empty() && !first.each && !hidden).then_some(&root.text)
}

// Expressions with the same value for every document, and that value as a key level.

/// Parameters by name; a filter may have thousands.
pub(super) type Parameters<'a> = HashMap<&'a str, &'a Value>;

/// The value of a literal or parameter; `None` for anything else.
pub(super) fn constant(expr: &Expr, parameters: &Parameters<'_>) -> Option<Value> {
    let of = |expr: &Expr| constant(expr, parameters);
    Some(match &expr.kind {
        ExprKind::Undefined => Value::Undefined,
        ExprKind::Null => Value::Null,
        ExprKind::Bool(it) => Value::Bool(*it),
        ExprKind::Number(it) => Value::Number(*it),
        ExprKind::String(it) => Value::String(it.clone()),
        ExprKind::Parameter(name) => (*parameters.get(name.as_str())?).clone(),
        ExprKind::Unary(UnaryOp::Minus, inner) => match of(inner)? {
            Value::Number(it) => Value::from(-it.as_f64()),
            _ => Value::Undefined,
        },
        ExprKind::Array(items) => Value::Array(items.iter().map(of).collect::<Option<_>>()?),
        ExprKind::Object(members) => {
            let member = |(name, value): &(String, Expr)| Some((name.clone(), of(value)?));
            Value::Object(members.iter().map(member).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

/// The key level of a document whose member has this value. Arrays and objects cannot be keys, so the
/// document is stored as if the member were missing.
pub(super) fn as_level(value: Value) -> Value {
    match value {
        Value::Array(_) | Value::Object(_) => Value::Undefined,
        // -0 equals 0 and is stored as 0.
        Value::Number(number) if number.as_f64() == 0.0 => Value::Number(Number::Int(0)),
        other => other,
    }
}

// Implications: one of several terms holds, each of which fixes some levels.

/// A value per level; `None` leaves the level open.
pub(super) type Term = Vec<Option<Value>>;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Implied {
    /// Every document is possible.
    Nothing,
    /// One of the terms holds; without terms no document is possible.
    AnyOf(BTreeSet<Term>),
}

impl Implied {
    pub(super) fn never() -> Self {
        Self::AnyOf(BTreeSet::new())
    }

    /// Conjunction. If it takes too many terms, only one of the two is kept, which is still implied.
    pub(super) fn and(self, other: Self) -> Self {
        let (left, right) = match (self, other) {
            (Self::Nothing, it) | (it, Self::Nothing) => return it,
            (Self::AnyOf(left), Self::AnyOf(right)) => (left, right),
        };
        if left.len().saturating_mul(right.len()) > KEYS_MAX {
            return Self::AnyOf(if left.len() <= right.len() { left } else { right });
        }
        let pairs = left.iter().flat_map(|a| right.iter().filter_map(|b| both(a, b)));
        Self::AnyOf(pairs.collect())
    }

    /// Disjunction.
    pub(super) fn or(self, other: Self) -> Self {
        let (Self::AnyOf(mut left), Self::AnyOf(mut right)) = (self, other) else { return Self::Nothing };
        if left.len() < right.len() {
            std::mem::swap(&mut left, &mut right);
        }
        left.extend(right);
        if left.len() > KEYS_MAX { Self::Nothing } else { Self::AnyOf(left) }
    }
}

/// The two terms combined, unless they disagree about a level.
fn both(left: &Term, right: &Term) -> Option<Term> {
    let level = |(a, b): (&Option<Value>, &Option<Value>)| match (a, b) {
        (Some(a), Some(b)) if a != b => Err(()),
        (Some(it), _) | (None, Some(it)) => Ok(Some(it.clone())),
        (None, None) => Ok(None),
    };
    left.iter().zip(right).map(level).collect::<Result<Term, ()>>().ok()
}
