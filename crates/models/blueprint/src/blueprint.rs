//! A parsed blueprint, independent of its file format.

use crate::query::NamedQuery;
use crate::storage::StorageAccount;
use orrery_core::DatabaseName;
use orrery_documents::definition::{ContainerDefinition, Throughput};
use serde_json::{Map, Value};
use std::fmt;
use std::str::FromStr;

/// A database with its containers and named queries, storage accounts with their resources, or both.
#[derive(Clone, Debug)]
pub struct Blueprint {
    pub name: String,
    pub about: Option<String>,
    /// Containers and queries are in it; a blueprint of storage alone has none.
    pub database: Option<DatabaseName>,
    /// The throughput that the containers share.
    pub capacity: Capacity,
    pub containers: Vec<Container>,
    pub queries: Vec<NamedQuery>,
    pub storage: Vec<StorageAccount>,
    /// Completions that the text does not contain, as sentences.
    pub notes: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Container {
    pub about: Option<String>,
    pub definition: ContainerDefinition,
    /// Whether the indexing policy was given; otherwise the server's is kept.
    pub has_policy: bool,
    /// Its own throughput, besides the database's.
    pub capacity: Capacity,
    /// In the form of `PUT /v1/schemas/{database}/{container}`.
    pub schema: Option<Value>,
    /// Example items; each has an id.
    pub fixtures: Vec<Map<String, Value>>,
}

impl Blueprint {
    pub fn query(&self, name: &str) -> Option<&NamedQuery> {
        self.queries.iter().find(|query| query.name == name)
    }

    /// The error for an unknown query name.
    pub fn unknown_query(&self, name: &str) -> String {
        let names: Vec<&str> = self.queries.iter().map(|query| query.name.as_str()).collect();
        let known = names.join(", ");
        match names.is_empty() {
            true => format!("the blueprint '{}' has no queries", self.name),
            false => format!("the blueprint '{}' has no query '{name}'; there are {known}", self.name),
        }
    }

    /// The name of the database; empty if there is none.
    pub fn database_name(&self) -> &str {
        self.database.as_ref().map(DatabaseName::as_str).unwrap_or_default()
    }

    pub fn container(&self, name: &str) -> Option<&Container> {
        self.containers.iter().find(|container| container.definition.name().as_str() == name)
    }
}

/// The deployment environment; environments differ in throughput.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Environment {
    #[default]
    Development,
    Staging,
    Production,
}

impl Environment {
    pub const ALL: [Self; 3] = [Self::Development, Self::Staging, Self::Production];

    pub fn name(self) -> &'static str {
        match self {
            Self::Development => "development",
            Self::Staging => "staging",
            Self::Production => "production",
        }
    }
}

impl FromStr for Environment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|one| one.name() == text).ok_or_else(|| {
            format!("'{text}' is no environment; there are development, staging and production")
        })
    }
}

impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The requested throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapacityTarget {
    /// Not provisioned.
    Serverless,
    Provisioned(Throughput),
}

/// The throughput of a database or container per environment; none is requested by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capacity([Option<CapacityTarget>; 3]);

impl Capacity {
    /// The same in every environment.
    pub fn everywhere(wanted: Option<CapacityTarget>) -> Self {
        Self([wanted; 3])
    }

    pub fn set(&mut self, environment: Environment, wanted: CapacityTarget) {
        self.0[environment as usize] = Some(wanted);
    }

    pub fn get(&self, environment: Environment) -> Option<CapacityTarget> {
        self.0[environment as usize]
    }

    pub fn throughput(&self, environment: Environment) -> Option<Throughput> {
        match self.get(environment) {
            Some(CapacityTarget::Provisioned(throughput)) => Some(throughput),
            Some(CapacityTarget::Serverless) | None => None,
        }
    }
}
