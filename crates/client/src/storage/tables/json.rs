//! Entities as JSON, and back, without loss: what JSON cannot say exactly is a text with a type beside it.
//!
//! ```text
//! {"PartitionKey":"p","RowKey":"r","n":1,"big@odata.type":"Edm.Int64","big":"5"}
//! ```
//!
//! Numbers are read from their text: one without a point or an exponent is an Int32, or an Int64 if it is too large for
//! that; any other is a Double, to its last digit.

use super::entity::{Entity, FoundEntity};
use crate::storage::error::StorageError;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use orrery_tables::entity::{PARTITION_KEY, ROW_KEY, TIMESTAMP};
use orrery_tables::{DateTime, EdmType, Guid, Ticks, Value};
use orrery_value::raw::{self, escape_into, unescape};
use orrery_value::{scan_object, scan_value, utf8};
use std::borrow::Cow;

const TYPE: &str = "@odata.type";
const ETAG: &str = "odata.etag";

pub fn write_entity(entity: &Entity) -> Vec<u8> {
    let mut out = Vec::new();
    out.push(b'{');
    push_text(&mut out, PARTITION_KEY, &entity.partition_key);
    out.push(b',');
    push_text(&mut out, ROW_KEY, &entity.row_key);
    for (name, value) in &entity.properties {
        out.push(b',');
        push_property(&mut out, name, value);
    }
    out.push(b'}');
    out
}

/// An entity as people and files write it: as it travels, with types where JSON leaves them open. `Timestamp` and `odata.…`
/// are passed over, so that what was shown can be written again.
pub fn parse_entity(text: &str) -> Result<Entity, StorageError> {
    let refuse = |why: String| StorageError::Invalid(why);
    let object =
        scan_object(text.as_bytes()).map_err(|error| refuse(format!("it is no JSON object: {error}")));
    object?;
    let found = read_members(text).map_err(|error| match error {
        StorageError::NotUnderstood(why) => refuse(why),
        other => other,
    })?;
    let key = |name: &str, key: Option<String>| {
        key.ok_or_else(|| refuse(format!("it has no {name}, which is a text")))
    };
    Ok(Entity {
        partition_key: key(PARTITION_KEY, found.partition_key)?,
        row_key: key(ROW_KEY, found.row_key)?,
        properties: found.properties,
    })
}

/// An entity as it was found, on one line.
pub fn print_entity(entity: &FoundEntity) -> String {
    let mut out = vec![b'{'];
    let timestamp = entity.timestamp.map(|at| at.to_string());
    let system = [
        (ETAG, entity.etag.as_deref()),
        (PARTITION_KEY, entity.partition_key.as_deref()),
        (ROW_KEY, entity.row_key.as_deref()),
        (TIMESTAMP, timestamp.as_deref()),
    ];
    for (name, text) in system {
        if let Some(text) = text {
            separate(&mut out);
            push_text(&mut out, name, text);
        }
    }
    for (name, value) in &entity.properties {
        separate(&mut out);
        push_property(&mut out, name, value);
    }
    out.push(b'}');
    String::from_utf8(out).expect("JSON of texts is a text")
}

fn separate(out: &mut Vec<u8>) {
    if out.last() != Some(&b'{') {
        out.push(b',');
    }
}

fn push_text(out: &mut Vec<u8>, name: &str, text: &str) {
    escape_into(name, out);
    out.push(b':');
    escape_into(text, out);
}

fn push_property(out: &mut Vec<u8>, name: &str, value: &Value) {
    if !matches!(value, Value::String(_) | Value::Boolean(_) | Value::Int32(_)) {
        push_text(out, &format!("{name}{TYPE}"), value.edm_type().name());
        out.push(b',');
    }
    escape_into(name, out);
    out.push(b':');
    out.extend_from_slice(value_json(value).as_bytes());
}

/// A value as JSON: exact beside its type.
pub fn value_json(value: &Value) -> String {
    let text = match value {
        Value::Boolean(value) => return value.to_string(),
        Value::Int32(value) => return value.to_string(),
        // With a point or an exponent, always.
        Value::Double(value) if value.is_finite() => return format!("{value:?}"),
        Value::Double(value) if value.is_nan() => "NaN".to_owned(),
        Value::Double(value) => if *value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
        Value::Int64(value) => value.to_string(),
        Value::String(text) => text.clone(),
        Value::DateTime(value) => value.text().to_owned(),
        Value::Guid(value) => value.to_string(),
        Value::Binary(bytes) => STANDARD.encode(bytes),
    };
    let mut out = Vec::with_capacity(text.len() + 2);
    escape_into(&text, &mut out);
    String::from_utf8(out).expect("JSON of a text is a text")
}

/// `{"value":[{"TableName":"x"},…]}`
pub fn table_names(body: &[u8]) -> Result<Vec<String>, StorageError> {
    let page = page(body)?;
    let names = raw::elements(page).map(|table| {
        let name = raw::member(table, "TableName").and_then(text_of);
        name.map(Cow::into_owned).ok_or_else(|| StorageError::not_understood("a table has no name"))
    });
    names.collect()
}

/// `{"value":[{…},…]}`
pub fn read_entities(body: &[u8]) -> Result<Vec<FoundEntity>, StorageError> {
    raw::elements(page(body)?).map(read_members).collect()
}

pub fn read_entity(body: &[u8]) -> Result<FoundEntity, StorageError> {
    read_members(checked(body)?)
}

fn checked(body: &[u8]) -> Result<&str, StorageError> {
    scan_value(body).map_err(StorageError::not_understood)?;
    utf8(body).map_err(StorageError::not_understood)
}

fn page(body: &[u8]) -> Result<&str, StorageError> {
    raw::member(checked(body)?, "value").ok_or_else(|| StorageError::not_understood("a page has no rows"))
}

fn read_members(object: &str) -> Result<FoundEntity, StorageError> {
    let members: Vec<(Cow<'_, str>, &str)> =
        raw::members(object).map(|(name, value)| (unescape(name), value.trim())).collect();
    let type_of = |property: &str| {
        let annotation = members.iter().find(|(name, _)| name.strip_suffix(TYPE) == Some(property));
        annotation.map(|(_, token)| text_of(token).and_then(|name| EdmType::parse(&name)))
    };
    let mut found = FoundEntity::default();
    for (name, token) in &members {
        let text = || text_of(token).map(Cow::into_owned);
        match &**name {
            PARTITION_KEY => found.partition_key = text(),
            ROW_KEY => found.row_key = text(),
            TIMESTAMP => found.timestamp = text().as_deref().and_then(Ticks::parse),
            ETAG => found.etag = text(),
            name if name.contains('@') || name.starts_with("odata.") || *token == "null" => {}
            name => {
                let value = read_value(token, type_of(name));
                let value = value.ok_or_else(|| {
                    StorageError::not_understood(format!("the property '{name}' is not of its type"))
                })?;
                found.properties.push((name.to_owned(), value));
            }
        }
    }
    Ok(found)
}

/// The type is `None` where there is no annotation, and `Some(None)` where there is one that is not known.
fn read_value(token: &str, annotated: Option<Option<EdmType>>) -> Option<Value> {
    let text = text_of(token);
    let word = text.as_deref().unwrap_or(token);
    let edm_type = match annotated {
        Some(known) => known?,
        None => implied(token),
    };
    Some(match edm_type {
        EdmType::String => Value::String(text?.into_owned()),
        EdmType::Boolean => Value::Boolean(word.parse().ok()?),
        EdmType::Int32 => Value::Int32(word.parse().ok()?),
        EdmType::Int64 => Value::Int64(word.parse().ok()?),
        EdmType::Double => Value::Double(word.parse().ok()?),
        EdmType::DateTime => Value::DateTime(DateTime::parse(word)?),
        EdmType::Guid => Value::Guid(Guid::parse(word)?),
        EdmType::Binary => Value::Binary(Bytes::from(STANDARD.decode(word).ok()?)),
    })
}

fn implied(token: &str) -> EdmType {
    match token.as_bytes() {
        [b't' | b'f', ..] => EdmType::Boolean,
        [b'-' | b'0'..=b'9', ..] if token.contains(['.', 'e', 'E']) => EdmType::Double,
        [b'-' | b'0'..=b'9', ..] if token.parse::<i32>().is_ok() => EdmType::Int32,
        [b'-' | b'0'..=b'9', ..] => EdmType::Int64,
        _ => EdmType::String,
    }
}

/// The string that a token is, if it is one.
fn text_of(token: &str) -> Option<Cow<'_, str>> {
    token.trim().strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).map(unescape)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(entity: &Entity) -> FoundEntity {
        read_entity(&write_entity(entity)).expect("what is written can be read")
    }

    #[test]
    fn every_value_comes_back_as_it_was() {
        let date = |text: &str| Value::DateTime(DateTime::parse(text).expect(text));
        let values = [
            Value::String("é\"\\\n🚀".to_owned()),
            Value::String(String::new()),
            Value::Boolean(true),
            Value::Int32(i32::MIN),
            Value::Int64(i64::MIN),
            Value::Int64(7),
            Value::Double(1.0),
            Value::Double(0.1 + 0.2),
            Value::Double(f64::MIN_POSITIVE),
            Value::Double(1e300),
            Value::Double(-0.0),
            Value::Double(f64::INFINITY),
            Value::Double(f64::NEG_INFINITY),
            date("2026-11-15T00:59:26.3287118Z"),
            date("1601-01-01T00:00:00Z"),
            Value::Guid(Guid::from_u128(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef)),
            Value::Binary(Bytes::from_static(&[0, 255, 128])),
        ];
        let names = (0..).map(|at| format!("p{at}"));
        let properties: Vec<(String, Value)> = names.zip(values).collect();
        let entity = Entity { properties, ..Entity::new("p'1", "") };
        let read = found(&entity);
        assert_eq!((read.partition_key.as_deref(), read.row_key.as_deref()), (Some("p'1"), Some("")));
        assert_eq!(read.properties, entity.properties);
        let not_a_number = found(&Entity::new("p", "r").property("n", Value::Double(f64::NAN)));
        assert!(matches!(not_a_number.get("n"), Some(Value::Double(value)) if value.is_nan()));
    }

    #[test]
    fn an_answer_has_its_version_and_its_types_before_or_after_values() {
        let body = r#" {"odata.metadata":"m", "odata.etag":"W/\"1\"","PartitionKey":"p","Timestamp":"2026-11-15T00:59:26.3287118Z",
            "big":"5","big@odata.type":"Edm.Int64","d":1.0,"n":3000000000,"gone":null,"e":1E3 } "#;
        let found = read_entity(body.as_bytes()).expect("an entity");
        assert_eq!((found.etag.as_deref(), found.row_key.clone()), (Some("W/\"1\""), None));
        assert_eq!(found.timestamp.map(|at| at.to_string()).as_deref(), Some("2026-11-15T00:59:26.3287118Z"));
        let expected = [
            ("big", Value::Int64(5)),
            ("d", Value::Double(1.0)),
            ("n", Value::Int64(3_000_000_000)),
            ("e", Value::Double(1000.0)),
        ];
        assert_eq!(found.properties, expected.map(|(name, value)| (name.to_owned(), value)));
    }

    #[test]
    fn what_is_shown_can_be_written_again() {
        let text = r#"{"odata.etag":"W/\"1\"","PartitionKey":"p","RowKey":"","Timestamp":"2026-11-15T00:59:26.3287118Z","big@odata.type":"Edm.Int64","big":"5","n":1}"#;
        let found = read_entity(text.as_bytes()).expect("an entity");
        assert_eq!(print_entity(&found), text);
        let entity = parse_entity(text).expect("an entity");
        assert_eq!((entity.partition_key.as_str(), entity.row_key.as_str()), ("p", ""));
        assert_eq!(entity.properties, found.properties);
        assert_eq!(print_entity(&FoundEntity::default()), "{}");
    }

    #[test]
    fn what_is_no_entity_is_refused_with_the_reason() {
        let check = |text: &str, fragment: &str| match parse_entity(text) {
            Err(StorageError::Invalid(why)) => assert!(why.contains(fragment), "{text}: {why}"),
            other => panic!("{text}: {other:?}"),
        };
        check("7", "no JSON object");
        check("{", "no JSON object");
        check("{}", "PartitionKey");
        check(r#"{"PartitionKey":"p","RowKey":5}"#, "RowKey");
        check(r#"{"PartitionKey":"p","RowKey":"r","a":{}}"#, "'a'");
        check(r#"{"PartitionKey":"p","RowKey":"r","a@odata.type":"Edm.Guid","a":"x"}"#, "'a'");
    }

    #[test]
    fn pages_are_read_row_by_row() {
        let body = br#"{"odata.metadata":"m","value":[{"PartitionKey":"a"},{"PartitionKey":"b"}]}"#;
        let keys: Vec<_> =
            read_entities(body).expect("a page").into_iter().map(|row| row.partition_key).collect();
        assert_eq!(keys, [Some("a".to_owned()), Some("b".to_owned())]);
        assert_eq!(table_names(br#"{"value":[{"TableName":"t"}]}"#), Ok(vec!["t".to_owned()]));
    }

    #[test]
    fn what_is_no_answer_is_not_understood() {
        for body in
            ["", "{", r#"{"n@odata.type":"Edm.Int64","n":"x"}"#, r#"{"n@odata.type":"Edm.New","n":"1"}"#]
        {
            assert!(matches!(read_entity(body.as_bytes()), Err(StorageError::NotUnderstood(_))), "{body}");
        }
        assert!(read_entities(b"{}").is_err() && table_names(br#"{"value":[{}]}"#).is_err());
    }
}
