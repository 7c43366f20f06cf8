//! Entities in and out, in `cases/json`.
//!
//! ```text
//! read {"a":1}                what a client sends
//! is 'p' 'r' | a Int32 1      the keys in quotes, `-` for one that is missing, and the properties with their types
//! error …                     or why it is refused
//! none {…}                    what is answered at each level, of what was read last, …
//! minimal {…}
//! full {…}
//! select a,RowKey             … of these properties alone
//! ```
//!
//! Answers are for the table `t` of the account `a` at `http://h/a`; the entity was written at `2026-11-15T00:59:26.3287118Z`.

use super::*;
use orrery_tables::{Entity, EntityKey, Ticks, ValueRef};
use orrery_testing_golden::{case_files, lines};
use std::path::Path;

#[test]
fn every_case_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/json");
    let (mut checked, mut failures) = (0, Vec::new());
    for file in case_files(&folder, "case") {
        let text = std::fs::read_to_string(&file).expect("a case file is readable");
        let (mut body, mut select) = (String::new(), None);
        for line in lines(&text) {
            let place = format!("{}:{}", file.display(), line.from + 1);
            let level = match line.keyword.as_str() {
                "read" => {
                    (body, select) = (line.text, None);
                    continue;
                }
                "select" => {
                    select = Some(line.text.split(',').map(str::to_owned).collect::<Vec<_>>());
                    continue;
                }
                "is" | "error" => None,
                "none" => Some(Level::None),
                "minimal" => Some(Level::Minimal),
                "full" => Some(Level::Full),
                other => panic!("{place}: what is '{other}'?"),
            };
            let (got, expected) = match level {
                None => (told(&body), format!("{} {}", line.keyword, line.text)),
                Some(level) => (written(&body, level, select.as_deref()), line.text),
            };
            checked += 1;
            if got != expected {
                failures.push(format!("{place}: expected {expected}\n  got {got}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(checked >= 50, "only {checked} cases were found");
}

fn stored(body: &str) -> Result<(Option<String>, Option<String>, Entity), InvalidBody> {
    let read = read_entity(body.as_bytes())?;
    let key = EntityKey::parse("p", "r").expect("a key");
    Ok((read.partition_key, read.row_key, read.properties.finish(key)?))
}

fn told(body: &str) -> String {
    let (partition_key, row_key, entity) = match stored(body) {
        Ok(read) => read,
        Err(error) => return format!("error {error}"),
    };
    let key = |key: Option<String>| key.map_or_else(|| "-".to_owned(), |key| format!("'{key}'"));
    let mut told = format!("is {} {} |", key(partition_key), key(row_key));
    for (name, value) in entity.properties() {
        let shown = match value {
            ValueRef::String(text) => format!("{text:?}"),
            ValueRef::Boolean(value) => value.to_string(),
            ValueRef::Int32(value) => value.to_string(),
            ValueRef::Int64(value) => value.to_string(),
            ValueRef::Double(value) => format!("{value:?}"),
            ValueRef::DateTime(value) => value.text().to_owned(),
            ValueRef::Guid(value) => value.to_string(),
            ValueRef::Binary(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        };
        told.push_str(&format!(" {name} {} {shown}", &value.edm_type().name()[4..]));
    }
    told.trim_end().to_owned()
}

fn written(body: &str, level: Level, select: Option<&[String]>) -> String {
    let (_, _, stored) = stored(body).expect("a body");
    let shown = Shown {
        partition_key: "p",
        row_key: "r",
        timestamp: Ticks::parse("2026-11-15T00:59:26.3287118Z").expect("a moment"),
        properties: stored.properties(),
    };
    let answer = Answer { level, base_url: "http://h/a", account: "a", select };
    String::from_utf8(entity(&answer, "t", &shown).to_vec()).expect("JSON is text")
}

#[test]
fn tables_are_written_at_each_level() {
    let answer = |level| Answer { level, base_url: "http://h/a", account: "a", select: None };
    let text = |bytes: bytes::Bytes| String::from_utf8(bytes.to_vec()).expect("JSON is text");
    let list = |level| text(tables(&answer(level), ["runs", "Logs"].into_iter()));
    assert_eq!(list(Level::None), r#"{"value":[{"TableName":"runs"},{"TableName":"Logs"}]}"#);
    assert_eq!(
        list(Level::Minimal),
        r#"{"odata.metadata":"http://h/a/$metadata#Tables","value":[{"TableName":"runs"},{"TableName":"Logs"}]}"#
    );
    let one = text(table(&answer(Level::Full), "runs"));
    assert_eq!(
        one,
        r#"{"odata.metadata":"http://h/a/$metadata#Tables/@Element","odata.type":"a.Tables","odata.id":"http://h/a/Tables('runs')","odata.editLink":"Tables('runs')","TableName":"runs"}"#
    );
    assert_eq!(text(tables(&answer(Level::None), std::iter::empty())), r#"{"value":[]}"#);
}
