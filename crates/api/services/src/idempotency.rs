//! A repeated request with the same `Idempotency-Key` gets the first response; the same key with another request is
//! refused. Each service keeps its own records.
//!
//! Only successful responses are recorded. After a failure or a crash the request is executed again: the services
//! derive their ids from the key, so nothing is created twice.

use crate::errors;
use http::StatusCode;
use orrery_api_common::problem::Problem;
use orrery_kit::idempotency::{Begun, Key, Records, hash};
use orrery_kit::service::{Content, Response, ServiceError};
use serde_json::{Value, json};

pub async fn once(
    records: Records<'_>,
    caller: &str,
    key: &str,
    said: &[&[u8]],
    work: impl Future<Output = Result<Response, ServiceError>>,
) -> Result<Response, Problem> {
    orrery_core::tour_step!();
    let body_hash = hash(said);
    let key = Key { caller, key, body_hash: &body_hash };
    let begun = match records.begin(&key, None).await.map_err(errors::of_store)? {
        Begun::First(begun) | Begun::Unfinished(begun) => begun,
        Begun::Repeated(recorded) => return Ok(read(&recorded)),
        Begun::Different => return Err(errors::reused()),
    };
    let response = work.await.map_err(errors::of_service)?;
    if let Some(recorded) = written(&response) {
        // The work is done. Without a record a repeated request executes it again, with the same ids.
        if let Err(error) = records.finish(&key, begun, &recorded).await {
            tracing::warn!(%error, "a response could not be recorded for its idempotency key");
        }
    }
    Ok(response)
}

fn written(response: &Response) -> Option<Value> {
    match &response.content {
        Content::Json(body) if response.is_whole => {
            Some(json!({ "status": response.status.as_u16(), "etag": response.etag, "body": body }))
        }
        Content::Json(_) | Content::Html(_) | Content::Live(_) => None,
    }
}

fn read(recorded: &Value) -> Response {
    let status = recorded["status"].as_u64().and_then(|status| u16::try_from(status).ok());
    let status = status.and_then(|status| StatusCode::from_u16(status).ok()).unwrap_or(StatusCode::OK);
    let etag = recorded["etag"].as_str().map(str::to_owned);
    Response { etag, ..Response::with_status(status, &recorded["body"]) }
}
