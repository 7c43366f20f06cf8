//! Decodes the body of a batch into operations.
//!
//! A malformed list fails the whole request; a malformed operation fails only itself.

use crate::failure::Failure;
use orrery_core::{ETag, limits};
use orrery_document_store::{BatchOperation, OperationKind as Kind};
use orrery_documents::item::{Preconditions, TagMatch};
use orrery_value::{Value, raw};

/// The operations of a scanned body.
pub fn operations(text: &str) -> Result<Vec<BatchOperation<'_>>, Failure> {
    if !text.trim_ascii_start().starts_with('[') {
        return Err(Failure::bad_request("The body of a batch is a JSON array of operations."));
    }
    let listed: Vec<&str> = raw::elements(text).take(limits::BATCH_OPERATIONS_MAX + 1).collect();
    if listed.len() > limits::BATCH_OPERATIONS_MAX {
        let max = limits::BATCH_OPERATIONS_MAX;
        return Err(Failure::bad_request(format!(
            "Batch request has more operations than what is supported. At most {max} fit; split it into several."
        )));
    }
    if listed.is_empty() {
        return Err(Failure::bad_request("Batch request has no operations."));
    }
    listed.into_iter().enumerate().map(|(index, text)| operation(index, text)).collect()
}

const MEMBERS: [&str; 6] = ["operationType", "id", "partitionKey", "ifMatch", "ifNoneMatch", "resourceBody"];

fn operation(index: usize, text: &str) -> Result<BatchOperation<'_>, Failure> {
    let [named, id, partition, if_match, if_none_match, body] = raw::members_named(text, MEMBERS);
    let string = |name: &str, found: Option<&str>| match found.map(Value::read) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(malformed(index, &format!("its '{name}' is not a string"))),
    };
    let named = string("operationType", named)?.unwrap_or_default();
    let kind = match named.to_ascii_lowercase().as_str() {
        "create" => Kind::Create,
        "upsert" => Kind::Upsert,
        "read" => Kind::Read,
        "replace" => Kind::Replace,
        "delete" => Kind::Delete,
        "patch" => Kind::Patch,
        _ => {
            let choices = "its 'operationType' is not Create, Upsert, Read, Replace, Delete or Patch";
            return Err(malformed(index, choices));
        }
    };
    let id = string("id", id)?;
    if id.is_none() && !matches!(kind, Kind::Create | Kind::Upsert) {
        return Err(malformed(index, "it has no 'id'"));
    }
    let body = body.filter(|body| *body != "null");
    if body.is_none() && !matches!(kind, Kind::Read | Kind::Delete) {
        return Err(malformed(index, "it has no 'resourceBody'"));
    }
    let conditions = Preconditions {
        if_match: string("ifMatch", if_match)?.as_deref().and_then(tag),
        if_none_match: string("ifNoneMatch", if_none_match)?.as_deref().and_then(tag),
    };
    Ok(BatchOperation { kind, id, body, conditions, partition_key: partition.and_then(key) })
}

fn malformed(index: usize, what: &str) -> Failure {
    Failure::bad_request(format!("The operation {index} of the batch cannot be read: {what}."))
}

fn tag(text: &str) -> Option<TagMatch> {
    match text.trim() {
        "" => None,
        "*" => Some(TagMatch::Any),
        text => Some(TagMatch::Tag(ETag::parse(text))),
    }
}

/// A string containing a JSON array; the array itself is accepted too.
fn key(text: &str) -> Option<String> {
    match text {
        "null" => None,
        quoted if quoted.starts_with('"') => match Value::read(quoted) {
            Value::String(text) => Some(text),
            _ => None,
        },
        other => Some(other.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        operations(text).err().map(|failure| failure.message).unwrap_or_default()
    }

    #[test]
    fn an_operation_is_read_whatever_its_letters_case() {
        let found = operations(
            r#" [ {"operationType":"Read","id":"a","ifNoneMatch":"*","partitionKey":"[\"p\"]"},
                  {"operationType":"create","resourceBody":{"id":"b"}, "id":null, "ifMatch":null},
                  {"operationType":"DELETE","id":"c","partitionKey":["p"],"ifMatch":"\"x\""} ] "#,
        )
        .unwrap();
        assert_eq!(
            found.iter().map(|op| op.kind).collect::<Vec<_>>(),
            [Kind::Read, Kind::Create, Kind::Delete]
        );
        assert_eq!(found[0].conditions.if_none_match, Some(TagMatch::Any));
        assert_eq!(
            (found[0].partition_key.as_deref(), found[2].partition_key.as_deref()),
            (Some(r#"["p"]"#), Some(r#"["p"]"#))
        );
        assert_eq!((found[1].body, found[1].conditions.if_match), (Some(r#"{"id":"b"}"#), None));
        assert_eq!(found[2].conditions.if_match, Some(TagMatch::Tag(None)), "a tag that no version has");
    }

    #[test]
    fn a_malformed_list_is_refused_as_a_whole() {
        let cases = [
            ("{}", "JSON array"),
            ("[]", "no operations"),
            ("[1]", "operation 0"),
            (
                r#"[{"operationType":"Create","resourceBody":{}},{"operationType":"Move","id":"a"}]"#,
                "operation 1",
            ),
            (r#"[{"operationType":7}]"#, "not a string"),
            (r#"[{"operationType":"Read"}]"#, "no 'id'"),
            (r#"[{"operationType":"Read","id":7}]"#, "'id' is not a string"),
            (r#"[{"operationType":"Replace","id":"a"}]"#, "no 'resourceBody'"),
            (r#"[{"operationType":"Patch","id":"a","resourceBody":null}]"#, "no 'resourceBody'"),
        ];
        for (text, fragment) in cases {
            assert!(refused(text).contains(fragment), "{text}: {}", refused(text));
        }
        let read = r#"{"operationType":"Read","id":"a"}"#;
        let list = |count: usize| format!("[{}]", vec![read; count].join(","));
        assert_eq!(operations(&list(100)).map(|found| found.len()).unwrap_or_default(), 100);
        assert!(refused(&list(101)).contains("more operations than what is supported"));
    }
}
