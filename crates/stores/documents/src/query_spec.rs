//! A query as sent: its text, its parameters, and where an ORDER BY resumes (wire guide §17.1, §17.6).

use crate::error::Error;
use orrery_core::ItemRid;
use orrery_query::execute::ResumeFilter;
use orrery_query::limits;
use orrery_query::parse::{OrderBy, Query, print};
use orrery_value::Value;

#[derive(Clone, Debug)]
pub struct QuerySpec {
    pub text: String,
    /// Each name with its `@`.
    pub parameters: Vec<(String, Value)>,
    pub resume: Option<ResumeFilter>,
}

impl QuerySpec {
    pub fn parse(body: &[u8]) -> Result<Self, Error> {
        orrery_core::tour_step!();
        let refused = |why: String| Error::Invalid(format!("The query's body is invalid: {why}."));
        let text = orrery_value::utf8(body).map_err(|error| refused(error.to_string()))?;
        let body = Value::parse(text).map_err(|error| refused(error.to_string()))?;
        let Value::String(text) = body.member("query") else {
            return Err(refused("it has no member 'query' with the text of the query".to_owned()));
        };
        if text.len() > limits::QUERY_TEXT_BYTES_MAX {
            let max = limits::QUERY_TEXT_BYTES_MAX / 1024;
            return Err(refused(format!("the query is longer than {max} KB; pass values as parameters")));
        }
        let parameters = parameters(body.member("parameters")).map_err(refused)?;
        let resume = resume(body.member("resumeFilter")).map_err(refused)?;
        Ok(Self { text: text.clone(), parameters, resume })
    }

    /// A fingerprint of the query, so that a continuation token is not used for another one. A client that resumes an
    /// ORDER BY may send a narrower filter with the token (wire guide §28), so the filter is not part of it there: the
    /// position is a sort key, which means the same under any filter.
    pub fn fingerprint(&self, query: &Query) -> u32 {
        if !matches!(&query.order_by, OrderBy::Keys(keys) if !keys.is_empty()) {
            return self.fingerprint_of("");
        }
        let text = print(&Query { filter: None, ..query.clone() });
        let used = self.parameters.iter().filter(|(name, _)| mentions(&text, name));
        fingerprint("", &text, used)
    }

    /// A fingerprint of a query over one of several lists.
    pub fn fingerprint_of(&self, list: &str) -> u32 {
        fingerprint(list, &self.text, self.parameters.iter())
    }
}

fn fingerprint<'a>(list: &str, text: &str, parameters: impl Iterator<Item = &'a (String, Value)>) -> u32 {
    let mut hash = FNV_OFFSET;
    let mut add = |bytes: &[u8]| hash = fnv1a_on(fnv1a_on(hash, bytes), &[0xff]);
    add(list.as_bytes());
    add(text.as_bytes());
    for (name, value) in parameters {
        add(name.as_bytes());
        add(value.to_json().as_bytes());
    }
    hash
}

const FNV_OFFSET: u32 = 0x811c_9dc5;

/// A 32-bit FNV-1a hash.
pub(crate) fn fnv1a(bytes: &[u8]) -> u32 {
    fnv1a_on(FNV_OFFSET, bytes)
}

fn fnv1a_on(hash: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// Whether a text contains a parameter's name as a whole word.
fn mentions(text: &str, name: &str) -> bool {
    let ends = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
    text.match_indices(name).any(|(at, _)| ends(&text[at + name.len()..]))
}

fn parameters(list: &Value) -> Result<Vec<(String, Value)>, String> {
    let list = match list {
        Value::Undefined | Value::Null => return Ok(Vec::new()),
        Value::Array(list) => list,
        _ => return Err("its 'parameters' are not an array".to_owned()),
    };
    let mut parameters: Vec<(String, Value)> = Vec::with_capacity(list.len());
    let mut seen = std::collections::HashSet::new();
    for parameter in list {
        let Value::String(name) = parameter.member("name") else {
            return Err("a parameter has no name".to_owned());
        };
        if !name.starts_with('@') || name.len() == 1 {
            return Err(format!("the parameter name '{name}' does not begin with @"));
        }
        if !seen.insert(name) {
            return Err(format!("the parameter '{name}' is there twice"));
        }
        parameters.push((name.clone(), parameter.member("value").clone()));
    }
    Ok(parameters)
}

fn resume(filter: &Value) -> Result<Option<ResumeFilter>, String> {
    if matches!(filter, Value::Undefined | Value::Null) {
        return Ok(None);
    }
    let Value::Array(values) = filter.member("value") else {
        return Err("its 'resumeFilter' has no array 'value'".to_owned());
    };
    // An empty array stands for undefined.
    let value = |value: &Value| match value {
        Value::Array(items) if items.is_empty() => Value::Undefined,
        other => other.clone(),
    };
    let ordinal = match filter.member("rid") {
        Value::String(rid) => {
            let rid =
                ItemRid::parse(rid).map_err(|_| format!("the rid '{rid}' of its 'resumeFilter' is none"))?;
            Some(rid.ordinal())
        }
        _ => None,
    };
    let exclude = matches!(filter.member("exclude"), Value::Bool(true));
    Ok(Some(ResumeFilter { values: values.iter().map(value).collect(), ordinal, exclude }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_parameters_are_read() {
        let body = br#"{"query":"SELECT 1","parameters":[{"name":"@a","value":[1]},{"name":"@b"}]}"#;
        let body = QuerySpec::parse(body).expect("a body");
        assert_eq!(body.text, "SELECT 1");
        assert_eq!(body.parameters[0].1.to_json(), "[1]");
        assert!(body.parameters[1].1.is_undefined(), "a parameter without a value is undefined");
        assert!(QuerySpec::parse(br#"{"query":"SELECT 1","parameters":null}"#).is_ok());
    }

    #[test]
    fn other_bodies_are_refused() {
        let refused = [
            "",
            "[]",
            "{}",
            r#"{"query":1}"#,
            r#"{"query":"x","parameters":{}}"#,
            r#"{"query":"x","parameters":[{"value":1}]}"#,
            r#"{"query":"x","parameters":[{"name":"a","value":1}]}"#,
            r#"{"query":"x","parameters":[{"name":"@a","value":1},{"name":"@a","value":2}]}"#,
            r#"{"query":"x","resumeFilter":{}}"#,
            r#"{"query":"x","resumeFilter":{"value":[1],"rid":"!"}}"#,
        ];
        for body in refused {
            let refused = QuerySpec::parse(body.as_bytes());
            assert!(matches!(refused, Err(Error::Invalid(_))), "{body}");
        }
        let long = format!(r#"{{"query":"{}"}}"#, " ".repeat(limits::QUERY_TEXT_BYTES_MAX + 1));
        assert!(QuerySpec::parse(long.as_bytes()).is_err());
    }

    fn question(body: &str) -> u32 {
        let body = QuerySpec::parse(body.as_bytes()).expect("a body");
        body.fingerprint(&orrery_query::parse::parse(&body.text).expect("a query"))
    }

    #[test]
    fn other_parameters_make_another_question() {
        let text = "SELECT * FROM c WHERE c.a = @a";
        let asked =
            |value: i32| format!(r#"{{"query":"{text}","parameters":[{{"name":"@a","value":{value}}}]}}"#);
        assert_eq!(question(&asked(1)), question(&asked(1)));
        assert_ne!(question(&asked(1)), question(&asked(2)));
        assert_ne!(question(&asked(1)), question(&asked(1).replace("c.a", "c.b")));
        let body = QuerySpec::parse(br#"{"query":"x"}"#).expect("a body");
        assert_ne!(body.fingerprint_of("Databases"), body.fingerprint_of("Offers"));
    }

    #[test]
    fn under_an_order_the_filter_is_no_part_of_the_question() {
        let asked = |text: &str, parameter: &str, value: i32| {
            let parameters = format!(r#"[{{"name":"{parameter}","value":{value}}}]"#);
            question(&format!(r#"{{"query":"{text}","parameters":{parameters}}}"#))
        };
        let first = asked("SELECT c.id FROM c WHERE (true) ORDER BY c.n", "@a", 1);
        assert_eq!(first, asked("SELECT c.id FROM c WHERE ((c.n >= 1)) ORDER BY c.n", "@a", 1));
        assert_eq!(first, asked("SELECT c.id FROM c WHERE c.n > @a ORDER BY c.n", "@a", 2));
        assert_ne!(first, asked("SELECT c.id FROM c WHERE (true) ORDER BY c.n DESC", "@a", 1));
        assert_ne!(first, asked("SELECT c.id FROM c WHERE (true) ORDER BY c.m", "@a", 1));
        assert_ne!(first, asked("SELECT c.n FROM c WHERE (true) ORDER BY c.n", "@a", 1));
        let shown = "SELECT @a AS a, @ab AS ab FROM c ORDER BY c.n";
        assert_ne!(asked(shown, "@a", 1), asked(shown, "@a", 2));
        let shown = "SELECT @ab AS ab FROM c ORDER BY c.n";
        assert_eq!(asked(shown, "@a", 1), asked(shown, "@a", 2), "a name is known only whole");
        let unordered = |filter| asked(&format!("SELECT c.id FROM c WHERE {filter}"), "@a", 1);
        assert_ne!(unordered("true"), unordered("c.n >= 1"));
    }
}
