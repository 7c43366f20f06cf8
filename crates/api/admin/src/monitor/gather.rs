//! Collects all measurements as families.

use super::alerts::Alerts;
use super::alerts::rule::Kind;
use super::family::{Family, Labels, Unit, Values};
use super::sizes::{Held, Sizes};
use super::throughput::Provisioned;
use crate::limits;
use orrery_api_common::BodyBudget;
use orrery_core::Lsn;
use orrery_document_store::monitor::{Counted, Histogram, PartitionTotals, REACHES, STATUSES, Subject};
use orrery_document_store::{Measure, MemoryUse};
use std::collections::BTreeMap;

/// The collected state.
pub struct Told<'a> {
    pub counted: &'a Counted,
    pub provisioned: &'a Provisioned,
    pub sizes: &'a Sizes,
    pub alerts: &'a Alerts,
    pub partition_bytes_max: u64,
    pub lsn: Lsn,
    pub engine: Vec<Measure>,
    pub query_memory: MemoryUse,
}

type Numbers = Vec<(Labels, f64)>;

pub fn families(told: &Told<'_>, with_partitions: bool) -> Vec<Family> {
    let mut families = requests(told);
    families.extend(storage(told));
    if with_partitions {
        families.extend(partitions(told));
    }
    families.extend(server(told));
    families
}

/// Requests by container and operation (S1-68 to S1-72, S1-74).
fn requests(told: &Told<'_>) -> Vec<Family> {
    let (mut counts, mut units, mut latencies, mut queries) =
        (Numbers::new(), Numbers::new(), Vec::<(Labels, Histogram)>::new(), Numbers::new());
    for (subject, totals) in &told.counted.meters {
        let Some(place) = place(told, *subject) else { continue };
        for (kind, totals) in &totals.kinds {
            let mut labels = place.clone();
            labels.push(("operation", kind.name().to_owned()));
            labels.push(("type", kind.class().name().to_owned()));
            for (status, count) in STATUSES.iter().zip(totals.statuses).filter(|(_, count)| *count > 0) {
                let status = if *status == 0 { "other".to_owned() } else { status.to_string() };
                let mut labels = labels.clone();
                labels.push(("status", status));
                counts.push((labels, count as f64));
            }
            units.push((labels.clone(), totals.request_units()));
            latencies.push((labels, totals.latency.clone()));
        }
        for (reach, count) in REACHES.iter().zip(totals.queries).filter(|(_, count)| *count > 0) {
            let mut labels = place.clone();
            labels.push(("reach", (*reach).to_owned()));
            queries.push((labels, count as f64));
        }
    }
    vec![
        Family::counter("cosmos.requests", "Requests answered, by operation and status.", counts),
        Family::counter("cosmos.request_units", "Request units consumed.", units),
        Family {
            name: "cosmos.latency".to_owned(),
            help: "Time from a request's head to its answer.",
            unit: Unit::Milliseconds,
            values: Values::Histogram(latencies),
        },
        Family::counter("cosmos.queries", "Queries begun, by how many partitions they reach.", queries),
    ]
}

/// Sizes and throughput of containers (S1-71, S3-51).
fn storage(told: &Told<'_>) -> Vec<Family> {
    let of = |value: fn(&Held) -> u64| -> Numbers {
        let named = told
            .sizes
            .iter()
            .filter_map(|(number, held)| Some((container(told, *number)?, value(held) as f64)));
        named.collect()
    };
    let supplies = told.provisioned.supplies.iter().map(|supply| {
        let container = supply.container.clone().unwrap_or_default();
        (names(&supply.database, &container), supply.units_per_second as f64)
    });
    vec![
        Family::gauge(
            "cosmos.storage",
            "Text of the items of a container.",
            Unit::Bytes,
            of(|held| held.bytes),
        ),
        Family::gauge("cosmos.items", "Items of a container.", Unit::None, of(|held| held.items)),
        Family::gauge(
            "cosmos.partitions",
            "Logical partitions of a container.",
            Unit::None,
            of(|held| held.partitions),
        ),
        Family::gauge(
            "cosmos.provisioned_request_units",
            "Request units a second that a container or database may spend.",
            Unit::None,
            supplies.collect(),
        ),
    ]
}

/// The busiest and the largest logical partitions of each container (S3-48 to S3-52).
fn partitions(told: &Told<'_>) -> Vec<Family> {
    let mut told_of: BTreeMap<u32, usize> = BTreeMap::new();
    let busiest = told.counted.partitions.iter().filter(|partition| {
        let already = told_of.entry(partition.container).or_default();
        *already += 1;
        *already <= limits::MONITOR_PARTITIONS_TOLD_MAX
    });
    let busiest: Vec<(Labels, &PartitionTotals)> =
        busiest.filter_map(|it| Some((partition(told, it.container, &it.key)?, it))).collect();
    let of = |value: fn(&PartitionTotals) -> f64| -> Numbers {
        busiest.iter().map(|(labels, it)| (labels.clone(), value(it))).collect()
    };
    let mut quantiles = Numbers::new();
    for (labels, it) in &busiest {
        for (name, share) in [("0.5", 0.5), ("0.95", 0.95), ("0.99", 0.99)] {
            let Some(millis) = it.latency.quantile_millis(share) else { continue };
            let mut labels = labels.clone();
            labels.push(("quantile", name.to_owned()));
            quantiles.push((labels, millis));
        }
    }
    let mut largest = Numbers::new();
    for (number, held) in told.sizes {
        let told_of = held
            .largest
            .iter()
            .filter_map(|(key, _, bytes)| Some((partition(told, *number, key)?, *bytes as f64)));
        largest.extend(told_of);
    }
    let help_latency = "What a share of a logical partition's requests took at most, since it is known.";
    vec![
        Family::counter(
            "cosmos.partition.requests",
            "Requests of the busiest logical partitions.",
            of(|it| it.requests as f64),
        ),
        Family::counter(
            "cosmos.partition.request_units",
            "Request units of the busiest logical partitions.",
            of(|it| it.hundredths as f64 / 100.0),
        ),
        Family::counter(
            "cosmos.partition.throttled",
            "Requests of the busiest logical partitions that were turned away.",
            of(|it| it.throttled as f64),
        ),
        Family::gauge("cosmos.partition.latency", help_latency, Unit::Milliseconds, quantiles),
        Family::gauge(
            "cosmos.partition.storage",
            "Text of the items of the largest logical partitions.",
            Unit::Bytes,
            largest,
        ),
    ]
}

/// The process and its engine.
fn server(told: &Told<'_>) -> Vec<Family> {
    let one = |value: f64| vec![(Labels::new(), value)];
    let alerts =
        Kind::ALL.map(|kind| (vec![("rule", kind.name().to_owned())], told.alerts.firing(kind) as f64));
    let started = told.counted.started.millis() as f64 / 1000.0;
    let bodies = BodyBudget::of_process();
    let memory = |queries: usize, bodies: usize| {
        let of = |name: &str, bytes: usize| (vec![("of", name.to_owned())], bytes as f64);
        vec![of("queries", queries), of("bodies", bodies)]
    };
    let mut families = vec![
        Family::gauge(
            "orrery.memory",
            "Memory that running queries and bodies of requests hold.",
            Unit::Bytes,
            memory(told.query_memory.bytes, bodies.bytes_used()),
        ),
        Family::gauge(
            "orrery.memory_max",
            "Memory that they may hold.",
            Unit::Bytes,
            memory(told.query_memory.bytes_max, bodies.bytes_max()),
        ),
        Family::gauge(
            "cosmos.partition.storage_max",
            "What a logical partition may hold.",
            Unit::Bytes,
            one(told.partition_bytes_max as f64),
        ),
        Family::counter(
            "cosmos.session_reads",
            "Reads that came with a session token.",
            one(told.counted.session_reads as f64),
        ),
        Family::counter(
            "cosmos.session_misses",
            "Reads whose session token asked for what is not there yet.",
            one(told.counted.session_misses as f64),
        ),
        Family::gauge("orrery.alerts", "Alerts that are firing.", Unit::None, alerts.to_vec()),
        Family::counter("orrery.commits", "The newest durable commit.", one(told.lsn.0 as f64)),
        Family::gauge(
            "orrery.start_time",
            "When the process started, since 1970.",
            Unit::Seconds,
            one(started),
        ),
    ];
    for measure in &told.engine {
        let name = format!("orrery.engine.{}", measure.name);
        let (help, value) = ("Told by the storage engine.", one(measure.value as f64));
        let unit = if measure.unit == "bytes" { Unit::Bytes } else { Unit::None };
        families.push(match measure.is_total {
            true => Family::counter(&name, help, value),
            false => Family::gauge(&name, help, unit, value),
        });
    }
    families
}

fn place(told: &Told<'_>, subject: Subject) -> Option<Labels> {
    match subject {
        Subject::Account => Some(names("", "")),
        Subject::Others => Some(names("(others)", "(others)")),
        Subject::Container(number) => container(told, number),
    }
}

fn container(told: &Told<'_>, number: u32) -> Option<Labels> {
    told.provisioned.names.get(&number).map(|(database, container)| names(database, container))
}

fn names(database: &str, container: &str) -> Labels {
    vec![("database", database.to_owned()), ("container", container.to_owned())]
}

fn partition(told: &Told<'_>, number: u32, key: &str) -> Option<Labels> {
    let mut labels = container(told, number)?;
    labels.push(("partition", key.to_owned()));
    Some(labels)
}
