//! Parses YAML text into a tree with positions.
//!
//! Plain scalars follow the core schema of YAML 1.2, so `no` is a string and `null`, `true` and `12` are not.
//! Anchors and aliases are supported, and their expansion is counted; merge keys and tags other than `!!str`
//! are not supported. A file has one document. Absent: what the values mean, and how large a text may be, which its
//! caller checks before.

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Tag};
use serde_json::{Number, Value};
use std::borrow::Cow;
use std::collections::HashMap;

/// What one text may come to.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Nesting depth as written.
    pub levels_max: usize,
    /// Values, with those that aliases repeat; each counts again in every collection that it stands in, so that this
    /// also bounds the depth which aliases add.
    pub values_max: usize,
}

/// A line and a column, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {reason}", at.line, at.column)]
pub struct Error {
    pub at: Position,
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub at: Position,
    pub data: Data,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    /// Names are unique.
    Map(Vec<Member>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    pub name: String,
    pub at: Position,
    pub value: Node,
}

impl Node {
    /// The value without its positions.
    pub fn into_value(self) -> Value {
        match self.data {
            Data::Null => Value::Null,
            Data::Bool(bool) => Value::Bool(bool),
            Data::Number(number) => Value::Number(number),
            Data::Text(text) => Value::String(text),
            Data::List(list) => list.into_iter().map(Self::into_value).collect(),
            Data::Map(members) => Value::Object(
                members.into_iter().map(|member| (member.name, member.value.into_value())).collect(),
            ),
        }
    }

    fn size(&self) -> usize {
        match &self.data {
            Data::Null | Data::Bool(_) | Data::Number(_) | Data::Text(_) => 1,
            Data::List(list) => 1 + list.iter().map(Self::size).sum::<usize>(),
            Data::Map(members) => 1 + members.iter().map(|member| member.value.size()).sum::<usize>(),
        }
    }
}

pub fn load(text: &str, limits: Limits) -> Result<Node, Error> {
    let mut loader = Loader { limits, open: Vec::new(), anchors: HashMap::new(), values: 0, root: None };
    for event in Parser::new_from_str(text.trim_start_matches('\u{feff}')) {
        let (event, span) = event.map_err(|error| Error {
            at: position(error.marker()),
            reason: format!("this is not YAML: {}", error.info()),
        })?;
        loader.take(event, position(&span.start))?;
    }
    let start = Position { line: 1, column: 1 };
    loader.root.ok_or_else(|| Error { at: start, reason: "the file is empty".to_owned() })
}

fn position(marker: &Marker) -> Position {
    Position { line: marker.line(), column: marker.col() + 1 }
}

fn refuse<T>(at: Position, reason: impl Into<String>) -> Result<T, Error> {
    Err(Error { at, reason: reason.into() })
}

struct Loader {
    limits: Limits,
    /// The open collections.
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    values: usize,
    root: Option<Node>,
}

struct Open {
    at: Position,
    anchor: usize,
    parts: Parts,
}

enum Parts {
    List(Vec<Node>),
    Map { members: Vec<Member>, name: Option<(String, Position)> },
}

impl Loader {
    fn take(&mut self, event: Event<'_>, at: Position) -> Result<(), Error> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let node = Node { at, data: scalar(&text, style, tag.as_deref(), at)? };
                self.done(node, anchor)
            }
            Event::SequenceStart(anchor, tag) => self.begin(at, anchor, tag, Parts::List(Vec::new())),
            Event::MappingStart(anchor, tag) => {
                self.begin(at, anchor, tag, Parts::Map { members: Vec::new(), name: None })
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(anchor) => match self.anchors.get(&anchor).cloned() {
                Some(node) => self.done(Node { at, ..node }, 0),
                None => refuse(at, "the alias stands inside what it means"),
            },
            Event::DocumentStart(_) if self.root.is_some() => {
                refuse(at, "a file has one document; put the second into a file of its own")
            }
            Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::StreamStart
            | Event::StreamEnd
            | Event::Nothing => Ok(()),
        }
    }

    fn begin(
        &mut self,
        at: Position,
        anchor: usize,
        tag: Option<Cow<'_, Tag>>,
        parts: Parts,
    ) -> Result<(), Error> {
        if tag.is_some() {
            return refuse(at, "tags are not taken here");
        }
        if self.open.len() == self.limits.levels_max {
            return refuse(at, "this is nested too deep");
        }
        self.open.push(Open { at, anchor, parts });
        Ok(())
    }

    fn end(&mut self) -> Result<(), Error> {
        let Some(Open { at, anchor, parts }) = self.open.pop() else { return Ok(()) };
        let data = match parts {
            Parts::List(list) => Data::List(list),
            Parts::Map { members, .. } => Data::Map(members),
        };
        self.done(Node { at, data }, anchor)
    }

    fn done(&mut self, node: Node, anchor: usize) -> Result<(), Error> {
        let at = node.at;
        self.values += node.size();
        if self.values > self.limits.values_max {
            return refuse(at, "the file comes to more values than are taken; write it with fewer aliases");
        }
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        match self.open.last_mut().map(|open| &mut open.parts) {
            None => self.root = Some(node),
            Some(Parts::List(list)) => list.push(node),
            Some(Parts::Map { members, name }) => match name.take() {
                Some((name, at)) => members.push(Member { name, at, value: node }),
                None => *name = Some(key(&node, members)?),
            },
        }
        Ok(())
    }
}

fn key(node: &Node, members: &[Member]) -> Result<(String, Position), Error> {
    let name = match &node.data {
        Data::Text(text) => text.clone(),
        Data::Number(number) => number.to_string(),
        Data::Bool(bool) => bool.to_string(),
        Data::Null | Data::List(_) | Data::Map(_) => return refuse(node.at, "a name must be text"),
    };
    if members.iter().any(|member| member.name == name) {
        return refuse(node.at, format!("'{name}' is here twice; keep one of them"));
    }
    Ok((name, node.at))
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>, at: Position) -> Result<Data, Error> {
    match tag {
        None if style == ScalarStyle::Plain => Ok(plain(text)),
        None => Ok(Data::Text(text.to_owned())),
        Some(tag) if tag.is_yaml_core_schema() && tag.suffix == "str" => Ok(Data::Text(text.to_owned())),
        Some(_) => refuse(at, "tags are not taken here, but for !!str"),
    }
}

fn plain(text: &str) -> Data {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Data::Null,
        "true" | "True" | "TRUE" => Data::Bool(true),
        "false" | "False" | "FALSE" => Data::Bool(false),
        _ => number(text).map_or_else(|| Data::Text(text.to_owned()), Data::Number),
    }
}

fn number(text: &str) -> Option<Number> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !digits.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    if let Some(hex) = text.strip_prefix("0x") {
        return i64::from_str_radix(hex, 16).ok().map(Number::from);
    }
    if let Some(octal) = text.strip_prefix("0o") {
        return i64::from_str_radix(octal, 8).ok().map(Number::from);
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let text = text.strip_prefix('+').unwrap_or(text);
        let whole = text.parse::<i64>().map(Number::from).or_else(|_| text.parse::<u64>().map(Number::from));
        return whole.ok().or_else(|| Number::from_f64(text.parse().ok()?));
    }
    let is_float = digits.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    if is_float { Number::from_f64(text.parse().ok()?) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn load(text: &str) -> Result<Node, Error> {
        super::load(text, Limits { levels_max: 64, values_max: 10_000 })
    }

    fn check(text: &str, expected: Value) {
        assert_eq!(load(text).map(Node::into_value), Ok(expected), "{text}");
    }

    fn refused(text: &str, line: usize, column: usize, fragment: &str) {
        let found = load(text).expect_err(text);
        assert_eq!((found.at.line, found.at.column), (line, column), "{text}: {}", found.reason);
        assert!(found.reason.contains(fragment), "{}", found.reason);
    }

    #[test]
    fn scalars_are_what_the_core_schema_says() {
        check("[a, 1, -2, +3, 0x1f, 0o17, 1.5, 1e3, .5]", json!(["a", 1, -2, 3, 31, 15, 1.5, 1000.0, 0.5]));
        check(
            "[null, ~, Null, true, FALSE, no, 'null', \"1\"]",
            json!([null, null, null, true, false, "no", "null", "1"]),
        );
        check(
            "[1.2.3, 2026-11-15, 1_000, 0xzz, 18446744073709551615]",
            json!(["1.2.3", "2026-11-15", "1_000", "0xzz", 18_446_744_073_709_551_615_u64]),
        );
        check("{path: /\"_etag\"/?, all: /*}", json!({"path": "/\"_etag\"/?", "all": "/*"}));
        check("a: !!str 1\n1: b", json!({"a": "1", "1": "b"}));
        check("sql: >\n  SELECT *\n  FROM c\n", json!({"sql": "SELECT * FROM c\n"}));
    }

    #[test]
    fn aliases_expand_and_are_counted() {
        check("a: &x {p: 1}\nb: *x", json!({"a": {"p": 1}, "b": {"p": 1}}));
        let mut laughs = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n".to_owned();
        for n in 1..12 {
            let list = vec![format!("*a{}", n - 1); 10].join(", ");
            laughs += &format!("a{n}: &a{n} [{list}]\n");
        }
        assert!(load(&laughs).is_err_and(|error| error.reason.contains("fewer aliases")));
        refused("a: &x [*x]", 1, 8, "inside what it means");
    }

    #[test]
    fn unsupported_yaml_is_refused_with_a_position() {
        refused("", 1, 1, "empty");
        refused("a: 1\nb: 2\na: 3\n", 3, 1, "'a' is here twice");
        refused("a: 1\n---\nb: 2\n", 2, 1, "one document");
        refused("a: !!binary x", 1, 4, "tags");
        refused("[x]: 1", 1, 1, "must be text");
        assert!(load("a: [1, 2\nb: 3").is_err_and(|error| error.reason.starts_with("this is not YAML: ")));
        let deep = "[".repeat(200);
        assert!(load(&deep).is_err_and(|error| error.reason.contains("too deep")));
        let mut chain = format!("a0: &a0 {}{}\n", "[".repeat(60), "]".repeat(60));
        for n in 1..100 {
            chain += &format!("a{n}: &a{n} {}*a{}{}\n", "[".repeat(60), n - 1, "]".repeat(60));
        }
        assert!(load(&chain).is_err_and(|error| error.reason.contains("fewer aliases")), "depth by aliases");
    }
}
