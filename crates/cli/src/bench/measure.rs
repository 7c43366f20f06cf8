//! A workload, again and again for some seconds, and how long each request took.

use super::load::Place;
use super::sets::workflow;
use super::workloads::{Act, Workload};
use crate::blueprints::Named;
use crate::client::Written;
use crate::limits;
use bytes::Bytes;
use orrery_blueprint::Blueprint;
use orrery_migration::ItemKey;
use orrery_value::Value;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    pub requests: usize,
    pub rate: f64,
    pub p50_millis: f64,
    pub p95_millis: f64,
}

/// Makes the request of each number.
type Make = Arc<dyn Fn(u64) -> Result<Request, String> + Send + Sync>;

enum Request {
    Read(ItemKey),
    Replace(ItemKey, Bytes),
    Ask { partition: Option<String>, body: String, rows_max: usize },
}

pub async fn measure(
    place: &Arc<Place>,
    blueprint: &Blueprint,
    workload: &Workload,
    items: u64,
    span: Duration,
) -> Result<Measured, String> {
    let make = requests(place, blueprint, workload, items)?;
    let number = Arc::new(AtomicU64::new(0));
    // Nobody is measured while caches fill and connections open.
    for at in 0..4 {
        send(place, make(at)?).await?;
    }
    let begun = Instant::now();
    let mut running = JoinSet::new();
    for _ in 0..workload.clients {
        let (place, make, number) = (place.clone(), make.clone(), number.clone());
        running.spawn(async move {
            let mut micros = Vec::new();
            while begun.elapsed() < span && micros.len() < limits::BENCH_SAMPLES_MAX {
                let request = make(number.fetch_add(1, Ordering::Relaxed))?;
                let from = Instant::now();
                send(&place, request).await?;
                micros.push(from.elapsed().as_micros() as u64);
            }
            Ok::<_, String>(micros)
        });
    }
    let mut micros = Vec::new();
    while let Some(ended) = running.join_next().await {
        micros.extend(ended.map_err(|error| format!("a client failed: {error}"))??);
    }
    Ok(summed(micros, begun.elapsed()))
}

fn summed(mut micros: Vec<u64>, took: Duration) -> Measured {
    micros.sort_unstable();
    let at = |share: f64| {
        let place = (micros.len() as f64 * share).ceil() as usize;
        micros.get(place.max(1) - 1).copied().unwrap_or_default() as f64 / 1000.0
    };
    Measured {
        requests: micros.len(),
        rate: micros.len() as f64 / took.as_secs_f64().max(0.001),
        p50_millis: at(0.5),
        p95_millis: at(0.95),
    }
}

fn requests(place: &Place, blueprint: &Blueprint, workload: &Workload, items: u64) -> Result<Make, String> {
    // Items are drawn beforehand: that takes longer than to read one, on the thread that measures.
    let some = |revision: u64| {
        let item = move |number: u64| workflow(number * items / PREPARED.min(items), revision).to_string();
        let placed = |text: String| (place.container.key_of(&Value::read(&text)), Bytes::from(text));
        (0..PREPARED.min(items)).map(item).map(placed).collect::<Vec<(ItemKey, Bytes)>>()
    };
    Ok(match &workload.act {
        Act::Read => {
            let keys: Vec<ItemKey> = some(0).into_iter().map(|(key, _)| key).collect();
            Arc::new(move |number| Ok(Request::Read(keys[number as usize % keys.len()].clone())))
        }
        Act::Replace => {
            let bodies: Vec<(ItemKey, Bytes)> = some(1).into_iter().chain(some(2)).collect();
            Arc::new(move |number| {
                let (key, body) = bodies[number as usize % bodies.len()].clone();
                Ok(Request::Replace(key, body))
            })
        }
        Act::Ask { query, rows_max, parameters } => {
            let query =
                blueprint.query(query).ok_or_else(|| format!("the blueprint has no query '{query}'"))?;
            let (blueprint, query) = (blueprint.clone(), query.clone());
            let (rows_max, parameters) = (*rows_max, *parameters);
            Arc::new(move |number| {
                let given: BTreeMap<String, String> =
                    parameters(number).into_iter().map(|(name, text)| (name.to_owned(), text)).collect();
                let named = Named::new(&blueprint, &query, &given)?;
                let parameters =
                    named.parameters.iter().map(|(name, value)| json!({"name": name, "value": value}));
                let body = json!({"query": named.sql, "parameters": parameters.collect::<Vec<_>>()});
                Ok(Request::Ask { partition: named.partition_key, body: body.to_string(), rows_max })
            })
        }
    })
}

/// Items that are read or replaced, spread over the set.
const PREPARED: u64 = 200;

async fn send(place: &Place, request: Request) -> Result<(), String> {
    let (database, container) = (place.database(), &place.container.name);
    let is_there = match request {
        Request::Read(key) => database.fetch(&key).await?.is_some(),
        Request::Replace(key, body) => database.upsert_text(&key, body).await? == Written::Done,
        Request::Ask { partition, body, rows_max } => {
            database.ask(container, partition.as_deref(), &body, rows_max).await? > 0
        }
    };
    if is_there {
        Ok(())
    } else {
        Err(format!("'{container}' does not have what was loaded; begin again with --clean"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_hundred_the_95th_is_the_95th() {
        let measured = summed((1..=100).rev().map(|millis| millis * 1000).collect(), Duration::from_secs(2));
        assert_eq!((measured.p50_millis, measured.p95_millis, measured.rate), (50.0, 95.0, 50.0));
        assert_eq!(summed(Vec::new(), Duration::ZERO).requests, 0);
    }
}
