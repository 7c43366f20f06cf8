//! The properties of the service, its statistics, and keys for user delegation.

use crate::call::Call;
use crate::errors::Failure;
use crate::reply;
use http::{Response, StatusCode};
use orrery_api_common::Body;
use orrery_api_storage::limits::DOCUMENT_BYTES_MAX;
use orrery_api_storage::{Grant, Storage, service_properties, statistics, user_delegation_key};
use orrery_catalog::storage::ServiceKind;
use orrery_queue_store::QueueStore;

pub fn read_properties(store: &QueueStore, call: &Call) -> Result<Response<Body>, Failure> {
    let properties = store.service_properties(&call.request.account)?;
    Ok(reply::xml(StatusCode::OK, service_properties::write(&properties)))
}

pub async fn write_properties(store: &QueueStore, call: &mut Call) -> Result<Response<Body>, Failure> {
    let body = call.body(DOCUMENT_BYTES_MAX).await?;
    let account = &call.request.account;
    let current = store.service_properties(account)?;
    let properties = service_properties::read(ServiceKind::Queue, &body, &current)?;
    store.set_service_properties(account, properties).await?;
    Ok(reply::empty(StatusCode::ACCEPTED))
}

pub fn read_statistics(call: &Call) -> Result<Response<Body>, Failure> {
    Ok(reply::xml(StatusCode::OK, statistics::write(&call.request)?))
}

pub async fn issue_delegation_key(
    storage: &Storage,
    call: &mut Call,
    grant: &Grant,
) -> Result<Response<Body>, Failure> {
    let body = call.body(DOCUMENT_BYTES_MAX).await?;
    Ok(reply::xml(StatusCode::OK, user_delegation_key::issue(storage, &call.request, grant, &body)?))
}
