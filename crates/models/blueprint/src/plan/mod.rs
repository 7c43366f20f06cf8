//! The plan from a server's state to a blueprint: a list of steps that may stop after any of them.
//!
//! The database comes first, then the containers in turn, then each storage account with its tables and
//! queues; each step is one request, or several that each leave the server consistent. So an interrupted plan is completed by planning again: existing resources are
//! not touched.
//!
//! Everything that the blueprint does not mention is kept: other containers, unknown members of a definition,
//! an indexing policy, throughput, metadata or access policies that it does not specify. `defaultTtl` is the exception: omitting it
//! means that nothing expires.

use crate::blueprint::{Blueprint, Capacity, Container, Environment};
use orrery_documents::definition::{ContainerDefinition, Throughput};
use serde_json::Value;
use std::collections::BTreeMap;
use step::Refusal;
pub use step::{Change, Plan, Step, Subject, Verdict};

mod compare;
mod step;
mod storage;

pub use storage::{ObservedQueue, ObservedStorage, ObservedStorageAccount, ObservedTable};

/// Compares; pure and total.
pub fn plan(blueprint: &Blueprint, environment: Environment, server: &Observed) -> Plan {
    let planner = Planner { blueprint, environment, server };
    let observed = server.databases.get(blueprint.database_name());
    let mut steps = Vec::new();
    steps.extend(blueprint.database.as_ref().map(|_| planner.database(observed)));
    steps.extend(blueprint.containers.iter().map(|container| {
        let name = container.definition.name().as_str();
        planner.container(container, observed.and_then(|database| database.containers.get(name)), observed)
    }));
    steps.extend(blueprint.storage.iter().flat_map(|account| storage::steps(account, &server.storage)));
    Plan { blueprint: blueprint.name.clone(), environment, steps, notes: planner.notes() }
}

struct Planner<'p> {
    blueprint: &'p Blueprint,
    environment: Environment,
    server: &'p Observed,
}

impl Planner<'_> {
    fn database(&self, observed: Option<&ObservedDatabase>) -> Step {
        let wanted = self.wanted(&self.blueprint.capacity);
        let verdict = match observed {
            None => Verdict::CreateDatabase { throughput: wanted },
            Some(observed) => match (wanted, &observed.offer) {
                (Some(wanted), None) => Verdict::Refused(Refusal::SharedThroughput { wanted }),
                (Some(wanted), Some(offer)) if wanted != offer.throughput => {
                    Verdict::Change(vec![throughput_change(offer, wanted)])
                }
                _ => Verdict::Nothing,
            },
        };
        Step { subject: Subject::Database { database: self.blueprint.database_name().to_owned() }, verdict }
    }

    fn container(
        &self,
        wanted: &Container,
        observed: Option<&ObservedContainer>,
        database: Option<&ObservedDatabase>,
    ) -> Step {
        let subject = Subject::Container {
            database: self.blueprint.database_name().to_owned(),
            container: wanted.definition.name().to_string(),
        };
        let throughput = self.wanted(&wanted.capacity);
        let schema = wanted.schema.clone().filter(|_| self.server.keeps_schemas);
        let Some(observed) = observed else {
            let verdict = Verdict::CreateContainer { body: wanted.definition.to_json(), throughput, schema };
            return Step { subject, verdict };
        };
        if let Some(refusal) = compare::refusal(wanted, observed) {
            return Step { subject, verdict: Verdict::Refused(refusal) };
        }
        let mut changes: Vec<Change> = compare::definition(wanted, observed).into_iter().collect();
        match (throughput, &observed.offer) {
            (Some(wanted), None) => {
                let shares = database.is_some_and(|database| database.offer.is_some());
                let refusal = Refusal::OwnThroughput { wanted, shares };
                return Step { subject, verdict: Verdict::Refused(refusal) };
            }
            (Some(wanted), Some(offer)) if wanted != offer.throughput => {
                changes.push(throughput_change(offer, wanted));
            }
            _ => {}
        }
        changes.extend(schema.and_then(|body| compare::schema(body, observed.schema.as_ref())));
        let verdict = if changes.is_empty() { Verdict::Nothing } else { Verdict::Change(changes) };
        Step { subject, verdict }
    }

    /// A serverless server provisions nothing, whatever is requested.
    fn wanted(&self, capacity: &Capacity) -> Option<Throughput> {
        capacity.throughput(self.environment).filter(|_| !self.server.is_serverless)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.blueprint.notes.clone();
        let capacities = self.blueprint.containers.iter().map(|container| &container.capacity);
        let mut capacities = capacities.chain([&self.blueprint.capacity]);
        if self.server.is_serverless && capacities.any(|one| one.throughput(self.environment).is_some()) {
            notes.push("the server is serverless, so no throughput is provisioned".to_owned());
        }
        let has_schemas = self.blueprint.containers.iter().any(|container| container.schema.is_some());
        if has_schemas && !self.server.keeps_schemas {
            notes.push(
                "the schemas are left out: they are told to a services port, and none was asked".to_owned(),
            );
        }
        notes
    }
}

fn throughput_change(offer: &ObservedOffer, to: Throughput) -> Change {
    Change::Throughput { offer: offer.rid.clone(), from: offer.throughput, to }
}

// The state of a server, as far as blueprints describe it.

#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// Whether it is serverless and has no offers.
    pub is_serverless: bool,
    /// Whether schemas were, and could be, requested.
    pub keeps_schemas: bool,
    pub databases: BTreeMap<String, ObservedDatabase>,
    pub storage: ObservedStorage,
}

#[derive(Clone, Debug, Default)]
pub struct ObservedDatabase {
    pub offer: Option<ObservedOffer>,
    pub containers: BTreeMap<String, ObservedContainer>,
}

#[derive(Clone, Debug)]
pub struct ObservedContainer {
    pub definition: ContainerDefinition,
    pub etag: String,
    pub offer: Option<ObservedOffer>,
    /// In the form of `GET /v1/schemas/{database}/{container}`.
    pub schema: Option<Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ObservedOffer {
    pub rid: String,
    pub throughput: Throughput,
}
