//! Parses YAML text into a tree with positions.
//!
//! Plain scalars follow the core schema of YAML 1.2, so `no` is a string and `null`, `true` and `12` are not.
//! Anchors and aliases are supported, and their expansion is counted; merge keys and tags other than `!!str`
//! are not supported.

use crate::limits;
use crate::node::{Data, Fault, Location, Member, Node, fault};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Tag};
use serde_json::{Number, Value as Scalar};
use std::borrow::Cow;
use std::collections::HashMap;

pub(crate) fn load(file: usize, text: &str) -> Result<Node, Fault> {
    let mut loader = Loader { file, open: Vec::new(), anchors: HashMap::new(), nodes: 0, root: None };
    for event in Parser::new_from_str(text.trim_start_matches('\u{feff}')) {
        let (event, span) = event.map_err(|error| Fault {
            at: loader.place(error.marker()),
            reason: format!("this is not YAML: {}", error.info()),
        })?;
        loader.take(event, loader.place(&span.start))?;
    }
    let start = Location { file, line: 1, column: 1 };
    loader.root.ok_or_else(|| Fault { at: start, reason: "the file is empty".to_owned() })
}

struct Loader {
    file: usize,
    /// The open collections.
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    nodes: usize,
    root: Option<Node>,
}

struct Open {
    at: Location,
    anchor: usize,
    parts: Parts,
}

enum Parts {
    List(Vec<Node>),
    Map { members: Vec<Member>, name: Option<(String, Location)> },
}

impl Loader {
    fn place(&self, marker: &Marker) -> Location {
        Location { file: self.file, line: marker.line(), column: marker.col() + 1 }
    }

    fn take(&mut self, event: Event<'_>, at: Location) -> Result<(), Fault> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let node = Node::new(at, scalar(&text, style, tag.as_deref(), at)?);
                self.done(node, anchor)
            }
            Event::SequenceStart(anchor, tag) => self.begin(at, anchor, tag, Parts::List(Vec::new())),
            Event::MappingStart(anchor, tag) => {
                self.begin(at, anchor, tag, Parts::Map { members: Vec::new(), name: None })
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(anchor) => match self.anchors.get(&anchor).cloned() {
                Some(node) => self.done(Node { at, ..node }, 0),
                None => fault(at, "the alias stands inside what it means"),
            },
            Event::DocumentStart(_) if self.root.is_some() => {
                fault(at, "a file has one document; put the second into a file of its own")
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
        at: Location,
        anchor: usize,
        tag: Option<Cow<'_, Tag>>,
        parts: Parts,
    ) -> Result<(), Fault> {
        if tag.is_some() {
            return fault(at, "tags are not taken here");
        }
        if self.open.len() == limits::BLUEPRINT_LEVELS_MAX {
            return fault(at, "this is nested too deep");
        }
        self.open.push(Open { at, anchor, parts });
        Ok(())
    }

    fn end(&mut self) -> Result<(), Fault> {
        let Some(Open { at, anchor, parts }) = self.open.pop() else { return Ok(()) };
        let data = match parts {
            Parts::List(list) => Data::List(list),
            Parts::Map { members, .. } => Data::Map(members),
        };
        self.done(Node::new(at, data), anchor)
    }

    fn done(&mut self, node: Node, anchor: usize) -> Result<(), Fault> {
        let at = node.at;
        self.nodes += node.size();
        if self.nodes > limits::BLUEPRINT_NODES_MAX {
            return fault(at, "the file comes to more values than are taken; write it with fewer aliases");
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

fn key(node: &Node, members: &[Member]) -> Result<(String, Location), Fault> {
    let name = match &node.data {
        Data::Text(text) => text.clone(),
        Data::Number(number) => number.to_string(),
        Data::Bool(bool) => bool.to_string(),
        Data::Null | Data::List(_) | Data::Map(_) => return fault(node.at, "a name must be text"),
    };
    if members.iter().any(|member| member.name == name) {
        return fault(node.at, format!("'{name}' is here twice; keep one of them"));
    }
    Ok((name, node.at))
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>, at: Location) -> Result<Data, Fault> {
    match tag {
        None if style == ScalarStyle::Plain => Ok(data(plain(text))),
        None => Ok(Data::Text(text.to_owned())),
        Some(tag) if tag.is_yaml_core_schema() && tag.suffix == "str" => Ok(Data::Text(text.to_owned())),
        Some(_) => fault(at, "tags are not taken here, but for !!str"),
    }
}

/// Interprets a plain scalar.
pub fn plain(text: &str) -> Scalar {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Scalar::Null,
        "true" | "True" | "TRUE" => Scalar::Bool(true),
        "false" | "False" | "FALSE" => Scalar::Bool(false),
        _ => number(text).map_or_else(|| Scalar::String(text.to_owned()), Scalar::Number),
    }
}

fn data(scalar: Scalar) -> Data {
    match scalar {
        Scalar::Bool(bool) => Data::Bool(bool),
        Scalar::Number(number) => Data::Number(number),
        Scalar::String(text) => Data::Text(text),
        Scalar::Null | Scalar::Array(_) | Scalar::Object(_) => Data::Null,
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
    use serde_json::{Value, json};

    fn check(text: &str, expected: Value) {
        assert_eq!(load(0, text).map(|node| node.to_value()), Ok(expected), "{text}");
    }

    fn refused(text: &str, line: usize, column: usize, fragment: &str) {
        let found = load(0, text).expect_err(text);
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
        assert!(load(0, &laughs).is_err_and(|fault| fault.reason.contains("fewer aliases")));
        refused("a: &x [*x]", 1, 8, "inside what it means");
    }

    #[test]
    fn unsupported_yaml_is_refused_with_a_position() {
        refused("", 1, 1, "empty");
        refused("a: 1\nb: 2\na: 3\n", 3, 1, "'a' is here twice");
        refused("a: 1\n---\nb: 2\n", 2, 1, "one document");
        refused("a: !!binary x", 1, 4, "tags");
        refused("[x]: 1", 1, 1, "must be text");
        assert!(load(0, "a: [1, 2\nb: 3").is_err_and(|fault| fault.reason.starts_with("this is not YAML: ")));
        let deep = "[".repeat(200);
        assert!(load(0, &deep).is_err_and(|fault| fault.reason.contains("too deep")));
    }
}
