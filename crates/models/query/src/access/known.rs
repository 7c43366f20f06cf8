//! A document made of what indexes know of it, for a query that reads no more.

use super::indexes::{Path, Step};
use orrery_value::Value;

/// An object with these values at these paths, none of which passes an array. What is undefined is not there.
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
        // A simple value has nothing inside it.
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
    fn values_stand_at_their_paths() {
        check(&[], "{}");
        check(&[("a", "1"), ("b/c", "2"), ("b/d", "null")], r#"{"a":1,"b":{"c":2,"d":null}}"#);
        check(&[("a", "undefined"), ("b/c", "undefined")], "{}");
        check(&[("a", "1"), ("a/b", "undefined")], r#"{"a":1}"#);
    }
}
