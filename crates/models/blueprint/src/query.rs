//! Named queries: a text with typed parameters, which people or programs fill in.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::str::FromStr;

#[derive(Clone, Debug, PartialEq)]
pub struct NamedQuery {
    pub name: String,
    pub about: Option<String>,
    pub container: String,
    pub sql: String,
    pub parameters: Vec<Parameter>,
    /// The parameters that form the partition key; empty for a cross-partition query.
    pub partition_key: Vec<String>,
    /// The composite indexes that serve it, part by part; `None` if the blueprint does not specify
    /// them.
    pub index: Option<Vec<Vec<String>>>,
    /// The expected rows over the example items with the example parameters.
    pub rows: Option<u64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Without its `@`.
    pub name: String,
    pub kind: ParameterType,
    pub example: Option<Value>,
    pub about: Option<String>,
}

/// How a parameter's text becomes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterType {
    /// The text as a string.
    String,
    Number,
    Integer,
    Boolean,
    Array,
    Object,
    /// Parsed as JSON if it is JSON, otherwise a string.
    Any,
}

const TYPES: [(&str, ParameterType); 7] = [
    ("string", ParameterType::String),
    ("number", ParameterType::Number),
    ("integer", ParameterType::Integer),
    ("boolean", ParameterType::Boolean),
    ("array", ParameterType::Array),
    ("object", ParameterType::Object),
    ("any", ParameterType::Any),
];

impl FromStr for ParameterType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = TYPES.iter().find(|(name, _)| *name == text);
        let names = || TYPES.map(|(name, _)| name).join(", ");
        found
            .map(|(_, kind)| *kind)
            .ok_or_else(|| format!("'{text}' is no type of a parameter; there are {}", names()))
    }
}

impl ParameterType {
    pub fn name(self) -> &'static str {
        TYPES.iter().find(|(_, kind)| *kind == self).map_or("any", |(name, _)| name)
    }

    fn read(self, text: &str) -> Option<Value> {
        let json = || serde_json::from_str::<Value>(text).ok();
        match self {
            Self::String => Some(text.into()),
            Self::Number => json().filter(Value::is_number),
            Self::Integer => json().filter(|value| value.is_i64() || value.is_u64()),
            Self::Boolean => json().filter(Value::is_boolean),
            Self::Array => json().filter(Value::is_array),
            Self::Object => json().filter(Value::is_object),
            Self::Any => json().or_else(|| Some(text.into())),
        }
    }
}

/// Errors in the given parameters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BindError {
    #[error("the query '{query}' needs the {}", listed(.names))]
    Missing { query: String, names: Vec<String> },
    #[error("the query '{query}' has no {}; {}", listed(.names), there_are(.known))]
    Unknown { query: String, names: Vec<String>, known: Vec<String> },
    #[error("the parameter '{name}' must be of type {kind}, and '{text}' is not")]
    Mistyped { name: String, kind: &'static str, text: String },
}

fn listed(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    format!("parameter{} {}", if names.len() == 1 { "" } else { "s" }, names.join(", "))
}

fn there_are(known: &[String]) -> String {
    if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) }
}

/// A query with its values, ready to send.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    pub sql: String,
    /// Names include the `@`.
    pub parameters: Vec<(String, Value)>,
    /// Empty for a cross-partition query.
    pub partition_key: Vec<Value>,
}

impl NamedQuery {
    /// Fills in parameters by name, with or without an `@`.
    pub fn bind(&self, given: &BTreeMap<String, String>) -> Result<Bound, BindError> {
        let bare = |name: &str| name.trim_start_matches('@').to_owned();
        let given: BTreeMap<String, &str> =
            given.iter().map(|(name, text)| (bare(name), text.as_str())).collect();
        self.check_names(&given)?;
        let value = |parameter: &Parameter| {
            let text = given.get(&parameter.name).copied().unwrap_or_default();
            let mistyped = || BindError::Mistyped {
                name: parameter.name.clone(),
                kind: parameter.kind.name(),
                text: text.to_owned(),
            };
            parameter.kind.read(text).ok_or_else(mistyped)
        };
        self.filled(value)
    }

    /// Fills in the examples, if every parameter has one.
    pub fn example(&self) -> Option<Bound> {
        let missing = || BindError::Missing { query: self.name.clone(), names: Vec::new() };
        self.filled(|parameter| parameter.example.clone().ok_or_else(missing)).ok()
    }

    fn filled(&self, value: impl Fn(&Parameter) -> Result<Value, BindError>) -> Result<Bound, BindError> {
        let mut parameters = Vec::with_capacity(self.parameters.len());
        for parameter in &self.parameters {
            parameters.push((format!("@{}", parameter.name), value(parameter)?));
        }
        let of = |name: &String| {
            let found = parameters.iter().find(|(known, _)| known.trim_start_matches('@') == name);
            found.map_or(Value::Null, |(_, value)| value.clone())
        };
        let partition_key = self.partition_key.iter().map(of).collect();
        Ok(Bound { sql: self.sql.clone(), parameters, partition_key })
    }

    fn check_names(&self, given: &BTreeMap<String, &str>) -> Result<(), BindError> {
        let known: Vec<String> = self.parameters.iter().map(|parameter| parameter.name.clone()).collect();
        let query = self.name.clone();
        let unknown: Vec<String> = given.keys().filter(|name| !known.contains(name)).cloned().collect();
        if !unknown.is_empty() {
            return Err(BindError::Unknown { query, names: unknown, known });
        }
        let missing: Vec<String> = known.into_iter().filter(|name| !given.contains_key(name)).collect();
        if missing.is_empty() { Ok(()) } else { Err(BindError::Missing { query, names: missing }) }
    }

    /// A description of the query and its parameters.
    pub fn shown(&self) -> Value {
        let parameters = self.parameters.iter().map(|parameter| {
            let shown = json!({"type": parameter.kind.name(), "example": parameter.example, "about": parameter.about});
            (parameter.name.clone(), shown)
        });
        json!({
            "name": self.name,
            "about": self.about,
            "container": self.container,
            "sql": self.sql,
            "parameters": Value::Object(parameters.collect()),
            "partitionKey": self.partition_key,
            "index": self.index,
            "rows": self.rows,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query() -> NamedQuery {
        let parameter =
            |name: &str, kind| Parameter { name: name.to_owned(), kind, example: None, about: None };
        NamedQuery {
            name: "due".to_owned(),
            about: None,
            container: "c".to_owned(),
            sql: "SELECT * FROM c WHERE c.at <= @now AND c.n < @most".to_owned(),
            parameters: vec![
                parameter("now", ParameterType::String),
                parameter("most", ParameterType::Integer),
            ],
            partition_key: vec!["now".to_owned()],
            index: None,
            rows: None,
        }
    }

    fn bind(given: &[(&str, &str)]) -> Result<Bound, String> {
        let given = given.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        query().bind(&given).map_err(|error| error.to_string())
    }

    #[test]
    fn texts_become_values_of_the_parameters_types() {
        let bound = bind(&[("now", "5"), ("@most", "5")]).expect("both are there");
        assert_eq!(bound.parameters, [("@now".to_owned(), json!("5")), ("@most".to_owned(), json!(5))]);
        assert_eq!(bound.partition_key, [json!("5")]);
    }

    #[test]
    fn errors_name_missing_unknown_and_mistyped_parameters() {
        let refused = |given: &[(&str, &str)]| bind(given).expect_err("refused");
        assert_eq!(refused(&[]), "the query 'due' needs the parameters 'now', 'most'");
        assert_eq!(refused(&[("now", "")]), "the query 'due' needs the parameter 'most'");
        assert_eq!(
            refused(&[("now", ""), ("most", "1"), ("x", "1")]),
            "the query 'due' has no parameter 'x'; it has now, most"
        );
        assert_eq!(
            refused(&[("now", ""), ("most", "1.5")]),
            "the parameter 'most' must be of type integer, and '1.5' is not"
        );
    }

    #[test]
    fn any_type_takes_json_or_text() {
        assert_eq!(ParameterType::Any.read("[1]"), Some(json!([1])));
        assert_eq!(ParameterType::Any.read("ada"), Some(json!("ada")));
        assert_eq!(ParameterType::Boolean.read("1"), None);
        assert!("text".parse::<ParameterType>().is_err_and(|said| said.contains("string, number")));
    }
}
