//! A tree of values with source positions, whatever the file format, and errors with a position.

use serde_json::{Map, Number, Value};
use std::fmt;

/// A line and a column, both from 1, of a file by its index among those read together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Location {
    pub file: usize,
    pub line: usize,
    pub column: usize,
}

/// An error in a file, with its position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct SourceError {
    pub file: String,
    pub line: usize,
    pub column: usize,
    pub reason: String,
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.reason),
            line => write!(f, "{}:{line}:{}: {}", self.file, self.column, self.reason),
        }
    }
}

/// An error whose file has no name yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub at: Location,
    pub reason: String,
}

pub(crate) fn fault<T>(at: Location, reason: impl Into<String>) -> Result<T, Fault> {
    Err(Fault { at, reason: reason.into() })
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub at: Location,
    pub data: Data,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Data {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    /// Names are unique.
    Map(Vec<Member>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    pub name: String,
    pub at: Location,
    pub value: Node,
}

impl Node {
    pub fn new(at: Location, data: Data) -> Self {
        Self { at, data }
    }

    pub fn text(at: Location, text: impl Into<String>) -> Self {
        Self::new(at, Data::Text(text.into()))
    }

    pub fn number(at: Location, number: i64) -> Self {
        Self::new(at, Data::Number(number.into()))
    }

    /// JSON without positions of its own.
    pub fn of_value(at: Location, value: Value) -> Self {
        let data = match value {
            Value::Null => Data::Null,
            Value::Bool(bool) => Data::Bool(bool),
            Value::Number(number) => Data::Number(number),
            Value::String(text) => Data::Text(text),
            Value::Array(list) => Data::List(list.into_iter().map(|one| Self::of_value(at, one)).collect()),
            Value::Object(map) => {
                let member = |(name, value)| Member { name, at, value: Self::of_value(at, value) };
                Data::Map(map.into_iter().map(member).collect())
            }
        };
        Self { at, data }
    }

    pub fn to_value(&self) -> Value {
        match &self.data {
            Data::Null => Value::Null,
            Data::Bool(bool) => Value::Bool(*bool),
            Data::Number(number) => Value::Number(number.clone()),
            Data::Text(text) => Value::String(text.clone()),
            Data::List(list) => list.iter().map(Self::to_value).collect(),
            Data::Map(members) => Value::Object(
                members.iter().map(|member| (member.name.clone(), member.value.to_value())).collect(),
            ),
        }
    }

    /// The member with this name; `null` counts as absent.
    pub fn get(&self, name: &str) -> Option<&Self> {
        let Data::Map(members) = &self.data else { return None };
        let found = members.iter().find(|member| member.name == name).map(|member| &member.value);
        found.filter(|value| value.data != Data::Null)
    }

    pub fn as_text(&self) -> Option<&str> {
        match &self.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number of values in the tree.
    pub fn size(&self) -> usize {
        match &self.data {
            Data::Null | Data::Bool(_) | Data::Number(_) | Data::Text(_) => 1,
            Data::List(list) => 1 + list.iter().map(Self::size).sum::<usize>(),
            Data::Map(members) => 1 + members.iter().map(|member| member.value.size()).sum::<usize>(),
        }
    }

    pub fn expect_text(&self, what: &str) -> Result<&str, Fault> {
        self.as_text().ok_or_else(|| self.must_be(what, "text"))
    }

    pub fn expect_list(&self, what: &str) -> Result<&[Self], Fault> {
        match &self.data {
            Data::List(list) => Ok(list),
            _ => Err(self.must_be(what, "a list")),
        }
    }

    pub fn expect_map(&self, what: &str) -> Result<&[Member], Fault> {
        match &self.data {
            Data::Map(members) => Ok(members),
            _ => Err(self.must_be(what, "an object")),
        }
    }

    pub fn expect_bool(&self, what: &str) -> Result<bool, Fault> {
        match &self.data {
            Data::Bool(bool) => Ok(*bool),
            Data::Text(text) if text == "true" => Ok(true),
            Data::Text(text) if text == "false" => Ok(false),
            _ => Err(self.must_be(what, "true or false")),
        }
    }

    /// An integer, also in the text form of a command line variable.
    pub fn expect_integer(&self, what: &str) -> Result<i64, Fault> {
        let found = match &self.data {
            Data::Number(number) => number.as_i64(),
            Data::Text(text) => text.parse().ok(),
            _ => None,
        };
        found.ok_or_else(|| self.must_be(what, "a whole number"))
    }

    pub fn expect_object(&self, what: &str) -> Result<Map<String, Value>, Fault> {
        self.expect_map(what)?;
        match self.to_value() {
            Value::Object(map) => Ok(map),
            _ => Err(self.must_be(what, "an object")),
        }
    }

    fn must_be(&self, what: &str, kind: &str) -> Fault {
        Fault { at: self.at, reason: format!("{what} must be {kind}, and this is {}", self.kind()) }
    }

    fn kind(&self) -> &'static str {
        match self.data {
            Data::Null => "empty",
            Data::Bool(_) => "true or false",
            Data::Number(_) => "a number",
            Data::Text(_) => "text",
            Data::List(_) => "a list",
            Data::Map(_) => "an object",
        }
    }
}

/// Reads the members of an object by name; one that is never read is an error in the file.
pub(crate) struct Fields<'n> {
    what: &'static str,
    at: Location,
    members: &'n [Member],
    known: Vec<&'static str>,
}

impl<'n> Fields<'n> {
    pub fn of(what: &'static str, node: &'n Node) -> Result<Self, Fault> {
        Ok(Self { what, at: node.at, members: node.expect_map(what)?, known: Vec::new() })
    }

    /// `null` counts as absent.
    pub fn take(&mut self, name: &'static str) -> Option<&'n Node> {
        self.known.push(name);
        let found = self.members.iter().find(|member| member.name == name).map(|member| &member.value);
        found.filter(|value| value.data != Data::Null)
    }

    pub fn required(&mut self, name: &'static str) -> Result<&'n Node, Fault> {
        let (what, at) = (self.what, self.at);
        self.take(name).ok_or_else(|| Fault { at, reason: format!("{what} has no '{name}'; add it") })
    }

    /// Call after reading every known name.
    pub fn finish(self) -> Result<(), Fault> {
        match self.members.iter().find(|member| !self.known.contains(&member.name.as_str())) {
            None => Ok(()),
            Some(member) => {
                let (what, name, known) = (self.what, &member.name, self.known.join(", "));
                fault(member.at, format!("{what} has no member '{name}'; there are {known}"))
            }
        }
    }
}
