//! The changes that a replace permits.
//!
//! Indexing, TTLs, computed properties, full text and the change feed follow the new body; members missing
//! from it return to their defaults. The name, the partition key, the unique keys and the vector embeddings
//! are fixed and required. Clients omit the policies in `KEPT`, which cannot be removed; those stay
//! unchanged.

use super::indexing::{self, INDEXING_POLICY};
use super::members::{DefinitionError, invalid};
use super::{ContainerDefinition, unique, vector_index};
use serde_json::{Map, Value};

const KEPT: [&str; 3] = ["conflictResolutionPolicy", "geospatialConfig", "clientEncryptionPolicy"];

impl ContainerDefinition {
    /// The definition after a replace with this body.
    pub fn replaced_by(&self, mut body: Map<String, Value>) -> Result<Self, DefinitionError> {
        for name in KEPT {
            keep(&self.json, &mut body, name);
        }
        self.keep_hashing(&mut body);
        if body.get(INDEXING_POLICY) != self.json.get(INDEXING_POLICY) {
            indexing::complete_default(&mut body);
        }
        let mut next = Self::read(body)?;
        self.check_fixed(&next)?;
        self.check_policies(&next)?;
        self.keep_unique_keys(&mut next);
        Ok(next)
    }

    /// Unique keys in another order are equal, but stored rows depend on the original order.
    fn keep_unique_keys(&self, next: &mut Self) {
        next.unique_keys.clone_from(&self.unique_keys);
        let name = "uniqueKeyPolicy";
        if let (Some(old), Some(new)) = (self.json.get(name), next.json.get_mut(name)) {
            new.clone_from(old);
        }
    }

    /// A partition key without a version means the container's own hashing; a missing one matches a
    /// container created without one.
    fn keep_hashing(&self, body: &mut Map<String, Value>) {
        if self.partition_key.system_key() {
            keep(&self.json, body, "partitionKey");
        }
        if let (Some(Value::Object(old)), Some(Value::Object(new))) =
            (self.json.get("partitionKey"), body.get_mut("partitionKey"))
        {
            keep(old, new, "kind");
            keep(old, new, "version");
        }
    }

    fn check_fixed(&self, next: &Self) -> Result<(), DefinitionError> {
        if next.name != self.name {
            return Err(invalid(format!(
                "The id '{}' in the body is not that of the container, '{}'. Containers cannot be renamed.",
                next.name, self.name
            )));
        }
        let (old, new) = (&self.partition_key, &next.partition_key);
        if (old.paths(), old.kind()) != (new.paths(), new.kind()) {
            return Err(invalid(
                "Document collection partition key cannot be changed. To change it, create a new container \
                 and copy the items.",
            ));
        }
        if !unique::same(&self.unique_keys, &next.unique_keys) {
            return Err(DefinitionError::Forbidden(
                "The unique index cannot be modified. To change the unique index, remove the container and \
                 create a new one; to keep it, send the uniqueKeyPolicy as it is."
                    .to_owned(),
            ));
        }
        Ok(())
    }

    fn check_policies(&self, next: &Self) -> Result<(), DefinitionError> {
        if next.conflicts != self.conflicts {
            return Err(invalid("The conflictResolutionPolicy of a container cannot be changed."));
        }
        let kept = self.vectors.iter().all(|embedding| next.vectors.contains(embedding));
        if !kept {
            return Err(invalid(
                "Paths in existing embedding policy cannot be modified in Collection Replace. Embeddings can be \
                 added, but those that are there must be repeated as they are.",
            ));
        }
        vector_index::check_replace(&self.indexing.vectors, &next.indexing.vectors)?;
        let new = next.indexing.vectors.iter().filter(|index| !self.indexing.vectors.contains(index));
        vector_index::check_new(new, &next.vectors)?;
        let encryption = "clientEncryptionPolicy";
        if self.json.contains_key(encryption) && self.json.get(encryption) != next.json.get(encryption) {
            return Err(invalid("The clientEncryptionPolicy of a container cannot be changed."));
        }
        Ok(())
    }
}

/// Copies a member of `old` that `new` does not set.
fn keep(old: &Map<String, Value>, new: &mut Map<String, Value>, name: &str) {
    let unset = new.get(name).is_none_or(Value::is_null);
    if let (true, Some(value)) = (unset, old.get(name)) {
        new.insert(name.to_owned(), value.clone());
    }
}
