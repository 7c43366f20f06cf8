//! Leases of containers and blobs (wire guide §8.9).

use crate::answer::Answer;
use crate::call::Call;
use crate::conditions::{self, lease_id, number};
use crate::errors::Failure;
use crate::header;
use crate::reply;
use http::{Response, StatusCode};
use orrery_api_storage::{StorageError, StorageRequest};
use orrery_blob_store::BlobStore;
use orrery_blob_store::model::lease::{BreakPeriod, LeaseAction, LeaseDuration, LeaseId, Leased};
use orrery_blob_store::model::{Address, ContainerId};
use orrery_core::Ticks;

pub async fn on_container(
    store: &BlobStore,
    call: &Call,
    id: &ContainerId,
) -> Result<Response<Answer>, Failure> {
    let action = action(&call.request)?;
    // The lease id is the action's, and no condition of it.
    let conditions = conditions::of_container(&call.request)?;
    let conditions = orrery_blob_store::model::containers::ContainerConditions { lease: None, ..conditions };
    let (leased, container) = store.lease_container(id, action, conditions).await?;
    Ok(answer(action, leased, container.modified))
}

pub async fn on_blob(store: &BlobStore, call: &Call, address: &Address) -> Result<Response<Answer>, Failure> {
    let action = action(&call.request)?;
    let mut conditions = conditions::of_blob(&call.request)?;
    conditions.lease = None;
    let (leased, modified) = store.lease_blob(address, action, conditions).await?;
    Ok(answer(action, leased, modified))
}

fn answer(action: LeaseAction, leased: Leased, modified: Ticks) -> Response<Answer> {
    let status = match action {
        LeaseAction::Acquire { .. } => StatusCode::CREATED,
        LeaseAction::Renew { .. } | LeaseAction::Change { .. } | LeaseAction::Release { .. } => {
            StatusCode::OK
        }
        LeaseAction::Break { .. } => StatusCode::ACCEPTED,
    };
    let mut response = reply::changed(status, modified, None);
    if let Some(id) = leased.id {
        reply::insert(&mut response, header::LEASE_ID, &id.to_string());
    }
    if let Some(seconds) = leased.seconds_left {
        reply::insert(&mut response, header::LEASE_TIME, &seconds.to_string());
    }
    response
}

fn action(request: &StorageRequest) -> Result<LeaseAction, Failure> {
    let name = &header::LEASE_ACTION;
    let text = request.header(name).ok_or_else(|| StorageError::missing_header(name.as_str()))?;
    Ok(match text.to_ascii_lowercase().as_str() {
        "acquire" => LeaseAction::Acquire {
            duration: duration(request)?,
            proposed: lease_id(request, &header::PROPOSED_LEASE_ID)?,
        },
        "renew" => LeaseAction::Renew { id: required(request, &header::LEASE_ID)? },
        "change" => LeaseAction::Change {
            id: required(request, &header::LEASE_ID)?,
            proposed: required(request, &header::PROPOSED_LEASE_ID)?,
        },
        "release" => LeaseAction::Release { id: required(request, &header::LEASE_ID)? },
        "break" => LeaseAction::Break { period: period(request)? },
        _ => return Err(StorageError::invalid_header(name.as_str(), text).into()),
    })
}

fn required(request: &StorageRequest, name: &http::HeaderName) -> Result<LeaseId, Failure> {
    lease_id(request, name)?.ok_or_else(|| StorageError::missing_header(name.as_str()).into())
}

fn duration(request: &StorageRequest) -> Result<LeaseDuration, Failure> {
    let name = &header::LEASE_DURATION;
    let seconds: i64 = number(request, name)?.ok_or_else(|| StorageError::missing_header(name.as_str()))?;
    LeaseDuration::parse(seconds)
        .map_err(|_| StorageError::invalid_header(name.as_str(), &seconds.to_string()).into())
}

fn period(request: &StorageRequest) -> Result<Option<BreakPeriod>, Failure> {
    let name = &header::LEASE_BREAK_PERIOD;
    let Some(seconds) = number::<i64>(request, name)? else { return Ok(None) };
    let refused = |_| StorageError::invalid_header(name.as_str(), &seconds.to_string()).into();
    BreakPeriod::parse(seconds).map(Some).map_err(refused)
}
