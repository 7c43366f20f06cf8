//! What both adapters check before they read several items.

use super::types::{ItemKey, StoreError};
use orrery_core::ItemId;
use orrery_document_store::limits::READ_MANY_ITEMS_MAX;
use std::collections::HashSet;

/// The keys, each once. An invalid id is refused, although no store has such an item: a query would just not find it.
pub fn checked(keys: &[ItemKey]) -> Result<Vec<&ItemKey>, StoreError> {
    let mut seen = HashSet::with_capacity(keys.len());
    let keys: Vec<&ItemKey> = keys.iter().filter(|key| seen.insert(*key)).collect();
    if keys.len() > READ_MANY_ITEMS_MAX {
        return Err(refused(format!(
            "at most {READ_MANY_ITEMS_MAX} items are read at once; ask again for the rest"
        )));
    }
    for key in &keys {
        ItemId::parse(&key.id).map_err(|error| refused(format!("the id is not valid: {error}")))?;
    }
    Ok(keys)
}

fn refused(message: String) -> StoreError {
    StoreError::Refused { status: 400, message }
}
