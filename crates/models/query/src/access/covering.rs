//! Covering reads: a document built from index entries, and the residual filter.

use super::document_path::{SlotPaths, path_of};
use super::indexes::{Path, Step};
use crate::bind::bound::{Block, Expr};
use crate::parse::BinaryOp;
use orrery_value::Value;

/// Builds an object with these values at these paths, none of which passes an array. Undefined values are
/// omitted.
pub(crate) fn document<'p>(values: impl IntoIterator<Item = (&'p Path, Value)>) -> Value {
    let mut document = Value::Object(Vec::new());
    for (path, value) in values.into_iter().filter(|(_, value)| !value.is_undefined()) {
        put(&mut document, path, value);
    }
    document
}

fn put(document: &mut Value, path: &Path, value: Value) {
    let mut at = document;
    for step in &**path {
        let Step::Member(name) = step else { return };
        if at.is_undefined() {
            *at = Value::Object(Vec::new());
        }
        // A simple value has no members.
        let Value::Object(members) = at else { return };
        at = member(members, name);
    }
    *at = value;
}

fn member<'m>(members: &'m mut Vec<(String, Value)>, name: &str) -> &'m mut Value {
    let place = members.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
        members.push((name.to_owned(), Value::Undefined));
        members.len() - 1
    });
    &mut members[place].1
}

// The residual filter: the conditions that still have to be evaluated on the document.

/// The conjuncts of a filter.
pub(crate) fn filter_conditions(block: &Block) -> Vec<&Expr> {
    match &block.filter {
        None => Vec::new(),
        Some(Expr::All(all)) => all.iter().collect(),
        Some(one) => vec![one],
    }
}

/// Removes the conditions that hold for every document returned. Only conditions that need no document
/// qualify: an index entry stores paths and partitions as numbers, a document in words.
pub(crate) fn residual_conditions<'b>(block: &'b Block, known: &[(Path, Value)]) -> Vec<&'b Expr> {
    let mut open = filter_conditions(block);
    if !known.is_empty() {
        let slots = SlotPaths::of(block);
        open.retain(|condition| !is_known(condition, &slots, known));
    }
    open
}

fn is_known(condition: &Expr, slots: &SlotPaths<'_>, known: &[(Path, Value)]) -> bool {
    let Expr::Binary(BinaryOp::Equal, a, b) = condition else { return false };
    let (of, value) = match (a.as_constant(), b.as_constant()) {
        (None, Some(value)) => (a, value),
        (Some(value), None) => (b, value),
        _ => return false,
    };
    let path = path_of(of, slots);
    path.is_some_and(|path| known.iter().any(|(its, known)| *its == path && known == value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[(&str, &str)], expected: &str) {
        let values: Vec<(Path, Value)> = values
            .iter()
            .map(|(path, text)| {
                let steps = path.split('/').map(|name| Step::Member(name.to_owned()));
                (steps.collect(), Value::parse(text).unwrap_or_default())
            })
            .collect();
        let document = document(values.iter().map(|(path, value)| (path, value.clone())));
        assert_eq!(document.to_json(), expected);
    }

    #[test]
    fn values_are_placed_at_their_paths() {
        check(&[], "{}");
        check(&[("a", "1"), ("b/c", "2"), ("b/d", "null")], r#"{"a":1,"b":{"c":2,"d":null}}"#);
        check(&[("a", "undefined"), ("b/c", "undefined")], "{}");
        check(&[("a", "1"), ("a/b", "undefined")], r#"{"a":1}"#);
    }
}

#[cfg(test)]
mod open_tests {
    use super::*;
    use crate::access::indexes::Step;
    use crate::plan::Rules;
    use crate::prepare;

    /// The number of conditions left if all documents have `a = 1`.
    fn left(filter: &str) -> usize {
        let text = format!("SELECT VALUE c FROM c JOIN t IN c.tags WHERE {filter}");
        let block = prepare(&text, &[], Rules::On).unwrap().plan.query.block;
        residual_conditions(&block, &[([Step::Member("a".to_owned())].into(), Value::from(1i64))]).len()
    }

    #[test]
    fn conditions_on_shared_values_are_dropped() {
        assert_eq!(left("c.a = 1"), 0);
        assert_eq!(left("1 = c.a AND c.b = 2"), 1);
        assert_eq!(left("c.b = 2 AND c['a'] = 1 AND t = 1"), 2);
    }

    #[test]
    fn all_other_conditions_remain() {
        for filter in [
            "c.a = 2",
            "c.b = 1",
            "c.a > 0",
            "c.a = 1 OR c.b = 2",
            "NOT (c.a = 1)",
            "c.a = c.a",
            "t = 1",
            "c.a.a = 1",
        ] {
            assert_eq!(left(filter), 1, "{filter}");
        }
    }
}
