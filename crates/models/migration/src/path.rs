//! A path to a member: `/a/b`, or `/"a b"/c` for a name with special characters.
//!
//! `put` restores exactly what `take` removed: an object that becomes empty is removed with its last member,
//! and nothing is put into an object that was empty before, because taking it out again would remove that
//! object too.

use crate::{PlanError, Refusal};
use orrery_value::Value;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(Vec<String>);

impl Path {
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let wrong = || PlanError(format!("'{text}' is not a path such as /metadata/priority"));
        let mut rest = text.strip_prefix('/').ok_or_else(wrong)?;
        let mut names = Vec::new();
        loop {
            let (name, after) = match rest.strip_prefix('"') {
                Some(quoted) => quoted.split_once('"').ok_or_else(wrong)?,
                None => rest.split_at(rest.find('/').unwrap_or(rest.len())),
            };
            if name.is_empty() {
                return Err(wrong());
            }
            names.push(name.to_owned());
            match after.strip_prefix('/') {
                Some(more) => rest = more,
                None if after.is_empty() => return Ok(Self(names)),
                None => return Err(wrong()),
            }
        }
    }

    pub fn get<'a>(&self, item: &'a Value) -> &'a Value {
        self.0.iter().fold(item, |value, name| value.member(name))
    }

    pub fn is_in(&self, item: &Value) -> bool {
        !self.get(item).is_undefined()
    }

    /// Removes the member, and every object that becomes empty.
    pub fn take(&self, item: &mut Value) -> Option<Value> {
        take(item, &self.0)
    }

    /// Adds the member, which must not exist yet.
    pub fn put(&self, item: &mut Value, value: Value) -> Result<(), Refusal> {
        put(item, &self.0, value).map_err(|why| Refusal(format!("the member {self} {why}")))
    }

    /// Whether changing one path may change the value at the other.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a == b)
    }

    /// In query syntax: `c["a"]["b"]`.
    pub fn in_query(&self) -> String {
        let segment = |name: &String| format!("[{}]", Value::from(name.as_str()).to_json());
        format!("c{}", self.0.iter().map(segment).collect::<String>())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|name| match name.contains('/') {
            true => write!(f, "/\"{name}\""),
            false => write!(f, "/{name}"),
        })
    }
}

fn take(value: &mut Value, names: &[String]) -> Option<Value> {
    let (name, rest) = names.split_first()?;
    let Value::Object(members) = value else { return None };
    let at = members.iter().position(|(key, _)| key == name)?;
    if rest.is_empty() {
        return Some(members.remove(at).1);
    }
    let taken = take(&mut members[at].1, rest)?;
    if matches!(&members[at].1, Value::Object(inner) if inner.is_empty()) {
        members.remove(at);
    }
    Some(taken)
}

fn put(value: &mut Value, names: &[String], new: Value) -> Result<(), &'static str> {
    let Some((name, rest)) = names.split_first() else { return Err("has no name") };
    let Value::Object(members) = value else { return Err("would be inside of something that is no object") };
    let found = members.iter_mut().find(|(key, _)| key == name).map(|(_, value)| value);
    match (found, rest.is_empty()) {
        (None, true) => members.push((name.clone(), new)),
        (None, false) => {
            let mut inner = Value::Object(Vec::new());
            put(&mut inner, rest, new)?;
            members.push((name.clone(), inner));
        }
        (Some(_), true) => return Err("is there already, and would be lost"),
        (Some(Value::Object(inner)), false) if inner.is_empty() => {
            return Err("would be put into an empty object, which could not be told apart afterwards");
        }
        (Some(inner), false) => put(inner, rest, new)?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Path {
        Path::parse(text).expect(text)
    }

    #[test]
    fn a_path_is_names_between_slashes() {
        for text in ["/a", "/a/b", "/\"a/b\"/c"] {
            assert_eq!(path(text).to_string(), text);
        }
        for text in ["", "a", "/", "/a/", "//a", "/\"a", "/\"a\"b"] {
            assert!(Path::parse(text).is_err(), "{text}");
        }
        assert_eq!(path("/a/\"b c\"").in_query(), r#"c["a"]["b c"]"#);
    }

    #[test]
    fn taking_a_member_removes_emptied_objects() {
        let mut item = Value::parse(r#"{"a":{"b":{"c":1}},"d":{"e":2,"f":3}}"#).unwrap();
        assert_eq!(path("/a/b/c").take(&mut item).unwrap().to_json(), "1");
        assert_eq!(path("/d/e").take(&mut item).unwrap().to_json(), "2");
        assert_eq!(path("/x/y").take(&mut item), None);
        assert_eq!(item.to_json(), r#"{"d":{"f":3}}"#);
    }

    #[test]
    fn put_does_not_overwrite() {
        let mut item = Value::parse(r#"{"a":1,"e":{}}"#).unwrap();
        for (at, fragment) in [("/a", "is there already"), ("/a/b", "no object"), ("/e/x", "empty object")] {
            let refused = path(at).put(&mut item, Value::Null).expect_err(at);
            assert!(refused.0.contains(fragment), "{refused}");
        }
        path("/b/c").put(&mut item, Value::Null).unwrap();
        assert_eq!(item.to_json(), r#"{"a":1,"e":{},"b":{"c":null}}"#);
    }
}
