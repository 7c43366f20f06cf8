//! Items addressed by resource id: `dbs/<rid>/colls/<rid>/docs/<rid>`, an item's own `_self`.
//!
//! Python's `delete_item(item)` and `read_item(item)` send this if called with a whole item.

use super::items;
use crate::failure::Failure;
use crate::header;
use crate::request::Request;
use crate::service::Cosmos;
use orrery_core::{ItemRid, ResourceKind};
use orrery_document_store::partition_key;
use orrery_documents::catalog::Container;
use orrery_documents::item::{self, ItemError};
use std::sync::Arc;

/// The id of an item from the last segment of its path: the segment itself, unless the container was named by
/// rid.
pub async fn item_id(
    cosmos: &Cosmos,
    request: &Request,
    container: &Arc<Container>,
    named: &str,
    segment: String,
) -> Result<String, Failure> {
    let Some(ordinal) = ordinal(container, named, &segment) else { return Ok(segment) };
    let key = request.header_or_refuse(&header::PARTITION_KEY)?;
    let key = key.ok_or_else(|| Failure::partition_key("The partition key of the item is missing."))?;
    let epk = partition_key::point(container, key)?;
    let snapshot = cosmos.store().snapshot();
    // A refusal carries the session token of the range, like every 404 for an item.
    let place = items::place(cosmos, container, &epk, snapshot.lsn());
    let container = container.clone();
    let found =
        orrery_document_store::on_a_thread(move || item::id_of(&*snapshot, &container, &epk, ordinal))
            .await??;
    found.ok_or_else(|| Failure::from(ItemError::Missing).at(place))
}

fn ordinal(container: &Container, named: &str, segment: &str) -> Option<u64> {
    if named != container.rid_text() {
        return None;
    }
    let rid = ItemRid::parse(segment).ok()?;
    (rid.container == container.rid() && rid.kind == ResourceKind::Item).then(|| rid.ordinal())
}
