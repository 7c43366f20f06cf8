//! From a request about one entity to the operation on it. Requests inside a batch are read the same way.

use crate::errors::Failure;
use crate::head::Head;
use crate::json::read_entity;
use crate::operation::{OnEntities, Place, Write, WriteKind};
use http::header::IF_MATCH;
use orrery_api_storage::StorageError;
use orrery_tables::{Entity, EntityKey, EntityOperation};

/// The operation; None for one that only reads.
pub fn operation(
    operation: &OnEntities,
    head: &Head,
    body: &[u8],
) -> Result<Option<EntityOperation>, Failure> {
    Ok(match operation {
        OnEntities::Query { .. } | OnEntities::Read(_) => None,
        OnEntities::Insert { .. } => Some(EntityOperation::Insert(inserted(body)?)),
        OnEntities::Write(write, place) => Some(written(*write, head, changed(place, body)?)),
        OnEntities::Delete(place) => {
            let if_match = head.if_match.ok_or_else(|| StorageError::missing_header(IF_MATCH.as_str()))?;
            Some(EntityOperation::Delete(key(place)?, if_match))
        }
    })
}

pub fn key(place: &Place) -> Result<EntityKey, Failure> {
    Ok(EntityKey::parse(&place.partition_key, &place.row_key)?)
}

fn inserted(body: &[u8]) -> Result<Entity, Failure> {
    let read = read_entity(body)?;
    let key = EntityKey::from_parts(read.partition_key.as_deref(), read.row_key.as_deref())?;
    Ok(read.properties.finish(key)?)
}

/// The keys are the URL's; those in the body, which some clients send too, say nothing.
fn changed(place: &Place, body: &[u8]) -> Result<Entity, Failure> {
    let key = key(place)?;
    Ok(read_entity(body)?.properties.finish(key)?)
}

fn written(write: Write, head: &Head, entity: Entity) -> EntityOperation {
    match (write.kind, head.if_match) {
        (WriteKind::Replace, None) => EntityOperation::InsertOrReplace(entity),
        (WriteKind::Merge, None) => EntityOperation::InsertOrMerge(entity),
        (WriteKind::Replace, Some(if_match)) => EntityOperation::Replace(entity, if_match),
        (WriteKind::Merge, Some(if_match)) => EntityOperation::Merge(entity, if_match),
    }
}
