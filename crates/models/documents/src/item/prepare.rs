//! From the bytes that arrived to an item ready to be stored: everything that needs no lock.

use super::record::{self, Ttl};
use crate::index::Generations;
use crate::limits;
use crate::row::Row;
use bytes::Bytes;
use orrery_catalog::Container;
use orrery_catalog::schema::Verdict;
use orrery_core::limits::ITEM_BYTES_MAX;
use orrery_core::{InvalidName, ItemId, SYSTEM_MEMBERS};
use orrery_keys::{Direction, Epk, KeyBuf, epk};
use orrery_value::{JsonError, Member, Span, Value, raw, scan_object_text, utf8};
use std::borrow::Cow;
use std::sync::Arc;

/// A checked item: its place, its key, its row without stamps, and the keys of its unique values.
#[derive(Clone, Debug)]
pub struct PreparedItem {
    pub id: ItemId,
    pub epk: Epk,
    pub(super) key: Bytes,
    pub(super) row: Bytes,
    pub(super) unique: Vec<Vec<u8>>,
    pub(super) directive: Directive,
    /// What the container's schemas say of it, if it has any.
    pub(super) verdict: Option<Arc<Verdict>>,
}

/// What a request says of an item's indexing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Directive {
    /// As the container's policy has it.
    #[default]
    Default,
    Include,
    Exclude,
}

impl Directive {
    pub(super) fn is_indexed(self, generations: &Generations) -> bool {
        let wanted = match self {
            Self::Default => generations.is_automatic(),
            Self::Include => true,
            Self::Exclude => false,
        };
        wanted && !generations.rules().is_none()
    }
}

#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    #[error("the body is not a JSON object: {0}")]
    Json(#[from] JsonError),
    #[error("the item is {0} bytes; the largest item is {max} bytes", max = ITEM_BYTES_MAX)]
    TooLarge(usize),
    #[error("The input content is invalid because the required properties - 'id; ' - are missing")]
    NoId,
    #[error("One of the specified inputs is invalid: the 'id' must be a string")]
    IdNotText,
    #[error("The input name is invalid: {0}")]
    Id(#[from] InvalidName),
    #[error("The input ttl '{0}' is invalid. Ensure to provide a nonzero positive integer or -1.")]
    Ttl(String),
    #[error("the partition key value is longer than {max} bytes", max = limits::PARTITION_KEY_BYTES_MAX)]
    PartitionKeyTooLong,
    #[error("the values of a unique key take more than {max} bytes", max = limits::UNIQUE_KEY_BYTES_MAX)]
    UniqueKeyTooLong,
}

/// Whether the service writes the member of this name; what a client sends under it is dropped.
pub(crate) fn is_system(name: &str) -> bool {
    SYSTEM_MEMBERS.contains(&name)
}

impl PreparedItem {
    pub fn indexed(self, directive: Directive) -> Self {
        Self { directive, ..self }
    }

    /// Violations of the container's schema.
    pub fn warnings(&self) -> u64 {
        self.verdict.as_ref().map_or(0, |verdict| verdict.violations().count)
    }
}

pub fn prepare(container: &Container, body: &[u8]) -> Result<PreparedItem, PrepareError> {
    orrery_core::tour_step!();
    let body = utf8(body)?;
    let scan = scan_object_text(body)?;
    let body = without_lone_surrogates(body, &scan.lone_surrogates);
    let (text, members) = clean(&body, scan.members);
    if text.len() > ITEM_BYTES_MAX {
        return Err(PrepareError::TooLarge(text.len()));
    }
    let text = &*text;
    let id = id(text, &members)?;
    let ttl = ttl(text, &members)?;
    let key = partition_key(container, text, &members);
    check_partition_key(&key)?;
    let unique = unique_of(container, text);
    if unique.iter().any(|values| values.len() > limits::UNIQUE_KEY_BYTES_MAX) {
        return Err(PrepareError::UniqueKeyTooLong);
    }
    let epk = epk(container.hashing(), &key);
    let key = Row::Item { container: container.number(), epk: epk.as_bytes(), id: id.as_str() }.key();
    let row = Bytes::from(record::encode(text.as_bytes(), &members, ttl));
    let verdict = container.schemas().and_then(|schemas| schemas.verdict(text)).map(Arc::new);
    Ok(PreparedItem { id, epk, key, row, unique, directive: Directive::Default, verdict })
}

/// The partition key that a stored item's text has: what `prepare` found for it.
pub fn partition_key_of(container: &Container, text: &str) -> Vec<Value> {
    let paths = container.definition().partition_key().paths().iter();
    paths.map(|path| scalar(raw::at_path(text, path.segments()))).collect()
}

/// The keys of an item's values at the paths of each unique key.
pub(crate) fn unique_of(container: &Container, text: &str) -> Vec<Vec<u8>> {
    let keys = container.definition().unique_keys().iter();
    keys.map(|paths| unique_values(paths.iter().map(|path| path.segments()), text)).collect()
}

pub(super) fn check_partition_key(key: &[Value]) -> Result<(), PrepareError> {
    let too_long =
        |value: &Value| matches!(value, Value::String(text) if text.len() > limits::PARTITION_KEY_BYTES_MAX);
    if key.iter().any(too_long) { Err(PrepareError::PartitionKeyTooLong) } else { Ok(()) }
}

/// U+FFFD is as long in its escape as the half of a pair that it replaces.
fn without_lone_surrogates<'a>(body: &'a str, lone: &[u32]) -> Cow<'a, str> {
    let mut fixed = Cow::Borrowed(body);
    for at in lone {
        let at = *at as usize;
        fixed.to_mut().replace_range(at..at + 6, "\\ufffd");
    }
    fixed
}

/// The object's text without surrounding space and without system properties, and its members' places. Nothing
/// is copied unless there is something to leave out.
fn clean(body: &str, mut members: Vec<Member>) -> (Cow<'_, str>, Vec<Member>) {
    // Every system name begins with an underscore, perhaps escaped.
    let is_system = |member: &Member| {
        let raw = member.name.of(body);
        raw.starts_with(['_', '\\']) && SYSTEM_MEMBERS.iter().any(|name| is_name(raw, name))
    };
    if members.iter().any(is_system) {
        members.retain(|member| !is_system(member));
        let (text, members) = rebuild(body, &members);
        return (Cow::Owned(text), members);
    }
    let start = (body.len() - body.trim_ascii_start().len()) as u32;
    let shift = |span: Span| Span { start: span.start - start, end: span.end - start };
    for member in &mut members {
        *member = Member { name: shift(member.name), value: shift(member.value) };
    }
    (Cow::Borrowed(body.trim_ascii()), members)
}

fn rebuild(body: &str, kept: &[Member]) -> (String, Vec<Member>) {
    let mut out = String::with_capacity(body.len());
    let mut members = Vec::with_capacity(kept.len());
    for member in kept {
        out.push_str(if members.is_empty() { "{\"" } else { ",\"" });
        let name = append(&mut out, member.name.of(body));
        out.push_str("\":");
        let value = append(&mut out, member.value.of(body));
        members.push(Member { name, value });
    }
    out.push_str(if members.is_empty() { "{}" } else { "}" });
    (out, members)
}

fn append(out: &mut String, part: &str) -> Span {
    let start = out.len() as u32;
    out.push_str(part);
    Span { start, end: out.len() as u32 }
}

fn member<'a>(text: &'a str, members: &[Member], wanted: &str) -> Option<&'a str> {
    let found = members.iter().find(|member| is_name(member.name.of(text), wanted))?;
    Some(found.value.of(text))
}

/// Whether a name in the text, still escaped, is this one.
fn is_name(raw: &str, name: &str) -> bool {
    if raw.contains('\\') { raw::unescape(raw) == name } else { raw == name }
}

fn id(text: &str, members: &[Member]) -> Result<ItemId, PrepareError> {
    match member(text, members, "id").map(Value::read) {
        Some(Value::String(id)) => Ok(ItemId::parse(&id)?),
        Some(Value::Null | Value::Undefined) | None => Err(PrepareError::NoId),
        Some(_) => Err(PrepareError::IdNotText),
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
    match raw.map(Value::read) {
        Some(value) if !matches!(value, Value::Array(_) | Value::Object(_)) => value,
        _ => Value::Undefined,
    }
}

/// A missing value counts as null, as in the service.
fn unique_values<'a>(paths: impl Iterator<Item = &'a [String]>, text: &str) -> Vec<u8> {
    let mut key = KeyBuf::new();
    for path in paths {
        let value = raw::at_path(text, path).map_or(Value::Null, Value::read);
        key = key.value(&value, Direction::Ascending);
    }
    key.finish()
}
