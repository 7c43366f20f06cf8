//! Whether a user was erased. A tombstone stays for good, and is read afresh every time: a push that goes out on an old
//! answer cannot be taken back.

use super::containers::SERVICE;
use orrery_kit::ports::documents::{Documents, StoreError, Write};
use serde_json::json;

const ID: &str = "tombstone";

pub(crate) async fn is_erased(documents: &Documents, user: &str) -> Result<bool, StoreError> {
    Ok(documents.read(SERVICE, user, ID).await?.is_some())
}

/// One that is there already stays as it is: the first time counts.
pub(super) async fn erect(documents: &Documents, user: &str, at: &str) -> Result<(), StoreError> {
    let item = json!({"id": ID, "partition": user, "kind": "tombstone", "erasedAt": at});
    match documents.write(SERVICE, user, Write::Create(item)).await {
        Ok(_) | Err(StoreError::Conflict) => Ok(()),
        Err(error) => Err(error),
    }
}
