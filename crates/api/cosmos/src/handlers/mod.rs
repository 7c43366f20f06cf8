//! One file per resource; a handler decodes, calls the store, encodes.

pub mod account;
pub mod batch;
pub mod by_rid;
pub mod change_feed;
pub mod conflicts;
pub mod containers;
pub mod databases;
pub mod item_feed;
pub mod item_query;
pub mod items;
pub mod offers;
pub mod partition_delete;
pub mod ranges;
pub mod subresources;

use crate::failure::Failure;
use crate::header;
use crate::reply::Reply;
use crate::request::Request;
use crate::service::Cosmos;
use http::StatusCode;
use orrery_documents::catalog::{Container, Database};
use orrery_documents::charge::Charge;
use serde_json::Value;
use std::sync::Arc;

/// The database of a container-scoped request.
fn owner(cosmos: &Cosmos, name: &str) -> Result<Arc<Database>, Failure> {
    database(cosmos, name).map_err(|failure| Failure { substatus: crate::failure::OWNER_MISSING, ..failure })
}

/// The container of an item-scoped request, unless the client refers to an earlier one of the same
/// name.
pub fn find_container(
    cosmos: &Cosmos,
    request: &Request,
    database: &str,
    name: &str,
) -> Result<Arc<Container>, Failure> {
    orrery_core::tour_step!();
    let container = container(cosmos, database, name)
        .map_err(|failure| Failure { substatus: crate::failure::OWNER_MISSING, ..failure })?;
    match request.header(&header::INTENDED_COLLECTION) {
        Some(intended) if !intended.is_empty() && intended != container.rid_text() => {
            Err(Failure::collection_recreated())
        }
        _ => Ok(container),
    }
}

fn database(cosmos: &Cosmos, name: &str) -> Result<Arc<Database>, Failure> {
    let catalog = cosmos.store().catalog();
    catalog.database(name).cloned().ok_or_else(|| {
        Failure::not_found(format!("Resource Not Found: there is no database '{name}'. Create it first."))
    })
}

pub fn container(cosmos: &Cosmos, database: &str, name: &str) -> Result<Arc<Container>, Failure> {
    let owner = owner(cosmos, database)?;
    let catalog = cosmos.store().catalog();
    catalog.container(owner.rid, name).cloned().ok_or_else(|| {
        Failure::not_found(format!(
            "Resource Not Found: there is no container '{name}' in '{database}'. Create it first."
        ))
    })
}

/// A whole list in one page.
fn list_reply(feed: &Value, count: usize) -> Reply {
    Reply::new(StatusCode::OK, Charge::metadata()).header(header::ITEM_COUNT, count.to_string()).value(feed)
}
