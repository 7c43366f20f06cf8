//! What is checked whichever adapter executes a request.

use super::types::{ItemKey, StoreError, Write};
use orrery_core::ItemId;
use orrery_core::limits::BATCH_OPERATIONS_MAX;
use orrery_document_store::limits::READ_MANY_ITEMS_MAX;
use std::collections::HashSet;

/// Refuses a batch that is too long.
pub fn batch(writes: &[Write]) -> Result<(), StoreError> {
    if writes.len() > BATCH_OPERATIONS_MAX {
        return Err(refused(format!("a batch has at most {BATCH_OPERATIONS_MAX} operations; split it")));
    }
    Ok(())
}

/// The keys of a read of many items, each once. An invalid id is refused, although a query would merely not find it,
/// so that one item and several behave alike.
pub fn distinct(keys: &[ItemKey]) -> Result<Vec<&ItemKey>, StoreError> {
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
