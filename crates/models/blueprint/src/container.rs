//! A container's definition from the members that a file has, through the parser that a create on the wire goes through.

use crate::node::{Fault, Place};
use crate::policy;
use orrery_documents::definition::{ContainerDefinition, Throughput};
use serde_json::{Map, Value, json};

/// What came of it: the definition, whether it brought a policy, and what was completed.
pub(crate) struct Defined {
    pub definition: ContainerDefinition,
    pub has_policy: bool,
    pub notes: Vec<String>,
}

/// What a file means that says no version. The service means 1, which hashes only the first 100 characters of a key.
const PARTITION_KEY_VERSION: u8 = 2;

/// `body` is as the service takes it, but for what `policy` completes.
pub(crate) fn define(at: Place, mut body: Map<String, Value>) -> Result<Defined, Fault> {
    let id = body.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut notes = Vec::new();
    let policy = body.get_mut("indexingPolicy").and_then(Value::as_object_mut);
    let has_policy = policy.is_some();
    if let Some(policy) = policy {
        notes = policy::complete(policy);
    }
    if let Some(key) = body.get_mut("partitionKey").and_then(Value::as_object_mut) {
        key.entry("version").or_insert(json!(PARTITION_KEY_VERSION));
    }
    let definition = ContainerDefinition::parse(body)
        .map_err(|error| Fault { at, reason: format!("the container '{id}' cannot be made: {error}") })?;
    let notes = notes.into_iter().map(|note| format!("{id}: {note}")).collect();
    Ok(Defined { definition, has_policy, notes })
}

/// Throughput as the files have it, checked as an offer is. Both kinds at once is refused, as the service does (C-30).
pub(crate) fn throughput(
    at: Place,
    manual: Option<i64>,
    autoscale: Option<i64>,
) -> Result<Option<Throughput>, Fault> {
    let content = match (manual, autoscale) {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => {
            let reason = "this asks for manual throughput and for autoscale at once; keep one: with autoscale only \
                          its maximum is given, and a tenth of it is the least";
            return Err(Fault { at, reason: reason.to_owned() });
        }
        (Some(units), None) => json!({"offerThroughput": units}),
        (None, Some(max)) => json!({"offerAutopilotSettings": {"maxThroughput": max}}),
    };
    let made = Throughput::from_offer_content(&content);
    made.map(Some).map_err(|error| Fault { at, reason: error.to_string() })
}
