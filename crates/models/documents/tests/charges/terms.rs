//! What an item has in the indexes of a container with a policy.

use orrery_catalog::definition::ContainerDefinition;
use orrery_core::Timestamp;
use orrery_documents::index::{self, IndexRules};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The rules of a container that was made with this policy.
pub fn rules(policy: &Value) -> IndexRules {
    let body = json!({"id": "c", "partitionKey": {"paths": ["/pk"]}, "indexingPolicy": policy});
    let body = body.as_object().expect("an object").clone();
    let definition = ContainerDefinition::parse(body).expect("a definition");
    IndexRules::new(definition.indexing())
}

/// The policy that a container has when it names none.
pub fn everything() -> IndexRules {
    rules(&json!({"includedPaths": [{"path": "/*"}]}))
}

/// The terms of an item that was written at a second.
pub fn terms(rules: &IndexRules, item: &Value, second: u64) -> BTreeSet<Vec<u8>> {
    let terms = index::terms(rules, &item.to_string(), Timestamp::from_seconds(second));
    terms.iter().map(<[u8]>::to_vec).collect()
}
