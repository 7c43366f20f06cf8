//! What tables and queues are asked and hold, as families of measurements.

use super::resource::{AllContents, Contents, Operation, Resource, ResourceId, waiting_seconds};
use super::tracker::{OTHERS, Tracker};
use crate::limits;
use crate::monitor::family::{Family, Labels, Unit};
use orrery_catalog::storage::ServiceKind;
use orrery_core::Timestamp;
use orrery_queue_store::{Counts as QueueCounts, QueueContents};
use orrery_table_store::TableHandle;
use orrery_table_store::usage::TableCounts;

/// What there is to tell.
pub struct ToldStorage<'a> {
    pub resources: &'a [Resource],
    pub contents: &'a AllContents,
    pub tracker: &'a Tracker,
    /// When the contents were looked up.
    pub as_of: Timestamp,
}

type Numbers = Vec<(Labels, f64)>;

/// With the names of partitions if they may be told.
pub fn families(told: &ToldStorage<'_>, with_partitions: bool) -> Vec<Family> {
    let mut families = shared(told);
    families.extend(tables(told));
    families.extend(queues(told));
    if with_partitions {
        families.push(partitions(told));
    }
    families
}

/// What every service has.
fn shared(told: &ToldStorage<'_>) -> Vec<Family> {
    let (mut requests, mut refused, mut stored) = (Numbers::new(), Numbers::new(), Numbers::new());
    for resource in seated(told) {
        let labels = labels(&resource.id());
        push_requests(&mut requests, &labels, &resource.operations());
        if let Some(contents) = told.contents.get(&resource.number()) {
            stored.push((labels.clone(), contents.bytes() as f64));
        }
        refused.push((labels, resource.refused() as f64));
    }
    for (service, operations) in told.tracker.others() {
        let id = ResourceId { service: *service, account: OTHERS.to_owned(), name: OTHERS.to_owned() };
        push_requests(&mut requests, &labels(&id), operations);
    }
    vec![
        Family::counter("storage.requests", "Requests to tables and queues, by operation.", requests),
        Family::counter(
            "storage.refused",
            "Requests that were turned away because too many writes waited.",
            refused,
        ),
        Family::gauge(
            "storage.stored",
            "What a table or queue holds, as the service counts it.",
            Unit::Bytes,
            stored,
        ),
    ]
}

fn push_requests(to: &mut Numbers, labels: &Labels, operations: &[Operation]) {
    for operation in operations.iter().filter(|operation| operation.count > 0) {
        let mut labels = labels.clone();
        labels.push(("operation", operation.name.to_owned()));
        labels.push(("type", operation.class.name().to_owned()));
        to.push((labels, operation.count as f64));
    }
}

fn tables(told: &ToldStorage<'_>) -> Vec<Family> {
    let seated = |value: &dyn Fn(&TableCounts) -> u64| -> Numbers {
        let counted = seated_tables(told).map(|(table, counts)| (table_labels(table), value(counts) as f64));
        counted.collect()
    };
    let entities = seated_tables(told).filter_map(|(table, _)| match told.contents.get(&table.number())? {
        Contents::Table(size) => Some((table_labels(table), size.entities as f64)),
        Contents::Queue(_) => None,
    });
    vec![
        Family::gauge("tables.entities", "Entities of a table.", Unit::None, entities.collect()),
        Family::counter(
            "tables.entities_read",
            "Entities that queries read.",
            seated(&|counts| counts.rows_scanned),
        ),
        Family::counter(
            "tables.entities_returned",
            "Entities that queries returned.",
            seated(&|counts| counts.rows_returned),
        ),
        Family::counter(
            "tables.scans",
            "Pages of queries over partitions that their filters do not name.",
            seated(&|counts| counts.scans_without_partition_key),
        ),
    ]
}

fn queues(told: &ToldStorage<'_>) -> Vec<Family> {
    let all: Vec<(Labels, &QueueCounts, Option<&QueueContents>)> = seated(told)
        .filter_map(|resource| match resource {
            Resource::Queue(queue, counts) => {
                let contents = match told.contents.get(&queue.number) {
                    Some(Contents::Queue(contents)) => Some(contents),
                    _ => None,
                };
                let id = resource.id();
                Some((vec![("account", id.account), ("queue", id.name)], counts, contents))
            }
            Resource::Table(..) => None,
        })
        .collect();
    let counted = |value: fn(&QueueCounts) -> u64| -> Numbers {
        all.iter().map(|(labels, counts, _)| (labels.clone(), value(counts) as f64)).collect()
    };
    let held = |value: &dyn Fn(&QueueContents) -> f64| -> Numbers {
        let known =
            all.iter().filter_map(|(labels, _, contents)| Some((labels.clone(), value((*contents)?))));
        known.collect()
    };
    let waited = |contents: &QueueContents| waiting_seconds(contents, told.as_of).unwrap_or(0) as f64;
    vec![
        Family::gauge(
            "queues.messages",
            "Messages of a queue, visible or not.",
            Unit::None,
            held(&|contents| contents.size.messages as f64),
        ),
        Family::gauge(
            "queues.oldest_message",
            "For how long the first visible message has waited; 0 if none does.",
            Unit::Seconds,
            held(&waited),
        ),
        Family::gauge(
            "queues.repeated_messages",
            "Messages that were got five times or more and are still there; at most 16 are told.",
            Unit::None,
            held(&|contents| contents.repeated.len() as f64),
        ),
        Family::counter("queues.messages_put", "Messages that were put.", counted(|counts| counts.puts)),
        Family::counter(
            "queues.messages_got",
            "Messages that gets returned.",
            counted(|counts| counts.messages_got),
        ),
        Family::counter(
            "queues.messages_got_again",
            "Those of them that had been got before.",
            counted(|counts| counts.messages_got_again),
        ),
        Family::counter(
            "queues.messages_deleted",
            "Messages that were deleted, without those that were cleared.",
            counted(|counts| counts.deletes),
        ),
        Family::counter("queues.empty_gets", "Gets that found nothing.", counted(|counts| counts.empty_gets)),
    ]
}

/// The busiest partitions of each table.
fn partitions(told: &ToldStorage<'_>) -> Family {
    let mut requests = Numbers::new();
    for (table, _) in seated_tables(told) {
        let hot = table.usage().patterns().hot_partitions;
        for (partition_key, count) in hot.into_iter().take(limits::MONITOR_PARTITIONS_TOLD_MAX) {
            let mut labels = table_labels(table);
            labels.push(("partition", partition_key));
            requests.push((labels, count as f64));
        }
    }
    Family::counter("tables.partition.requests", "Requests of the busiest partitions of a table.", requests)
}

fn seated<'a>(told: &ToldStorage<'a>) -> impl Iterator<Item = &'a Resource> {
    let tracker = told.tracker;
    told.resources.iter().filter(move |resource| tracker.has_seat(resource))
}

fn seated_tables<'a>(told: &ToldStorage<'a>) -> impl Iterator<Item = (&'a TableHandle, &'a TableCounts)> {
    seated(told).filter_map(|resource| match resource {
        Resource::Table(table, counts) => Some((table, counts)),
        Resource::Queue(..) => None,
    })
}

fn table_labels(table: &TableHandle) -> Labels {
    vec![("account", table.account.as_str().to_owned()), ("table", table.name.as_str().to_owned())]
}

fn labels(id: &ResourceId) -> Labels {
    let ResourceId { service, account, name } = id;
    let service: ServiceKind = *service;
    vec![("service", service.name().to_owned()), ("account", account.clone()), ("resource", name.clone())]
}
