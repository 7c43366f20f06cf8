//! What a server has, as far as blueprints speak of it.

use orrery_documents::definition::{ContainerDefinition, Throughput};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// Whether it provisions nothing and has no offers.
    pub is_serverless: bool,
    /// Whether it was, and could be, asked for schemas.
    pub keeps_schemas: bool,
    pub databases: BTreeMap<String, ObservedDatabase>,
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
    /// As `GET /v1/schemas/{database}/{container}` tells it.
    pub schema: Option<Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ObservedOffer {
    pub rid: String,
    pub throughput: Throughput,
}
