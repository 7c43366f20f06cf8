//! Idempotency records: a repeated key returns the first response. Each service keeps its own, for 24 hours.
//!
//! ```text
//! begin ─ First ──────▶ do the work ─▶ finish(response)
//!       ├ Unfinished ─▶ do it again (after a crash, or beside a twin): its ids must follow from the key
//!       ├ Repeated ───▶ return the first response
//!       └ Different ──▶ refuse: the key came with another request
//! ```
//!
//! The record alone does not make the work happen once, since no transaction spans both; ids derived from the
//! key do. A response known beforehand can be passed to `begin`; then there is nothing to finish.

use crate::limits;
use crate::ports::documents::{Documents, Item, StoreError, Write};
use crate::service_container::PARTITION;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// The records of one service.
#[derive(Clone, Copy)]
pub struct Records<'a> {
    pub documents: &'a Documents,
    /// The service's own container.
    pub container: &'a str,
}

/// A key as the caller sent it, with the identity of its request.
///
/// Each key has its own partition, so that the records of a busy caller are spread over the store.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    /// The owner of the key: two callers may use the same one.
    pub caller: &'a str,
    pub key: &'a str,
    /// Distinguishes requests; see [`hash`].
    pub body_hash: &'a str,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Begun {
    First(Unanswered),
    /// It was begun before, and its response is unknown.
    Unfinished(Unanswered),
    Repeated(Value),
    Different,
}

/// A record that awaits its response, with its etag.
#[derive(Clone, Debug, PartialEq)]
pub struct Unanswered(String);

/// Retries if records of a key expire while they are read.
const TRIES_MAX: usize = 3;

impl Records<'_> {
    pub async fn begin(&self, key: &Key<'_>, planned: Option<Value>) -> Result<Begun, StoreError> {
        orrery_core::tour_step!();
        let name = name(key);
        let planned = planned.unwrap_or_default();
        for _ in 0..TRIES_MAX {
            let write = Write::Create(record(&name, key, &planned));
            match self.documents.write(self.container, &name, write).await {
                Ok(item) => {
                    return Ok(Begun::First(Unanswered(item.map(|item| item.etag).unwrap_or_default())));
                }
                Err(StoreError::Conflict) => {}
                Err(error) => return Err(error),
            }
            // The record may have expired between the two.
            if let Some(item) = self.documents.read(self.container, &name, ID).await? {
                return Ok(judged(item, key));
            }
        }
        Err(StoreError::Busy { after: None })
    }

    /// Records the response. The first one stays, because concurrent copies of a request may both get
    /// here.
    pub async fn finish(&self, key: &Key<'_>, begun: Unanswered, answer: &Value) -> Result<(), StoreError> {
        let name = name(key);
        let write = Write::Replace { item: record(&name, key, answer), if_match: Some(begun.0) };
        match self.documents.write(self.container, &name, write).await {
            Ok(_) | Err(StoreError::Changed | StoreError::Missing) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn judged(mut item: Item, key: &Key<'_>) -> Begun {
    if item.value.get("bodyHash").and_then(Value::as_str) != Some(key.body_hash) {
        return Begun::Different;
    }
    match item.value.get_mut("answer").map(Value::take) {
        None | Some(Value::Null) => Begun::Unfinished(Unanswered(item.etag)),
        Some(answer) => Begun::Repeated(answer),
    }
}

/// A hexadecimal hash of a request: its parts in sequence, each with its length.
pub fn hash(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

const ID: &str = "idempotency";

/// The partition of the key's record. A key is arbitrary text; the hash has a bounded length.
fn name(key: &Key<'_>) -> String {
    format!("idempotency:{}", hash(&[key.caller.as_bytes(), key.key.as_bytes()]))
}

fn record(name: &str, key: &Key<'_>, answer: &Value) -> Value {
    json!({
        "id": ID,
        PARTITION: name,
        "kind": "idempotency",
        "bodyHash": key.body_hash,
        "answer": answer,
        "ttl": limits::SERVICE_IDEMPOTENCY_SECONDS,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_distinguished() {
        assert_ne!(hash(&[b"ab", b"c"]), hash(&[b"a", b"bc"]));
        assert_ne!(hash(&[b"", b"a"]), hash(&[b"a", b""]));
        assert_eq!(hash(&[b"a"]).len(), 64);
    }
}
