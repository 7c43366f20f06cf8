//! Tombstones of erased users. A tombstone is permanent and never cached: a push sent on a stale result
//! cannot be taken back.

use super::containers::SERVICE;
use orrery_kit::ports::documents::{Documents, StoreError, Write};
use serde_json::json;

const ID: &str = "tombstone";

pub(crate) async fn is_erased(documents: &Documents, user: &str) -> Result<bool, StoreError> {
    Ok(documents.read(SERVICE, user, ID).await?.is_some())
}

/// An existing one stays unchanged: the first time counts.
pub(super) async fn create(documents: &Documents, user: &str, at: &str) -> Result<(), StoreError> {
    let item = json!({"id": ID, "partition": user, "kind": "tombstone", "erasedAt": at});
    match documents.write(SERVICE, user, Write::Create(item)).await {
        Ok(_) | Err(StoreError::Conflict) => Ok(()),
        Err(error) => Err(error),
    }
}
