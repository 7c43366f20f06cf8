//! What the rules look at: a number for each thing that could be in trouble. Pure.

use super::rule::{Kind, Rule};
use crate::monitor::sizes::Sizes;
use crate::monitor::storage::readings as storage_readings;
use crate::monitor::storage::resource::{AllContents, Resource, ResourceId};
use crate::monitor::throughput::Provisioned;
use crate::monitor::window::{Between, CLASSES, Classes};
use orrery_core::Timestamp;
use orrery_document_store::monitor::Totals;

/// What an alert is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    Documents(Place),
    Storage(ResourceId),
}

/// A part of the documents.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub database: String,
    pub container: Option<String>,
    /// `read`, `write` or `query`, where they are told apart.
    pub class: Option<&'static str>,
    /// A logical partition, by its key.
    pub partition: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    pub kind: Kind,
    pub subject: Subject,
    pub value: f64,
}

/// What is known at one moment.
pub struct Known<'a> {
    pub provisioned: &'a Provisioned,
    pub sizes: &'a Sizes,
    pub partition_bytes_max: u64,
    pub resources: &'a [Resource],
    pub contents: &'a AllContents,
    /// When the contents were looked up: a message that waited then may be gone by now.
    pub as_of: Timestamp,
}

/// A reading for everything that a rule looks at.
pub fn readings(rule: &Rule, between: Option<&Between>, known: &Known<'_>) -> Vec<Reading> {
    match (rule.kind, between) {
        (Kind::PartitionStorage, _) => storage(known),
        (Kind::MessageWait | Kind::MessageGets, _) => {
            storage_readings::readings(rule.kind, known.resources, known.contents, known.as_of)
        }
        (_, None) => Vec::new(),
        (Kind::RequestUnits, Some(between)) => request_units(rule, between, known.provisioned),
        (Kind::Throttled, Some(between)) => throttled(rule, between, known.provisioned),
        (Kind::Latency, Some(between)) => latency(rule, between, known.provisioned),
    }
}

fn sum(classes: &Classes) -> Totals {
    let mut sum = Totals::default();
    classes.iter().for_each(|totals| sum.merge(totals));
    sum
}

/// Containers that share the throughput of their database are looked at together.
fn request_units(rule: &Rule, between: &Between, provisioned: &Provisioned) -> Vec<Reading> {
    let share = |owner: &crate::monitor::throughput::Supply| {
        let used = owner.containers.iter().filter_map(|number| between.containers.get(number)).map(sum);
        let used = used.fold(Totals::default(), |mut all, one| {
            all.merge(&one);
            all
        });
        let per_second = used.request_units() / between.seconds;
        let subject = Subject::Documents(place(&owner.database, owner.container.as_deref()));
        let value = 100.0 * per_second / owner.units_per_second.max(1) as f64;
        (used.requests() >= rule.requests_min).then_some(Reading { kind: rule.kind, subject, value })
    };
    provisioned.supplies.iter().filter_map(share).collect()
}

fn throttled(rule: &Rule, between: &Between, provisioned: &Provisioned) -> Vec<Reading> {
    let share = |(number, classes): (&u32, &Classes)| {
        let (database, container) = provisioned.names.get(number)?;
        let totals = sum(classes);
        let value = 100.0 * totals.throttled() as f64 / totals.requests().max(1) as f64;
        let subject = Subject::Documents(place(database, Some(container)));
        (totals.requests() >= rule.requests_min.max(1)).then_some(Reading { kind: rule.kind, subject, value })
    };
    between.containers.iter().filter_map(share).collect()
}

fn latency(rule: &Rule, between: &Between, provisioned: &Provisioned) -> Vec<Reading> {
    let mut found = Vec::new();
    for (number, classes) in &between.containers {
        let Some((database, container)) = provisioned.names.get(number) else { continue };
        for (class, totals) in CLASSES.iter().zip(classes) {
            let Some(value) = totals.latency.quantile_millis(0.95) else { continue };
            if totals.requests() >= rule.requests_min {
                let place = Place { class: Some(class.name()), ..place(database, Some(container)) };
                let subject = Subject::Documents(place);
                found.push(Reading { kind: rule.kind, subject, value });
            }
        }
    }
    found
}

fn storage(known: &Known<'_>) -> Vec<Reading> {
    let mut found = Vec::new();
    for (number, held) in known.sizes {
        let Some((database, container)) = known.provisioned.names.get(number) else { continue };
        for (key, _, bytes) in &held.largest {
            let place = Place { partition: Some(key.clone()), ..place(database, Some(container)) };
            let subject = Subject::Documents(place);
            let value = 100.0 * *bytes as f64 / known.partition_bytes_max.max(1) as f64;
            found.push(Reading { kind: Kind::PartitionStorage, subject, value });
        }
    }
    found
}

fn place(database: &str, container: Option<&str>) -> Place {
    Place {
        database: database.to_owned(),
        container: container.map(str::to_owned),
        class: None,
        partition: None,
    }
}
