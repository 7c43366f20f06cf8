//! Paths that no patch may name: the id, the partition key, and what the service writes.

use super::{Operation, OperationKind, PatchError, Reason};
use crate::item::is_system;
use orrery_catalog::definition::PartitionKeyDefinition;

/// Refuses the first operation that changes what cannot be changed. A path above a partition key's is let through:
/// whether the key changes is seen in the result.
pub fn check_paths(operations: &[Operation], key: &PartitionKeyDefinition) -> Result<(), PatchError> {
    for (index, operation) in operations.iter().enumerate() {
        let from = match &operation.kind {
            OperationKind::Move { from } => Some(from),
            _ => None,
        };
        for path in from.into_iter().chain([&operation.path]) {
            check_path(path, key).map_err(|reason| operation.refused(index, reason))?;
        }
    }
    Ok(())
}

fn check_path(path: &[String], key: &PartitionKeyDefinition) -> Result<(), Reason> {
    if let [first, ..] = path
        && is_system(first)
    {
        return Err(Reason::System(first.clone()));
    }
    if matches!(path, [only] if only == "id") {
        return Err(Reason::Id);
    }
    if key.paths().iter().any(|own| own.segments() == path) {
        return Err(Reason::PartitionKey);
    }
    Ok(())
}
