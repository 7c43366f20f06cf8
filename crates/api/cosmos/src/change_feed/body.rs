//! Pages of changes as JSON: bare items, or envelopes with metadata.

use super::request::{PreImages, Shape};
use orrery_documents::catalog::Container;
use orrery_documents::changes::{Change, Version};
use orrery_documents::item::{self, ItemRow};
use orrery_value::Value;

pub fn latest(container: &Container, items: &[ItemRow], shape: Shape) -> Vec<u8> {
    let bytes = items.iter().map(|item| item.text_length()).sum();
    page(container, items, bytes, |item, out| match shape {
        Shape::Bare => bare(container, item, out),
        Shape::Envelope => {
            out.extend_from_slice(b"{\"current\":");
            item.write_json(container, out);
            let (lsn, seconds) = (item.lsn(), item.written().seconds());
            let metadata = format!(",\"metadata\":{{\"lsn\":{lsn},\"crts\":{seconds}}}}}");
            out.extend_from_slice(metadata.as_bytes());
        }
    })
}

pub fn versions(container: &Container, versions: &[Version], pre_images: PreImages) -> Vec<u8> {
    let previous = |version: &Version| version.previous.as_ref().map_or(0, |item| item.text_length());
    let current = |version: &Version| version.current.as_ref().map_or(0, |item| item.text_length());
    let bytes = versions.iter().map(|version| current(version) + previous(version)).sum();
    page(container, versions, bytes, |version, out| {
        let shows = pre_images == PreImages::Always || shows_previous(container, version.change);
        envelope(container, version, shows, out);
    })
}

fn page<T>(container: &Container, changes: &[T], bytes: usize, write: impl Fn(&T, &mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes + changes.len() * 512 + 64);
    out.extend_from_slice(format!("{{\"_rid\":\"{}\",\"Documents\":[", container.rid_text()).as_bytes());
    for (index, change) in changes.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(change, &mut out);
    }
    out.extend_from_slice(format!("],\"_count\":{}}}", changes.len()).as_bytes());
    out
}

/// An item with one more system property.
fn bare(container: &Container, item: &ItemRow, out: &mut Vec<u8>) {
    item.write_json(container, out);
    debug_assert_eq!(out.last(), Some(&b'}'));
    out.pop();
    out.extend_from_slice(format!(",\"_lsn\":{}}}", item.lsn()).as_bytes());
}

fn envelope(container: &Container, version: &Version, shows_previous: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"current\":");
    match &version.current {
        Some(item) => item.write_json(container, out),
        None => out.extend_from_slice(b"{}"),
    }
    if let Some(item) = version.previous.as_ref().filter(|_| shows_previous) {
        out.extend_from_slice(b",\"previous\":");
        item.write_json(container, out);
    }
    out.extend_from_slice(b",\"metadata\":");
    metadata(container, version).write_json(out);
    out.push(b'}');
}

/// The replaced version is included if the container asks for it, the deleted one always, as on the service.
fn shows_previous(container: &Container, change: Change) -> bool {
    match change {
        Change::Delete | Change::Expire => true,
        Change::Create | Change::Replace => {
            container.definition().change_feed().is_some_and(|policy| policy.pre_images)
        }
    }
}

/// A delete names its item, because nothing else in its envelope needs to.
fn metadata(container: &Container, version: &Version) -> Value {
    let number = |number: u64| Value::read(&number.to_string());
    let mut members = vec![
        ("operationType".to_owned(), Value::String(operation(version.change).into())),
        ("lsn".to_owned(), number(version.lsn.0)),
        ("crts".to_owned(), number(version.at.seconds())),
    ];
    if let Some(item) = &version.previous {
        members.push(("previousImageLSN".to_owned(), number(item.lsn().0)));
    }
    if let (Change::Delete | Change::Expire, Some(item)) = (version.change, &version.previous) {
        let is_expired = version.change == Change::Expire;
        members.push(("timeToLiveExpired".to_owned(), Value::Bool(is_expired)));
        members.push(("id".to_owned(), Value::String(version.id.as_str().into())));
        let key = item::partition_key_of(container, item.text()).into_iter().map(component);
        members.push(("partitionKey".to_owned(), Value::Array(key.collect())));
    }
    Value::Object(members.into_iter().collect())
}

/// A missing value as partition-key headers write it.
fn component(value: Value) -> Value {
    if value.is_undefined() { Value::read("{}") } else { value }
}

fn operation(change: Change) -> &'static str {
    match change {
        Change::Create => "create",
        Change::Replace => "replace",
        Change::Delete | Change::Expire => "delete",
    }
}
