//! The properties of the service, and its statistics.

use crate::call::Call;
use crate::errors::Failure;
use crate::reply::Reply;
use http::StatusCode;
use orrery_api_storage::{limits::DOCUMENT_BYTES_MAX, service_properties, statistics};
use orrery_catalog::storage::ServiceKind;
use orrery_table_store::TableStore;

pub fn read_properties(store: &TableStore, call: &Call) -> Result<Reply, Failure> {
    let properties = store.service_properties(call.account())?;
    Ok(Reply::xml(service_properties::write(&properties)))
}

pub async fn write_properties(store: &TableStore, call: &mut Call) -> Result<Reply, Failure> {
    let body = call.body(DOCUMENT_BYTES_MAX).await?;
    let current = store.service_properties(call.account())?;
    let properties = service_properties::read(ServiceKind::Table, &body, &current)?;
    store.set_service_properties(call.account(), properties).await?;
    Ok(Reply::new(StatusCode::ACCEPTED))
}

pub fn read_statistics(call: &Call) -> Result<Reply, Failure> {
    Ok(Reply::xml(statistics::write(&call.request)?))
}
