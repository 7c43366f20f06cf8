//! Fills a container with its set, in bulk, with a line that shows how far it is.

use super::sets::Set;
use crate::client::{Database, Remote};
use crate::limits;
use crate::terminal::{ProgressLine, bar};
use orrery_core::limits::BATCH_OPERATIONS_MAX;
use orrery_migration::{Container, ItemKey};
use orrery_value::Value;
use std::sync::Arc;
use std::time::Instant;
use tokio::task::JoinSet;

/// Where a set goes.
pub struct Place {
    pub remote: Arc<Remote>,
    pub database: String,
    pub container: Container,
}

/// Says how many items there are. A load that was broken off is completed; one that is there is not repeated.
pub async fn load(place: &Arc<Place>, set: Set, scale: f64) -> Result<u64, String> {
    let (items, begun) = (set.items(scale), Instant::now());
    let there = place.database().count(set.container).await?;
    if there == items {
        return Ok(items);
    }
    let (mut running, mut done) = (JoinSet::new(), 0);
    let (mut next, mut line) = (0, ProgressLine::of_stderr());
    while next < items {
        if running.len() == limits::MIGRATION_REQUESTS_MAX {
            done += joined(running.join_next().await)?;
            line.draw(|| shown(set, done, items, begun));
        }
        let (chunk, end) = chunk(place, set, next, items);
        next = end;
        let place = place.clone();
        running.spawn(async move {
            place.database().create_many(&place.container.name, &chunk).await.map(|made| made.len() as u64)
        });
    }
    while let Some(ended) = running.join_next().await {
        done += joined(Some(ended))?;
        line.draw(|| shown(set, done, items, begun));
    }
    line.end(&shown(set, done, items, begun));
    match place.database().count(set.container).await? {
        there if there == items => Ok(items),
        there => Err(format!(
            "'{}' of '{}' has {there} items instead of {items}; begin again with --clean",
            set.container, place.database
        )),
    }
}

impl Place {
    pub fn database(&self) -> Database<'_> {
        Database { remote: &self.remote, name: &self.database }
    }
}

/// As many items as one request takes, and the number of the next.
fn chunk(place: &Place, set: Set, from: u64, items: u64) -> (Vec<(ItemKey, Value)>, u64) {
    let (mut chunk, mut bytes, mut number) = (Vec::new(), 0, from);
    while number < items && chunk.len() < BATCH_OPERATIONS_MAX && bytes < limits::MIGRATION_BULK_BYTES_MAX {
        let text = set.item(number, items).to_string();
        bytes += text.len();
        let item = Value::read(&text);
        chunk.push((place.container.key_of(&item), item));
        number += 1;
    }
    (chunk, number)
}

fn joined(ended: Option<Result<Result<u64, String>, tokio::task::JoinError>>) -> Result<u64, String> {
    match ended {
        None => Ok(0),
        Some(Ok(outcome)) => outcome,
        Some(Err(error)) => Err(format!("a part of the load failed: {error}")),
    }
}

fn shown(set: Set, done: u64, items: u64, begun: Instant) -> String {
    format!("{}: {}", set.container, bar(done, items, begun.elapsed()))
}
