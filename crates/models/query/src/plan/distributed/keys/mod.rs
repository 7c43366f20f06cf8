//! Which documents a filter can name: the partition keys it allows, and the single items.
//!
//! A filter that is true says something about the members it compares with constants. What it says of the
//! partition key's paths, and of the id, is kept as a list of terms ([`implied`]), any one of which holds for
//! a document that matches. What is not understood says nothing, so no document that could match is ever
//! left out; the filter itself is still applied to what is found.

mod constant;
mod filter;
mod implied;
#[cfg(test)]
mod property;
#[cfg(test)]
mod tests;

use crate::parse::{Collection, Expr, ExprKind, Query};
use filter::Filter;
use implied::{Implied, Term};
use orrery_value::Value;

/// Keys and items that are named one by one; a filter that names more is looked at as one that names none.
pub const KEYS_MAX: usize = 10_000;

/// The partition keys of all documents that can match, as tuples of their first levels; none at all when
/// nothing matches, or no document is read. `None` when the filter does not tell.
pub fn partition_keys(
    query: &Query,
    parameters: &[(String, Value)],
    paths: &[Vec<String>],
) -> Option<Vec<Vec<Value>>> {
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
    // A shorter key stands before the keys that begin with it, and covers them.
    keys.dedup_by(|next, kept| next.starts_with(kept));
    Some(keys)
}

/// The id and the whole partition key of every document that can match. `None` when the filter leaves any of
/// these open.
pub fn id_and_key_lookups(
    query: &Query,
    parameters: &[(String, Value)],
    paths: &[Vec<String>],
) -> Option<Vec<(String, Vec<Value>)>> {
    // Most filters say nothing of ids, and need no further look.
    if !query.filter.as_ref().is_some_and(|filter| may_name(filter, "id")) {
        return None;
    }
    let id = ["id".to_owned()];
    let levels: Vec<&[String]> = [&id[..]].into_iter().chain(paths.iter().map(Vec::as_slice)).collect();
    let mut lookups = Vec::new();
    for term in terms(query, parameters, &levels)? {
        let mut values = term.into_iter().collect::<Option<Vec<Value>>>()?.into_iter();
        // Every id is a string, so what asks for another has no document.
        if let Some(Value::String(id)) = values.next() {
            lookups.push((id, values.collect()));
        }
    }
    Some(lookups)
}

/// Whether a member of this name stands where [`Filter::when`] looks.
fn may_name(filter: &Expr, name: &str) -> bool {
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

/// What the filter says of the levels; `None` when it says nothing, or does not look at documents.
fn terms(query: &Query, parameters: &[(String, Value)], levels: &[&[String]]) -> Option<Vec<Term>> {
    let root = root(query)?;
    let parameters = parameters.iter().map(|(name, value)| (name.as_str(), value)).collect();
    let filter = Filter { root, parameters, levels };
    match filter.when(query.filter.as_ref()?, true) {
        Implied::Nothing => None,
        Implied::AnyOf(terms) => Some(terms.into_iter().collect()),
    }
}

/// The name of the document, if the first source is the document.
fn root(query: &Query) -> Option<&str> {
    let (first, others) = query.from.split_first()?;
    let Collection::Path(container, steps) = &first.of else { return None };
    let root = first.alias.as_ref().unwrap_or(container);
    let hidden =
        others.iter().any(|source| source.alias.as_ref().is_none_or(|alias| alias.text == root.text));
    (steps.is_empty() && !first.each && !hidden).then_some(&root.text)
}
