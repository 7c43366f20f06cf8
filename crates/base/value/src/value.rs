//! A JSON value, extended by undefined, the value of a missing member.

use crate::build;
use crate::error::JsonError;
use crate::number::Number;
use crate::raw::escape_into;
use crate::scan::scan_value;

/// Members keep their order; values compare as in [`Value::cmp_total`].
#[derive(Clone, Debug, Default)]
pub enum Value {
    #[default]
    Undefined,
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    Array(Vec<Value>),
    Object(Vec<(String, Value)>),
}

impl Value {
    /// Parses any text, validating all of it like [`scan_value`].
    pub fn parse(text: &str) -> Result<Self, JsonError> {
        scan_value(text.as_bytes())?;
        Ok(build::value(text))
    }

    /// Parses validated text without checking it again. For other text the result is arbitrary or
    /// undefined.
    pub fn read(valid: &str) -> Self {
        build::value(valid)
    }

    pub fn is_undefined(&self) -> bool {
        matches!(self, Self::Undefined)
    }

    /// The value of a member; undefined if absent or if this is not an object.
    pub fn member(&self, name: &str) -> &Self {
        let Self::Object(members) = self else { return &Self::Undefined };
        members.iter().find(|(key, _)| key == name).map_or(&Self::Undefined, |(_, value)| value)
    }

    /// Appends the value as compact JSON. Undefined has no JSON form: alone it writes nothing, and
    /// undefined elements and members are omitted.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Undefined => {}
            Self::Null => out.extend_from_slice(b"null"),
            Self::Bool(false) => out.extend_from_slice(b"false"),
            Self::Bool(true) => out.extend_from_slice(b"true"),
            Self::Number(number) => number.write_json(out),
            Self::String(text) => escape_into(text, out),
            Self::Array(items) => write_array(items, out),
            Self::Object(members) => write_object(members, out),
        }
    }

    pub fn to_json(&self) -> String {
        let mut out = Vec::new();
        self.write_json(&mut out);
        String::from_utf8(out).expect("JSON is written from strings and ASCII")
    }
}

fn write_array(items: &[Value], out: &mut Vec<u8>) {
    out.push(b'[');
    for (i, item) in items.iter().filter(|item| !item.is_undefined()).enumerate() {
        if i > 0 {
            out.push(b',');
        }
        item.write_json(out);
    }
    out.push(b']');
}

fn write_object(members: &[(String, Value)], out: &mut Vec<u8>) {
    out.push(b'{');
    for (i, (name, value)) in members.iter().filter(|(_, value)| !value.is_undefined()).enumerate() {
        if i > 0 {
            out.push(b',');
        }
        escape_into(name, out);
        out.push(b':');
        value.write_json(out);
    }
    out.push(b'}');
}

macro_rules! from {
    ($($type:ty, $pattern:pat => $value:expr;)*) => {
        $(impl From<$type> for Value {
            fn from($pattern: $type) -> Self {
                $value
            }
        })*
    };
}

from! {
    bool, it => Self::Bool(it);
    i64, it => Self::Number(Number::Int(it));
    f64, it => Self::Number(Number::Float(it));
    &str, it => Self::String(it.to_owned());
    String, it => Self::String(it);
    Vec<Value>, it => Self::Array(it);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(Value::parse(text).unwrap().to_json(), expected);
    }

    #[test]
    fn text_is_read_and_written_compactly() {
        check(" [ 1.0 , -0.0, true,false , null ] ", "[1,0,true,false,null]");
        check(
            r#"{"b":9007199254740993,"a\u0062":{"x":[]},"":""}"#,
            r#"{"b":9007199254740993,"ab":{"x":[]},"":""}"#,
        );
        check(r#""\ud800\ud83d\ude80""#, "\"\u{fffd}🚀\"");
        check("[[],{},[{}]]", "[[],{},[{}]]");
    }

    #[test]
    fn bad_text_is_refused() {
        for text in ["", "undefined", "[1,]", "{\"a\":1,\"a\":2}", "1e999", "[", "\"\\ud8\"", "NaN"] {
            assert!(Value::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn undefined_is_left_out_of_text() {
        let object = vec![("a".to_owned(), Value::Undefined), ("b".to_owned(), Value::from(1i64))];
        let value = Value::Array(vec![Value::Undefined, Value::Object(object), Value::Undefined]);
        assert_eq!(value.to_json(), r#"[{"b":1}]"#);
        assert_eq!(Value::Undefined.to_json(), "");
    }

    #[test]
    fn a_missing_member_is_undefined() {
        let value = Value::parse(r#"{"a":null}"#).unwrap();
        assert!(matches!(value.member("a"), Value::Null));
        assert!(value.member("b").is_undefined());
        assert!(value.member("a").member("b").is_undefined());
    }

    #[test]
    fn unchecked_reading_of_bad_text_ends() {
        for text in ["", "[", "{\"a\"", "[1,,2]", "{\"a\":}", "\"", "\u{fffd}", &"[".repeat(100_000)] {
            let _ = Value::read(text);
        }
    }
}
