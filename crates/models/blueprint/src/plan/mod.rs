//! What lies between a blueprint and a server: a list of steps, in an order in which each may be the last.
//!
//! The database comes first and then the containers, one by one; each step is one request, or some that each leave the
//! server well. So a plan that was broken off is completed by planning again: what is there is not touched.
//!
//! What a blueprint does not speak of is kept: containers it has not, members of a definition it does not know, an
//! indexing policy it does not give, throughput it does not ask for. `defaultTtl` is different: leaving it out says that
//! nothing expires.

mod compare;
mod observed;
mod step;

pub use observed::{Observed, ObservedContainer, ObservedDatabase, ObservedOffer};
pub use step::{Change, Plan, Step, Subject, Verdict};

use crate::blueprint::{Blueprint, Capacity, Container, Environment};
use orrery_documents::definition::Throughput;
use step::Refusal;

/// Compares; pure and total.
pub fn plan(blueprint: &Blueprint, environment: Environment, server: &Observed) -> Plan {
    let planner = Planner { blueprint, environment, server };
    let there = server.databases.get(blueprint.database.as_str());
    let mut steps = vec![planner.database(there)];
    steps.extend(blueprint.containers.iter().map(|container| {
        let name = container.definition.name().as_str();
        planner.container(container, there.and_then(|database| database.containers.get(name)), there)
    }));
    Plan { blueprint: blueprint.name.clone(), environment, steps, notes: planner.notes() }
}

struct Planner<'p> {
    blueprint: &'p Blueprint,
    environment: Environment,
    server: &'p Observed,
}

impl Planner<'_> {
    fn database(&self, there: Option<&ObservedDatabase>) -> Step {
        let wanted = self.wanted(&self.blueprint.capacity);
        let verdict = match there {
            None => Verdict::CreateDatabase { throughput: wanted },
            Some(there) => match (wanted, &there.offer) {
                (Some(wanted), None) => Verdict::Refused(Refusal::SharedThroughput { wanted }),
                (Some(wanted), Some(offer)) if wanted != offer.throughput => {
                    Verdict::Change(vec![throughput_change(offer, wanted)])
                }
                _ => Verdict::Nothing,
            },
        };
        Step { subject: self.subject(None), verdict }
    }

    fn container(
        &self,
        wanted: &Container,
        there: Option<&ObservedContainer>,
        database: Option<&ObservedDatabase>,
    ) -> Step {
        let subject = self.subject(Some(wanted.definition.name().as_str()));
        let throughput = self.wanted(&wanted.capacity);
        let schema = wanted.schema.clone().filter(|_| self.server.keeps_schemas);
        let Some(there) = there else {
            let verdict = Verdict::CreateContainer { body: wanted.definition.to_json(), throughput, schema };
            return Step { subject, verdict };
        };
        if let Some(refusal) = compare::refusal(wanted, there) {
            return Step { subject, verdict: Verdict::Refused(refusal) };
        }
        let mut changes: Vec<Change> = compare::definition(wanted, there).into_iter().collect();
        match (throughput, &there.offer) {
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
        changes.extend(schema.and_then(|body| compare::schema(body, there.schema.as_ref())));
        let verdict = if changes.is_empty() { Verdict::Nothing } else { Verdict::Change(changes) };
        Step { subject, verdict }
    }

    /// A serverless server provisions nothing, whatever is asked for.
    fn wanted(&self, capacity: &Capacity) -> Option<Throughput> {
        capacity.throughput(self.environment).filter(|_| !self.server.is_serverless)
    }

    fn subject(&self, container: Option<&str>) -> Subject {
        Subject { database: self.blueprint.database.to_string(), container: container.map(str::to_owned) }
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
