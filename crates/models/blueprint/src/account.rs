//! Collects the databases and containers of an account template, resource by resource.
//!
//! Terraform and ARM list resources in any order, so a container may come before its database, or without
//! one.

use crate::blueprint::{Blueprint, Capacity, CapacityTarget, Container};
use crate::container;
use crate::limits;
use crate::node::{Fault, Location, fault};
use orrery_core::DatabaseName;
use orrery_documents::definition::Throughput;
use serde_json::{Map, Value};

#[derive(Default)]
pub(crate) struct Account {
    pub is_serverless: bool,
    databases: Vec<Draft>,
}

struct Draft {
    name: DatabaseName,
    at: Location,
    throughput: Option<Throughput>,
    is_declared: bool,
    containers: Vec<(Container, Option<Throughput>)>,
    notes: Vec<String>,
}

impl Account {
    pub fn add_database(
        &mut self,
        at: Location,
        name: &str,
        throughput: Option<Throughput>,
    ) -> Result<(), Fault> {
        let draft = self.draft(at, name)?;
        if draft.is_declared {
            return fault(at, format!("the database '{name}' is here twice"));
        }
        draft.is_declared = true;
        draft.throughput = throughput.or(draft.throughput);
        Ok(())
    }

    pub fn add_container(
        &mut self,
        at: Location,
        database: &str,
        body: Map<String, Value>,
        throughput: Option<Throughput>,
    ) -> Result<(), Fault> {
        let made = container::define(at, body)?;
        let draft = self.draft(at, database)?;
        let name = made.definition.name().clone();
        if draft.containers.iter().any(|(known, _)| *known.definition.name() == name) {
            return fault(at, format!("the container '{name}' is here twice"));
        }
        if draft.containers.len() == limits::BLUEPRINT_CONTAINERS_MAX {
            return fault(
                at,
                format!("a database has at most {} containers", limits::BLUEPRINT_CONTAINERS_MAX),
            );
        }
        draft.notes.extend(made.notes);
        let container = Container {
            about: None,
            definition: made.definition,
            has_policy: made.has_policy,
            capacity: Capacity::default(),
            schema: None,
            fixtures: Vec::new(),
        };
        draft.containers.push((container, throughput));
        Ok(())
    }

    /// Throughput declared as a separate resource.
    pub fn set_throughput(
        &mut self,
        at: Location,
        database: &str,
        container: Option<&str>,
        throughput: Throughput,
    ) -> Result<(), Fault> {
        let draft = self.draft(at, database)?;
        match container {
            None => draft.throughput = Some(throughput),
            Some(name) => {
                let found =
                    draft.containers.iter_mut().find(|(known, _)| known.definition.name().as_str() == name);
                let Some((_, held)) = found else {
                    return fault(
                        at,
                        format!("this is the throughput of '{name}', which the template has not"),
                    );
                };
                *held = Some(throughput);
            }
        }
        Ok(())
    }

    /// One blueprint per database, by name.
    pub fn finish(self) -> Vec<Blueprint> {
        let is_serverless = self.is_serverless;
        self.databases.into_iter().map(|draft| draft.finish(is_serverless)).collect()
    }

    fn draft(&mut self, at: Location, name: &str) -> Result<&mut Draft, Fault> {
        if let Some(found) = self.databases.iter().position(|draft| draft.name.as_str() == name) {
            return Ok(&mut self.databases[found]);
        }
        let name = DatabaseName::parse(name).map_err(|error| Fault { at, reason: error.to_string() })?;
        let (containers, notes) = (Vec::new(), Vec::new());
        self.databases.push(Draft { name, at, throughput: None, is_declared: false, containers, notes });
        let last = self.databases.len() - 1;
        Ok(&mut self.databases[last])
    }
}

impl Draft {
    fn finish(self, is_serverless: bool) -> Blueprint {
        let mut notes = self.notes;
        let mut dropped = false;
        let mut capacity = |throughput: Option<Throughput>| {
            dropped |= is_serverless && throughput.is_some();
            Capacity::everywhere(match (is_serverless, throughput) {
                (true, _) => Some(CapacityTarget::Serverless),
                (false, throughput) => throughput.map(CapacityTarget::Provisioned),
            })
        };
        let database_capacity = capacity(self.throughput);
        let finish = |(container, throughput)| Container { capacity: capacity(throughput), ..container };
        let containers = self.containers.into_iter().map(finish).collect();
        if dropped {
            notes.push("the account is serverless, so the throughput beside it is left out".to_owned());
        }
        if !self.is_declared {
            notes.push(format!(
                "the database '{}' is only referred to (line {}), and is made too",
                self.name, self.at.line
            ));
        }
        Blueprint {
            name: self.name.to_string(),
            about: None,
            database: Some(self.name),
            capacity: database_capacity,
            containers,
            queries: Vec::new(),
            storage: Vec::new(),
            notes,
        }
    }
}
