//! Items: reads, single writes, batches. The response to a write is the given item with the system members of
//! its new version, so it is not read again.

use super::errors;
use super::{Embedded, place};
use crate::ports::documents::{Item, ItemKey, ItemsFound, StoreError, Write};
use orrery_core::{ETag, ItemId};
use orrery_document_store::{
    BatchOperation, BatchOutcome, BatchRequest, OperationKind, OperationOutcome, Priority,
};
use orrery_documents::batch::StepOutcome;
use orrery_documents::catalog::Container;
use orrery_documents::charge::Charge;
use orrery_documents::item::{Directive, ItemRow, Preconditions, TagMatch, Target};
use serde_json::{Map, Value};

pub async fn read(
    port: &Embedded,
    container: &str,
    partition: &str,
    id: &str,
) -> Result<Option<Item>, StoreError> {
    let container = port.container(container)?;
    let target = target(&container, partition, id)?;
    let found = port.store().read_item(&container, &target, Preconditions::default(), Priority::High).await;
    match found {
        Ok(found) => whole(&container, &found.item).map(Some),
        Err(refused) if errors::is_missing(&refused.error) => Ok(None),
        Err(refused) => Err(errors::store(refused.error)),
    }
}

pub async fn read_many(
    port: &Embedded,
    container: &str,
    keys: &[&ItemKey],
) -> Result<ItemsFound, StoreError> {
    let container = port.container(container)?;
    let targets = keys.iter().map(|key| target(&container, &key.partition, &key.id));
    let targets = targets.collect::<Result<Vec<_>, _>>()?;
    let found = port.store().read_many(&container, targets, Priority::High).await.map_err(errors::store)?;
    let item = |row: &ItemRow| Ok(Item { charge: 0.0, ..whole(&container, row)? });
    Ok(ItemsFound {
        items: found.items.iter().map(item).collect::<Result<_, StoreError>>()?,
        charge: units(found.charge),
    })
}

fn target(container: &Container, partition: &str, id: &str) -> Result<Target, StoreError> {
    let id =
        ItemId::parse(id).map_err(|error| errors::refused(400, format!("the id is not valid: {error}")))?;
    Ok(Target { epk: place(container, partition)?, id })
}

pub async fn write(
    port: &Embedded,
    container: &str,
    partition: &str,
    write: Write,
) -> Result<Option<Item>, StoreError> {
    let (charge, mut tails) = commit(port, container, partition, std::slice::from_ref(&write)).await?;
    Ok(tails.pop().flatten().map(|tail| joined(write, tail, charge)))
}

pub async fn batch(
    port: &Embedded,
    container: &str,
    partition: &str,
    writes: Vec<Write>,
) -> Result<Vec<Option<Item>>, StoreError> {
    let (charge, tails) = commit(port, container, partition, &writes).await?;
    let each = writes.into_iter().zip(tails);
    let mut items: Vec<_> =
        each.map(|(write, tail)| tail.map(|tail| joined(write, tail, Charge::default()))).collect();
    if let Some(first) = items.iter_mut().flatten().next() {
        first.charge = units(charge);
    }
    Ok(items)
}

/// The total charge, and the system members of each new version; none for a delete.
type Made = (Charge, Vec<Option<Map<String, Value>>>);

/// Executes one transaction.
async fn commit(
    port: &Embedded,
    container: &str,
    partition: &str,
    writes: &[Write],
) -> Result<Made, StoreError> {
    let container = port.container(container)?;
    let epk = place(&container, partition)?;
    let texts = writes.iter().map(text).collect::<Result<Vec<_>, StoreError>>()?;
    let operations: Vec<BatchOperation<'_>> =
        writes.iter().zip(&texts).map(|(write, text)| operation(write, text.as_deref())).collect();
    let request = BatchRequest {
        operations: &operations,
        partition: Some(&epk),
        scope: None,
        directive: Directive::Default,
        priority: Priority::High,
    };
    let done = port.store().batch(&container, &request).await.map_err(errors::store)?;
    let BatchOutcome { container, outcomes, .. } = done;
    let charge = outcomes.iter().map(OperationOutcome::charge).sum();
    let mut tails = Vec::with_capacity(outcomes.len());
    for outcome in outcomes {
        match outcome {
            OperationOutcome::Done(StepOutcome::Written(effect)) => {
                tails.push(Some(system_members(&container, &effect.item)?));
            }
            OperationOutcome::Done(_) => tails.push(None),
            OperationOutcome::Failed(error) => return Err(errors::store(error)),
            // Another operation failed and determines the error.
            OperationOutcome::NotTried => {}
        }
    }
    Ok((charge, tails))
}

fn text(write: &Write) -> Result<Option<String>, StoreError> {
    let item = match write {
        Write::Create(item) | Write::Replace { item, .. } | Write::Upsert { item, .. } => item,
        Write::Delete { .. } => return Ok(None),
    };
    let text = serde_json::to_string(item);
    text.map(Some)
        .map_err(|error| errors::refused(400, format!("the item cannot be written as JSON: {error}")))
}

fn operation<'t>(write: &Write, body: Option<&'t str>) -> BatchOperation<'t> {
    let (kind, id, if_match) = match write {
        Write::Create(_) => (OperationKind::Create, None, None),
        Write::Replace { item, if_match } => {
            let id = item.get("id").and_then(Value::as_str).map(str::to_owned);
            (OperationKind::Replace, id, if_match.as_deref())
        }
        Write::Upsert { if_match, .. } => (OperationKind::Upsert, None, if_match.as_deref()),
        Write::Delete { id, if_match } => (OperationKind::Delete, Some(id.clone()), if_match.as_deref()),
    };
    let conditions = Preconditions { if_match: if_match.and_then(tag), if_none_match: None };
    BatchOperation { kind, id, body, conditions, partition_key: None }
}

/// Parsed like a client's header: `*` matches any version, and a foreign etag matches none.
fn tag(text: &str) -> Option<TagMatch> {
    match text.trim() {
        "" => None,
        "*" => Some(TagMatch::Any),
        text => Some(TagMatch::Tag(ETag::parse(text))),
    }
}

/// The system members follow an item's own members, each preceded by a comma.
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
        // System members in the caller's item were dropped; the new ones come last.
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

/// Stored text is valid JSON; only nesting beyond the reader's limit fails here.
fn unreadable(error: serde_json::Error) -> StoreError {
    errors::refused(500, format!("a stored item could not be read: {error}"))
}

pub fn units(charge: Charge) -> f64 {
    charge.hundredths() as f64 / 100.0
}
