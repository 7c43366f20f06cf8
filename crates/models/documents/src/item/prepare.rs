//! From the bytes that arrived to an item ready to be stored: everything that needs no lock.

use super::record::{self, Ttl};
use crate::catalog::Container;
use orrery_core::{InvalidName, ItemId, limits};
use orrery_keys::{Direction, Epk, KeyBuf, epk};
use orrery_value::{JsonError, Member, Span, Value, raw, scan_object};

/// A checked item: its place, its row without stamps, and the keys of its unique values.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub id: ItemId,
    pub epk: Epk,
    pub(super) row: Vec<u8>,
    pub(super) unique: Vec<Vec<u8>>,
}

#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    #[error("the body is not a JSON object: {0}")]
    Json(#[from] JsonError),
    #[error("the item is {0} bytes; the largest item is {max} bytes", max = limits::ITEM_BYTES_MAX)]
    TooLarge(usize),
    #[error("The input content is invalid because the required properties - 'id; ' - are missing")]
    NoId,
    #[error("the id is not valid: {0}")]
    Id(#[from] InvalidName),
    #[error("The input ttl '{0}' is invalid. Ensure to provide a nonzero positive integer or -1.")]
    Ttl(String),
    #[error("the partition key value is longer than {max} bytes", max = limits::PARTITION_KEY_BYTES_MAX)]
    PartitionKeyTooLong,
    #[error("the values of a unique key take more than {max} bytes", max = limits::UNIQUE_KEY_BYTES_MAX)]
    UniqueKeyTooLong,
}

/// Members that the service writes; what a client sends under these names is dropped.
const SYSTEM: [&str; 6] = ["_rid", "_self", "_etag", "_attachments", "_ts", "_lsn"];

pub fn prepare(container: &Container, body: &[u8]) -> Result<Prepared, PrepareError> {
    let scan = scan_object(body)?;
    let (text, members) = clean(body, &scan.members, &scan.lone_surrogates);
    if text.len() > limits::ITEM_BYTES_MAX {
        return Err(PrepareError::TooLarge(text.len()));
    }
    let text = str::from_utf8(&text).map_err(|_| PrepareError::NoId)?;
    let id = id(text, &members)?;
    let ttl = ttl(text, &members)?;
    let key = partition_key(container, text, &members);
    check_partition_key(&key)?;
    let unique = unique_of(container, text);
    if unique.iter().any(|values| values.len() > limits::UNIQUE_KEY_BYTES_MAX) {
        return Err(PrepareError::UniqueKeyTooLong);
    }
    let row = record::encode(text.as_bytes(), &members, ttl);
    Ok(Prepared { id, epk: epk(container.hashing(), &key), unique, row })
}

/// The partition key that a stored item's text has: what `prepare` found for it.
pub fn partition_key_of(container: &Container, text: &str) -> Vec<Value> {
    let paths = container.definition().partition_key().paths().iter();
    paths.map(|path| scalar(raw::at_path(text, path.segments()))).collect()
}

/// The keys of an item's values at the paths of each unique key.
pub(super) fn unique_of(container: &Container, text: &str) -> Vec<Vec<u8>> {
    let keys = container.definition().unique_keys().iter();
    keys.map(|paths| unique_values(paths.iter().map(|path| path.segments()), text)).collect()
}

pub(super) fn check_partition_key(key: &[Value]) -> Result<(), PrepareError> {
    let too_long = |value: &Value| matches!(value, Value::String(text) if text.len() > limits::PARTITION_KEY_BYTES_MAX);
    if key.iter().any(too_long) { Err(PrepareError::PartitionKeyTooLong) } else { Ok(()) }
}

/// The object's text without surrounding space and without system properties, and its members' places.
/// Lone surrogates become U+FFFD, which is as long in its escape.
fn clean(body: &[u8], members: &[Member], lone_surrogates: &[u32]) -> (Vec<u8>, Vec<Member>) {
    let mut fixed = body.to_vec();
    for at in lone_surrogates {
        let at = *at as usize;
        fixed[at..at + 6].copy_from_slice(b"\\ufffd");
    }
    let is_system = |member: &&Member| {
        str::from_utf8(slice(&fixed, member.name)).is_ok_and(|raw| SYSTEM.iter().any(|name| is_name(raw, name)))
    };
    if members.iter().any(|member| is_system(&member)) {
        return rebuild(&fixed, members.iter().filter(|member| !is_system(member)));
    }
    let start = body.len() - body.trim_ascii_start().len();
    let text = fixed.trim_ascii().to_vec();
    let shift = |span: Span| Span { start: span.start - start as u32, end: span.end - start as u32 };
    (text, members.iter().map(|member| Member { name: shift(member.name), value: shift(member.value) }).collect())
}

fn rebuild<'a>(text: &[u8], kept: impl Iterator<Item = &'a Member>) -> (Vec<u8>, Vec<Member>) {
    let mut out = Vec::with_capacity(text.len());
    let mut members = Vec::new();
    for member in kept {
        out.extend_from_slice(if members.is_empty() { b"{\"" } else { b",\"" });
        let name = append(&mut out, slice(text, member.name));
        out.extend_from_slice(b"\":");
        let value = append(&mut out, slice(text, member.value));
        members.push(Member { name, value });
    }
    out.extend_from_slice(if members.is_empty() { b"{}" } else { b"}" });
    (out, members)
}

fn append(out: &mut Vec<u8>, part: &[u8]) -> Span {
    let start = out.len() as u32;
    out.extend_from_slice(part);
    Span { start, end: out.len() as u32 }
}

fn slice(text: &[u8], span: Span) -> &[u8] {
    &text[span.start as usize..span.end as usize]
}

fn member<'a>(text: &'a str, members: &[Member], wanted: &str) -> Option<&'a str> {
    let part = |span: Span| &text[span.start as usize..span.end as usize];
    let found = members.iter().find(|member| is_name(part(member.name), wanted))?;
    Some(part(found.value))
}

/// Whether a name in the text, still escaped, is this one.
fn is_name(raw: &str, name: &str) -> bool {
    if raw.contains('\\') { raw::unescape(raw) == name } else { raw == name }
}

fn id(text: &str, members: &[Member]) -> Result<ItemId, PrepareError> {
    match member(text, members, "id").map(Value::parse) {
        Some(Ok(Value::String(id))) if !id.is_empty() => Ok(ItemId::parse(&id)?),
        _ => Err(PrepareError::NoId),
    }
}

fn ttl(text: &str, members: &[Member]) -> Result<Ttl, PrepareError> {
    let Some(given) = member(text, members, "ttl") else { return Ok(Ttl::Default) };
    match given.parse::<f64>() {
        Ok(-1.0) => Ok(Ttl::Never),
        Ok(seconds) if seconds >= 1.0 && seconds <= f64::from(i32::MAX) && seconds.fract() == 0.0 => {
            Ok(Ttl::Seconds(seconds as u32))
        }
        _ => Err(PrepareError::Ttl(given.chars().take(64).collect())),
    }
}

fn partition_key(container: &Container, text: &str, members: &[Member]) -> Vec<Value> {
    let paths = container.definition().partition_key().paths().iter();
    let at = |path: &[String]| {
        let (first, rest) = path.split_first()?;
        let value = member(text, members, first)?;
        if rest.is_empty() { Some(value) } else { raw::at_path(value, rest) }
    };
    paths.map(|path| scalar(at(path.segments()))).collect()
}

/// Objects and arrays are no partition keys; they count as missing.
fn scalar(raw: Option<&str>) -> Value {
    match raw.map(Value::parse) {
        Some(Ok(value)) if !matches!(value, Value::Array(_) | Value::Object(_)) => value,
        _ => Value::Undefined,
    }
}

/// A missing value counts as null, as in the service.
fn unique_values<'a>(paths: impl Iterator<Item = &'a [String]>, text: &str) -> Vec<u8> {
    let mut key = KeyBuf::new();
    for path in paths {
        let value = raw::at_path(text, path).map(Value::parse);
        key = key.value(&value.and_then(Result::ok).unwrap_or(Value::Null), Direction::Ascending);
    }
    key.finish()
}
