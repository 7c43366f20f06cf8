//! Several items by their keys. The wire has no request for it, so each partition gets one of its own: a point read
//! for a single item, a query with `c.id IN (…)` for several. A few are under way at once.

use super::{Remote, errors, items, query};
use crate::limits;
use crate::ports::documents::{Item, ItemKey, ItemsFound, Query, StoreError};
use orrery_core::limits::PAGE_ITEMS_DEFAULT;
use orrery_document_store::limits::READ_MANY_BYTES_MAX;
use serde_json::Value;
use std::collections::HashMap;
use tokio::task::JoinSet;

pub async fn run(remote: &Remote, container: &str, keys: &[&ItemKey]) -> Result<ItemsFound, StoreError> {
    let (mut found, mut charge, mut bytes) = (HashMap::new(), 0.0, 0);
    let mut waiting = by_partition(keys).into_iter();
    let mut running = JoinSet::new();
    loop {
        while running.len() < limits::SERVICE_STORE_READS_MAX
            && let Some((partition, ids)) = waiting.next()
        {
            let (remote, container) = (remote.clone(), container.to_owned());
            running.spawn(async move { read_partition(&remote, &container, partition, &ids).await });
        }
        let Some(ended) = running.join_next().await else { break };
        let part = ended.map_err(|error| StoreError::Unavailable(error.to_string()))??;
        charge += part.charge;
        bytes += part.bytes;
        if bytes > READ_MANY_BYTES_MAX {
            return Err(too_large());
        }
        found.extend(part.items);
    }
    let items = keys.iter().filter_map(|key| found.remove(*key)).collect();
    Ok(ItemsFound { items, charge })
}

/// The partitions in the order of their first keys, each with its ids.
fn by_partition(keys: &[&ItemKey]) -> Vec<(String, Vec<String>)> {
    let (mut places, mut parts) = (HashMap::new(), Vec::<(String, Vec<String>)>::new());
    for key in keys {
        let place = *places.entry(&key.partition).or_insert(parts.len());
        if place == parts.len() {
            parts.push((key.partition.clone(), Vec::new()));
        }
        parts[place].1.push(key.id.clone());
    }
    parts
}

#[derive(Default)]
struct Part {
    items: Vec<(ItemKey, Item)>,
    bytes: usize,
    charge: f64,
}

impl Part {
    fn add(&mut self, partition: &str, value: Value) -> Result<(), StoreError> {
        let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let key = ItemKey { partition: partition.to_owned(), id: text("id") };
        let etag = text("_etag");
        self.bytes += value.to_string().len();
        self.items.push((key, Item { value, etag, charge: 0.0 }));
        if self.bytes > READ_MANY_BYTES_MAX { Err(too_large()) } else { Ok(()) }
    }
}

async fn read_partition(
    remote: &Remote,
    container: &str,
    partition: String,
    ids: &[String],
) -> Result<Part, StoreError> {
    let mut part = Part::default();
    if let [id] = ids {
        if let Some(item) = items::read(remote, container, &partition, id).await? {
            part.charge = item.charge;
            part.add(&partition, item.value)?;
        }
        return Ok(part);
    }
    let mut asked = query_of(ids);
    loop {
        let page = query::page(remote, container, Some(&partition), &asked).await?;
        part.charge += page.charge;
        page.rows.into_iter().try_for_each(|row| part.add(&partition, row))?;
        asked.continuation = page.continuation;
        if asked.continuation.is_none() {
            return Ok(part);
        }
    }
}

fn query_of(ids: &[String]) -> Query {
    let names: Vec<String> = (0..ids.len()).map(|n| format!("@id{n}")).collect();
    Query {
        text: format!("SELECT * FROM c WHERE c.id IN ({})", names.join(",")),
        parameters: names.into_iter().zip(ids.iter().map(|id| Value::from(id.as_str()))).collect(),
        items_max: PAGE_ITEMS_DEFAULT,
        continuation: None,
    }
}

fn too_large() -> StoreError {
    let mb_max = READ_MANY_BYTES_MAX >> 20;
    errors::refused(400, format!("the items come to more than {mb_max} MB; ask for fewer at once"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_partition_is_asked_once() {
        let keys = [("p", "a"), ("q", "a"), ("p", "b")];
        let keys = keys.map(|(partition, id)| ItemKey { partition: partition.to_owned(), id: id.to_owned() });
        let parts = by_partition(&keys.iter().collect::<Vec<_>>());
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        assert_eq!(parts, [("p".to_owned(), ids(&["a", "b"])), ("q".to_owned(), ids(&["a"]))]);
    }
}
