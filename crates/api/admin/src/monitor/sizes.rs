//! Sizes of containers, refreshed at intervals.

use crate::limits;
use orrery_document_store::limits::MONITOR_CONTAINERS_MAX;
use orrery_document_store::{EngineError, Snapshot};
use orrery_documents::catalog::Catalog;
use orrery_documents::index::{self, Survey};
use serde_json::json;
use std::collections::BTreeMap;

/// By container number.
pub type Sizes = BTreeMap<u32, Held>;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Held {
    pub items: u64,
    /// Bytes of the items' text.
    pub bytes: u64,
    pub partitions: u64,
    /// The largest partitions: key as JSON, items, bytes.
    pub largest: Vec<(String, u64, u64)>,
}

/// Scans the partitions of all containers, up to the limit of one survey.
pub fn look(state: &Snapshot, catalog: &Catalog) -> Result<Sizes, EngineError> {
    let (mut sizes, mut looked_at) = (Sizes::new(), 0);
    for container in catalog.all_containers().take(MONITOR_CONTAINERS_MAX) {
        if looked_at > limits::MONITOR_SIZES_ROWS_MAX {
            break;
        }
        let survey = index::survey_partitions(state, container)?;
        looked_at += survey.partitions;
        sizes.insert(container.number(), held(survey));
    }
    Ok(sizes)
}

fn held(survey: Survey) -> Held {
    let key = |values: Vec<orrery_value::Value>| {
        let part =
            |value: orrery_value::Value| serde_json::from_str(&value.to_json()).unwrap_or_else(|_| json!({}));
        serde_json::Value::Array(values.into_iter().map(part).collect()).to_string()
    };
    let largest = survey.largest.into_iter().map(|it| (key(it.key), it.items, it.bytes)).collect();
    Held { items: survey.items, bytes: survey.bytes, partitions: survey.partitions, largest }
}
