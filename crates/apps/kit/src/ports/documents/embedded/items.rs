//! Items: read, single writes, batches.
//!
//! A write is prepared before its transaction (text, checks, hashes), decides under its partition's lock, and answers
//! after the sync that it shares with others. The answer is the item that was given with the system members of its new
//! version, so it is not read again.

use super::errors::{self, Stopped};
use super::{Inner, place};
use crate::ports::documents::{Item, StoreError, Write};
use orrery_core::{ETag, ItemId, limits};
use orrery_document_store::{QueryHost, Scope, Txn};
use orrery_documents::batch::{Action, Budget, Deps, Done, Step, StepError, atomic};
use orrery_documents::catalog::Container;
use orrery_documents::charge::Charge;
use orrery_documents::item::{self, ItemRow, Preconditions, Prepared, TagMatch, Target};
use orrery_keys::Epk;
use serde_json::{Map, Value};

pub fn read(inner: &Inner, container: &str, partition: &str, id: &str) -> Result<Option<Item>, StoreError> {
    let container = inner.container(container)?;
    let target = target(&place(&container, partition)?, id)?;
    let (snapshot, now) = (inner.store.snapshot(), inner.store.env().now());
    let found = item::read(&*snapshot, &container, &target, now).map_err(errors::engine)?;
    found.map(|row| whole(&container, &row)).transpose()
}

pub async fn write(
    inner: &Inner,
    container: &str,
    partition: &str,
    write: Write,
) -> Result<Option<Item>, StoreError> {
    let (charge, mut tails) = commit(inner, container, partition, std::slice::from_ref(&write)).await?;
    Ok(tails.pop().flatten().map(|tail| joined(write, tail, charge)))
}

pub async fn batch(
    inner: &Inner,
    container: &str,
    partition: &str,
    writes: Vec<Write>,
) -> Result<Vec<Option<Item>>, StoreError> {
    if writes.is_empty() {
        return Ok(Vec::new());
    }
    if writes.len() > limits::BATCH_OPERATIONS_MAX {
        let max = limits::BATCH_OPERATIONS_MAX;
        return Err(errors::refused(400, format!("a batch has at most {max} operations; split it")));
    }
    let (charge, tails) = commit(inner, container, partition, &writes).await?;
    let each = writes.into_iter().zip(tails);
    let mut items: Vec<_> =
        each.map(|(write, tail)| tail.map(|tail| joined(write, tail, Charge::default()))).collect();
    if let Some(first) = items.iter_mut().flatten().next() {
        first.charge = units(charge);
    }
    Ok(items)
}

/// What all of it cost, and the system members of each version that was made; none after a delete.
type Made = (Charge, Vec<Option<Map<String, Value>>>);

/// One transaction; decided again where the container changed under it.
async fn commit(
    inner: &Inner,
    container: &str,
    partition: &str,
    writes: &[Write],
) -> Result<Made, StoreError> {
    for _ in 0..limits::TRANSACTION_RETRIES_MAX {
        let found = inner.container(container)?;
        match try_commit(inner, &found, partition, writes).await {
            Ok(made) => return Ok(made),
            Err(Stopped::OwnerGone) if inner.is_there(&found)? => {}
            Err(Stopped::OwnerGone) => return Err(errors::no_container(&inner.database, container)),
            Err(Stopped::Because(error)) => return Err(error),
        }
    }
    Err(StoreError::Busy { after: None })
}

async fn try_commit(
    inner: &Inner,
    container: &Container,
    partition: &str,
    writes: &[Write],
) -> Result<Made, Stopped> {
    let epk = place(container, partition)?;
    let steps = writes.iter().map(|write| step(inner, container, &epk, write));
    let steps = steps.collect::<Result<Vec<_>, StoreError>>()?;
    let body = |txn: &mut Txn<'_>| run(inner, container, txn, &steps);
    let committed = inner.store.write(scope(container, &epk), body).await;
    let done = committed.map_err(|error| errors::write(error, errors::step))?.value;
    let charge = done.iter().map(Done::charge).sum();
    let tails = done.iter().map(|done| tail(container, done)).collect::<Result<Vec<_>, StoreError>>()?;
    Ok((charge, tails))
}

fn run(
    inner: &Inner,
    container: &Container,
    txn: &mut Txn<'_>,
    steps: &[Step],
) -> Result<Vec<Done>, StepError> {
    let (host, budget) = (QueryHost::new(inner.store.env()), Budget::default());
    let ordinal = || inner.store.next_ordinal();
    let around = Deps { container, ordinal: &ordinal, host: &host, budget: &budget };
    atomic(txn, steps, around).map_err(|culprit| culprit.error)
}

fn scope<'a>(container: &Container, epk: &'a Epk) -> Scope<'a> {
    Scope::Partition { container: container.number(), epk: epk.as_bytes() }
}

fn target(epk: &Epk, id: &str) -> Result<Target, StoreError> {
    let id =
        ItemId::parse(id).map_err(|error| errors::refused(400, format!("the id is not valid: {error}")))?;
    Ok(Target { epk: epk.clone(), id })
}

fn step(inner: &Inner, container: &Container, epk: &Epk, write: &Write) -> Result<Step, StoreError> {
    let (target, action, if_match) = match write {
        Write::Create(item) => with_item(container, epk, item, Action::Create, &None)?,
        Write::Replace { item, if_match } => with_item(container, epk, item, Action::Replace, if_match)?,
        Write::Upsert { item, if_match } => with_item(container, epk, item, Action::Upsert, if_match)?,
        Write::Delete { id, if_match } => (target(epk, id)?, Action::Delete, if_match.as_deref()),
    };
    let conditions = Preconditions { if_match: if_match.and_then(tag), if_none_match: None };
    Ok(Step { target, action, conditions, stamp: inner.stamp() })
}

/// As a client's header is read: `*` is any version, and a tag that is not one of ours is that of no version.
fn tag(text: &str) -> Option<TagMatch> {
    match text.trim() {
        "" => None,
        "*" => Some(TagMatch::Any),
        text => Some(TagMatch::Tag(ETag::parse(text))),
    }
}

fn with_item<'w>(
    container: &Container,
    epk: &Epk,
    item: &Value,
    action: fn(Prepared) -> Action,
    if_match: &'w Option<String>,
) -> Result<(Target, Action, Option<&'w str>), StoreError> {
    let text = serde_json::to_vec(item)
        .map_err(|error| errors::refused(400, format!("the item cannot be written as JSON: {error}")))?;
    let prepared = item::prepare(container, &text).map_err(errors::prepare)?;
    if prepared.epk != *epk {
        return Err(errors::refused(400, "the item has another partition key than the write names"));
    }
    let target = Target { epk: epk.clone(), id: prepared.id.clone() };
    Ok((target, action(prepared), if_match.as_deref()))
}

/// The system members of the version that a step made; none after a delete.
fn tail(container: &Container, done: &Done) -> Result<Option<Map<String, Value>>, StoreError> {
    match done {
        Done::Written(effect) => system_members(container, &effect.item).map(Some),
        Done::Read(_) | Done::NotModified(_) | Done::Deleted(_) => Ok(None),
    }
}

/// They follow an item's own members, each after a comma.
fn system_members(container: &Container, row: &ItemRow) -> Result<Map<String, Value>, StoreError> {
    let (_, mut tail) = row.json(container);
    let tail = tail.split_off(1);
    serde_json::from_slice(&[b"{", &tail[..]].concat()).map_err(unreadable)
}

fn joined(write: Write, tail: Map<String, Value>, charge: Charge) -> Item {
    let mut value = match write {
        Write::Create(item) | Write::Replace { item, .. } | Write::Upsert { item, .. } => item,
        Write::Delete { .. } => Value::Null,
    };
    let etag = tail.get("_etag").and_then(Value::as_str).unwrap_or_default().to_owned();
    if let Value::Object(members) = &mut value {
        // What a caller sent under these names was dropped, and they come last.
        members.retain(|name, _| name != "_lsn" && !tail.contains_key(name));
        members.extend(tail);
    }
    Item { value, etag, charge: units(charge) }
}

/// A stored item with its system members.
fn whole(container: &Container, row: &ItemRow) -> Result<Item, StoreError> {
    let value = value_of(container, row)?;
    Ok(Item { value, etag: row.etag().to_string(), charge: units(Charge::point_read(row.text_length())) })
}

pub fn value_of(container: &Container, row: &ItemRow) -> Result<Value, StoreError> {
    let mut text = Vec::new();
    row.write_json(container, &mut text);
    serde_json::from_slice(&text).map_err(unreadable)
}

/// What is stored is JSON; only what nests deeper than a reader goes ends here.
fn unreadable(error: serde_json::Error) -> StoreError {
    errors::refused(500, format!("a stored item could not be read: {error}"))
}

pub fn units(charge: Charge) -> f64 {
    charge.hundredths() as f64 / 100.0
}
