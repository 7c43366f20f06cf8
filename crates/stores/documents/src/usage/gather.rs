//! Combines the recorded usage of a container with its current content.

use super::ContainerUsage;
use super::report::{
    AskedPath, BusyPartition, CompositePart, IndexedPath, LargeItem, Partition, Report, Shape, Statistics,
    Usage,
};
use super::shapes::ShapeUsage;
use crate::error::Error;
use crate::limits;
use crate::scheduler::on_a_thread;
use crate::store::Store;
use orrery_documents::catalog::Container;
use orrery_documents::charge::Charge;
use orrery_documents::index::{self, Survey};
use orrery_documents::limits::SURVEY_LARGEST_MAX;
use orrery_kv::{Error as EngineError, Snapshot};
use orrery_query::access::{Path, PathDisplay};
use orrery_value::Value;
use serde_json::json;

impl Store {
    /// The report on a container. It reads many rows, so it takes a slot of the query scheduler.
    pub async fn usage_report(&self, database: &str, container: &str) -> Result<Report, Error> {
        let container = self.container(database, container)?;
        let turn = self.long_slot().await?;
        let known = self.usage().of(container.number());
        let (snapshot, now, since) = (self.snapshot(), self.env().now(), self.usage().started);
        let partition_bytes_max = self.partition_bytes_max();
        let work = move || {
            let _turn = turn;
            let survey = index::survey(&*snapshot, &container)?;
            Ok::<Report, EngineError>(Report {
                since_ms: since.millis(),
                now_ms: now.millis(),
                statistics: statistics(survey, partition_bytes_max),
                usage: usage(&known, &snapshot, &container)?,
            })
        };
        Ok(on_a_thread(work).await??)
    }

    /// The queries with the highest total charge since the start, each with its container's number, the most
    /// expensive first.
    pub fn top_queries(&self, max: usize) -> Vec<(u32, Shape)> {
        self.usage().most_expensive(max).iter().map(|(number, known)| (*number, shape(known))).collect()
    }
}

fn statistics(survey: Survey, partition_bytes_max: u64) -> Statistics {
    let partition =
        |it: index::SurveyedPartition| Partition { key: shown(it.key), items: it.items, bytes: it.bytes };
    let path = |it: index::SurveyedPath| IndexedPath {
        path: PathDisplay(&it.path).to_string(),
        items: it.items,
        entries: it.entries,
    };
    Statistics {
        items: survey.items,
        bytes: survey.bytes,
        partitions: survey.partitions,
        is_whole: survey.is_whole,
        partition_bytes_max,
        largest: survey.largest.into_iter().map(partition).collect(),
        sampled: survey.sampled,
        entries: survey.entries,
        paths: survey.paths.into_iter().map(path).collect(),
    }
}

fn usage(known: &ContainerUsage, state: &Snapshot, container: &Container) -> Result<Usage, EngineError> {
    let asked = |(path, pages): (&Path, u64)| AskedPath { path: PathDisplay(path).to_string(), pages };
    Ok(Usage {
        queries: known.queries,
        shapes: known.shapes.all().into_iter().map(shape).collect(),
        paths: known.paths.all().map(|paths| paths.into_iter().map(asked).collect()),
        requests: known.busiest.total(),
        busiest: busiest(known, state, container)?,
        large: large(known, state, container)?,
    })
}

fn shape(known: &ShapeUsage) -> Shape {
    let part = |(path, descending): &(Path, bool)| CompositePart {
        path: PathDisplay(path).to_string(),
        descending: *descending,
    };
    Shape {
        text: known.text.clone(),
        queries: known.queries,
        queries_over_all: known.queries_over_all,
        rows: known.rows,
        charge: request_units(known.charge),
        missing: known.missing.iter().map(|parts| parts.iter().map(part).collect()).collect(),
    }
}

/// A charge in request units, as clients get it.
fn request_units(charge: Charge) -> f64 {
    charge.to_string().parse().unwrap_or_default()
}

/// Partitions that are empty by now have no item to take their key from, and are left out.
fn busiest(
    known: &ContainerUsage,
    state: &Snapshot,
    container: &Container,
) -> Result<Vec<BusyPartition>, EngineError> {
    let mut found = Vec::new();
    for (epk, requests) in known.busiest.counts().into_iter().take(SURVEY_LARGEST_MAX) {
        let key = index::partition_key(state, container, &epk)?;
        found.extend(key.map(|key| BusyPartition { key: shown(key), requests }));
    }
    Ok(found)
}

fn large(
    known: &ContainerUsage,
    state: &Snapshot,
    container: &Container,
) -> Result<Vec<LargeItem>, EngineError> {
    let mut found = Vec::new();
    for item in known.largest.items() {
        let weight = index::item_weight(state, container, &item.epk, &item.id)?;
        let Some(weight) = weight.filter(|weight| weight.bytes >= limits::ITEM_LARGE_BYTES) else { continue };
        let key = index::partition_key(state, container, &item.epk)?.unwrap_or_default();
        let (member, member_bytes) = weight.member.unzip();
        found.push(LargeItem {
            key: shown(key),
            id: item.id.clone(),
            bytes: weight.bytes as u64,
            member,
            member_bytes: member_bytes.unwrap_or_default() as u64,
        });
    }
    found.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.id.cmp(&b.id)));
    Ok(found)
}

/// A partition key as clients send it.
fn shown(key: Vec<Value>) -> Vec<serde_json::Value> {
    let part = |value: Value| serde_json::from_str(&value.to_json()).unwrap_or_else(|_| json!({}));
    key.into_iter().map(part).collect()
}
