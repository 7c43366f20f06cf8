//! What facts say about answers: the status of a call, the members of an item.

use azure_data_cosmos::clients::ContainerClient;
use azure_data_cosmos::models::{ItemResponse, PartitionKey, ResourceResponse};
use azure_data_cosmos::{CosmosError, Result};
use serde_json::{Map, Value};

/// Answers that carry an HTTP status.
pub trait Status {
    fn code(&self) -> u16;
}

impl Status for ItemResponse {
    fn code(&self) -> u16 {
        self.status().status_code().into()
    }
}

impl<T> Status for ResourceResponse<T> {
    fn code(&self) -> u16 {
        self.status().status_code().into()
    }
}

impl Status for CosmosError {
    fn code(&self) -> u16 {
        self.status().status_code().into()
    }
}

/// The status of a call, however it ended.
pub fn status<T: Status>(outcome: Result<T>) -> u16 {
    outcome.map_or_else(|error| error.code(), |answer| answer.code())
}

/// The status a call is refused with; a call that succeeds fails the fact.
#[track_caller]
pub fn refused<T>(outcome: Result<T>) -> u16 {
    match outcome {
        Ok(_) => panic!("the call was accepted"),
        Err(error) => error.code(),
    }
}

pub async fn read(container: &ContainerClient, key: impl Into<PartitionKey>, id: &str) -> Result<Value> {
    container.read_item(key, id, None).await?.into_model()
}

/// The item without what the server added.
pub fn user_members(item: Value) -> Value {
    let Value::Object(members) = item else { return item };
    Value::Object(members.into_iter().filter(|(name, _)| !name.starts_with('_')).collect::<Map<_, _>>())
}

/// The ids of the items, in order.
pub fn ids(items: &[Value]) -> Vec<&str> {
    let mut ids: Vec<&str> = items.iter().filter_map(|item| item["id"].as_str()).collect();
    ids.sort_unstable();
    ids
}

/// Everything expected is there; the server may add more (defaults, system paths).
#[track_caller]
pub fn assert_holds(actual: &Value, expected: &Value) {
    assert!(holds(actual, expected), "{expected} is not all in {actual}");
}

fn holds(actual: &Value, expected: &Value) -> bool {
    match (actual, expected) {
        (Value::Object(actual), Value::Object(expected)) => {
            expected.iter().all(|(name, value)| actual.get(name).is_some_and(|given| holds(given, value)))
        }
        (Value::Array(actual), Value::Array(expected)) => {
            expected.iter().all(|value| actual.iter().any(|given| holds(given, value)))
        }
        _ => actual == expected,
    }
}
