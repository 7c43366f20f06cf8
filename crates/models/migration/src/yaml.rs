//! Parses YAML into JSON, by the core schema of YAML 1.2: `no` is a string; `null`, `true` and `12` are not.
//!
//! Aliases and tags are refused; a plan needs neither, and an alias can expand a file beyond its size.

use crate::PlanError;
use crate::limits;
use saphyr_parser::{Event, Marker, Parser, ScalarStyle};
use serde_json::{Map, Value};

enum Open {
    List(Vec<Value>),
    Map { members: Map<String, Value>, name: Option<String> },
}

pub fn load(text: &str) -> Result<Value, PlanError> {
    if text.len() > limits::MIGRATION_PLAN_BYTES_MAX {
        return Err(PlanError(format!("a plan has at most {} bytes", limits::MIGRATION_PLAN_BYTES_MAX)));
    }
    let (mut open, mut root): (Vec<Open>, Option<Value>) = (Vec::new(), None);
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| at(error.marker(), "this is not YAML", error.info()))?;
        let refuse = |why: &str| Err(at(&span.start, "this is not taken", why));
        let done = match event {
            Event::Scalar(_, _, anchor, tag) if anchor != 0 || tag.is_some() => {
                return refuse("a tag or an anchor");
            }
            Event::SequenceStart(anchor, tag) | Event::MappingStart(anchor, tag)
                if anchor != 0 || tag.is_some() =>
            {
                return refuse("a tag or an anchor");
            }
            Event::SequenceStart(..) | Event::MappingStart(..)
                if open.len() == limits::MIGRATION_PLAN_LEVELS_MAX =>
            {
                return refuse("this is nested too deep");
            }
            Event::Alias(_) => return refuse("an alias; write it out"),
            Event::DocumentStart(_) if root.is_some() => return refuse("a second document"),
            Event::Scalar(text, style, ..) => Some(scalar(&text, style)),
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                None
            }
            Event::MappingStart(..) => {
                open.push(Open::Map { members: Map::new(), name: None });
                None
            }
            Event::SequenceEnd | Event::MappingEnd => open.pop().map(|ended| match ended {
                Open::List(list) => Value::Array(list),
                Open::Map { members, .. } => Value::Object(members),
            }),
            _ => None,
        };
        let Some(value) = done else { continue };
        match open.last_mut() {
            None => root = Some(value),
            Some(Open::List(list)) => list.push(value),
            Some(Open::Map { members, name }) => match (name.take(), value) {
                (Some(name), value) => {
                    members.insert(name, value);
                }
                (None, Value::String(key)) if members.contains_key(&key) => {
                    return refuse(&format!("'{key}' a second time"));
                }
                (None, Value::String(key)) => *name = Some(key),
                (None, _) => return refuse("a name that is no text"),
            },
        }
    }
    root.ok_or_else(|| PlanError("the file is empty".to_owned()))
}

fn at(marker: &Marker, what: &str, why: &str) -> PlanError {
    PlanError(format!("line {}, column {}: {what}: {why}", marker.line(), marker.col() + 1))
}

fn scalar(text: &str, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return Value::String(text.to_owned());
    }
    orrery_blueprint::plain_scalar(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_values_are_distinguished() {
        let value = load("a: no\nb: [1, 2.5, null, 'true', {c: -1}]\n").unwrap();
        assert_eq!(value.to_string(), r#"{"a":"no","b":[1,2.5,null,"true",{"c":-1}]}"#);
    }

    #[test]
    fn numbers_are_what_the_core_schema_says() {
        let value = load("[1, -2, +3, 0x1f, 0o17, 1.5, 1e3, .5, 1.2.3, 2026-11-15, 1_000, 0xzz]").unwrap();
        assert_eq!(value.to_string(), r#"[1,-2,3,31,15,1.5,1000.0,0.5,"1.2.3","2026-11-15","1_000","0xzz"]"#);
    }

    #[test]
    fn errors_have_a_position() {
        for (text, fragment) in [
            ("a: 1\na: 2", "line 2, column 1"),
            ("a: &x 1\nb: *x", "anchor"),
            ("a: [1", "not YAML"),
            ("", "empty"),
            ("a: 1\n---\nb: 2", "second document"),
            (&"[".repeat(200), "nested too deep"),
        ] {
            let error = load(text).expect_err(text);
            assert!(error.0.contains(fragment), "{error}");
        }
    }
}
