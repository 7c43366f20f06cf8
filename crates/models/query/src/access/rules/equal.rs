//! A value that equals a constant, deeply.
//!
//! An index knows of an array or an object only that it is there. But what equals one has its members and
//! elements too, and those an index knows: where `/address` is `{"city": "Oslo"}`, `/address/city` is `"Oslo"`.

use crate::access::indexes::{Interval, Path, Step};
use crate::access::need::IndexPredicate;
use orrery_core::limits;
use orrery_value::Value;

pub(super) fn equal(path: Path, value: &Value) -> IndexPredicate {
    let inside = match value {
        Value::Array(_) | Value::Object(_) => leaves(&path, value),
        _ => Vec::new(),
    };
    IndexPredicate::and(
        [IndexPredicate::at(Some(path), Interval::equal(value.clone()))].into_iter().chain(inside),
    )
}

/// The simple values inside a value at the path, or the first of them.
pub(super) fn leaves(path: &Path, value: &Value) -> Vec<IndexPredicate> {
    let mut needs = Vec::new();
    collect_leaves(path, value, &mut needs);
    needs
}

/// As deep as a constant is, which is bounded.
fn collect_leaves(path: &Path, value: &Value, needs: &mut Vec<IndexPredicate>) {
    let inside = |step: Step| path.iter().cloned().chain([step]).collect::<Path>();
    if needs.len() >= limits::PREDICATE_LEAVES_MAX {
        return;
    }
    match value {
        Value::Array(items) => {
            let path = inside(Step::Each);
            items
                .iter()
                .take(limits::PREDICATE_LEAVES_MAX)
                .for_each(|item| collect_leaves(&path, item, needs));
        }
        Value::Object(members) => {
            for (name, value) in members.iter().take(limits::PREDICATE_LEAVES_MAX) {
                collect_leaves(&inside(Step::Member(name.clone())), value, needs);
            }
        }
        Value::Undefined => {}
        leaf => needs.push(IndexPredicate::at(Some(path.clone()), Interval::equal(leaf.clone()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_values_inside_are_said() {
        let path = Path::from([Step::Member("a".to_owned())]);
        let items = |count: i64| Value::Array((0..count).map(Value::from).collect());
        assert_eq!(leaves(&path, &items(3)).len(), 3);
        assert_eq!(leaves(&path, &items(100)).len(), limits::PREDICATE_LEAVES_MAX);
        let nested = Value::Array(vec![items(10), items(10), items(10)]);
        assert_eq!(leaves(&path, &nested).len(), limits::PREDICATE_LEAVES_MAX);
    }
}
