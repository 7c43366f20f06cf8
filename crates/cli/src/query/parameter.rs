//! `--param @name=JSON`: one value for the query to use.

use crate::blueprints::Named;
use orrery_value::Value;

#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// With its `@`.
    pub name: String,
    /// Undefined when it came without a value.
    pub value: Value,
}

/// The flags of a query that was written out.
pub fn parse_all(texts: &[String]) -> Result<Vec<Parameter>, String> {
    texts.iter().map(|text| parse(text)).collect()
}

/// The flags of a named query, whose blueprint says what their texts mean.
pub fn split_all(texts: &[String]) -> Result<Vec<(String, String)>, String> {
    let split = |text: &String| match text.split_once('=') {
        Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
        None => Err(format!("a parameter is name=value, and '{text}' is not")),
    };
    texts.iter().map(split).collect()
}

pub fn of_named(named: &Named) -> Result<Vec<Parameter>, String> {
    let of = |(name, value): &(String, serde_json::Value)| {
        Ok(Parameter { name: name.clone(), value: json_value(&value.to_string())? })
    };
    named.parameters.iter().map(of).collect()
}

pub fn parse(text: &str) -> Result<Parameter, String> {
    let (name, value) = match text.split_once('=') {
        Some((name, json)) => (name, json_value(json)?),
        None => (text, Value::Undefined),
    };
    match name.strip_prefix('@') {
        None | Some("") => Err(format!("a parameter is @name=JSON, and '{name}' is not a name with an @")),
        Some(_) => Ok(Parameter { name: name.to_owned(), value }),
    }
}

fn json_value(json: &str) -> Result<Value, String> {
    Value::parse(json).map_err(|error| {
        format!("'{json}' is not JSON ({error}); a string has quotes of its own, as in '@name=\"text\"'")
    })
}

/// As the binder takes them.
pub fn bound(parameters: &[Parameter]) -> Vec<(String, Value)> {
    parameters.iter().map(|parameter| (parameter.name.clone(), parameter.value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, name: &str, json: &str) {
        let parameter = parse(text).expect(text);
        assert_eq!((parameter.name.as_str(), parameter.value.to_json().as_str()), (name, json), "{text}");
    }

    #[test]
    fn a_parameter_is_a_name_and_json() {
        check("@a=5", "@a", "5");
        check("@a=\"b=c\"", "@a", "\"b=c\"");
        check("@list=[1, {\"x\": null}]", "@list", "[1,{\"x\":null}]");
        check("@a", "@a", "");
        assert!(parse("@a").is_ok_and(|parameter| parameter.value.is_undefined()));
    }

    #[test]
    fn what_is_no_parameter_is_told_apart() {
        for (text, fragment) in [("a=1", "not a name"), ("@=1", "not a name"), ("", "not a name")] {
            assert!(parse(text).is_err_and(|sentence| sentence.contains(fragment)), "{text}");
        }
        assert!(parse("@a=text").is_err_and(|sentence| sentence.contains("quotes of its own")));
        assert!(parse("@a=").is_err_and(|sentence| sentence.contains("not JSON")));
    }
}
