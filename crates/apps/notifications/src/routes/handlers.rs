//! The handlers: each turns a request into one call of the service, and its outcome into a response.

use super::feed::live_feed;
use super::{shown, tagged, visible};
use crate::limits;
use crate::records::{Category, Status};
use crate::service::{Accepted, List, Notifications, ServiceError};
use http::StatusCode;
use orrery_kit::service::{Request, Response};
use orrery_kit::time;
use serde_json::{Map, Value, json};
use std::time::Duration;

// --- events: accepted, looked up, cancelled, queued again

pub async fn enqueue(service: Notifications, request: Request) -> Result<Response, ServiceError> {
    orrery_core::tour_step!();
    let accepted = service.enqueue(&request.json()?, request.idempotency_key.as_deref()).await?;
    // Events that the store did not accept must be sent again, with the same key.
    let is_whole = accepted.iter().all(|accepted| accepted.status != "unavailable");
    let accepted: Vec<Value> = accepted.iter().map(accepted_json).collect();
    Ok(Response { is_whole, ..Response::with_status(StatusCode::ACCEPTED, accepted) })
}

fn accepted_json(accepted: &Accepted) -> Value {
    let mut members = Map::new();
    members.insert("userId".to_owned(), json!(accepted.user_id));
    if let Some(id) = &accepted.id {
        members.insert("id".to_owned(), json!(id));
    }
    members.insert("status".to_owned(), json!(accepted.status));
    if let Some(reason) = &accepted.reason {
        members.insert("reason".to_owned(), json!(reason));
    }
    Value::Object(members)
}

/// Of one user or all, with one status or any: dead-lettered events are found here.
pub async fn events(service: Notifications, request: Request) -> Result<Response, ServiceError> {
    let limit = request.number("limit", 1, limits::NOTIFICATION_LIST_MAX)?;
    let limit = limit.unwrap_or(limits::NOTIFICATION_LIST_DEFAULT);
    let status = request.query("status").map(status).transpose()?;
    let continuation = request.query("continuation").map(str::to_owned);
    let listed = service.events(request.query("userId"), status, limit, continuation).await?;
    let (rows, continuation) = listed;
    let items: Vec<Value> = rows.into_iter().map(visible).collect();
    Ok(Response::ok(json!({ "items": items, "continuation": continuation })))
}

fn status(text: &str) -> Result<Status, ServiceError> {
    let known = serde_json::from_value(json!(text.to_ascii_uppercase()));
    let reason = "it is PENDING, PROCESSING, COMPLETED, FAILED, RATE_LIMITED or DEDUPLICATED";
    known.map_err(|_| ServiceError::invalid("status", reason))
}

pub async fn event(service: Notifications, request: Request) -> Result<Response, ServiceError> {
    let id = request.path("id");
    Ok(tagged(match request.query("userId") {
        Some(user) => service.event(user, id).await?,
        None => service.find_event(id).await?,
    }))
}

pub async fn cancel(service: Notifications, request: Request) -> Result<Response, ServiceError> {
    let user = user(&service, &request).await?;
    Ok(tagged(service.cancel(&user, request.path("id")).await?))
}

pub async fn requeue(service: Notifications, request: Request) -> Result<Response, ServiceError> {
    let user = user(&service, &request).await?;
    Ok(tagged(service.requeue(&user, request.path("id")).await?))
}

/// The event's user: as given by the caller, or found by its id over all users, which costs more.
async fn user(service: &Notifications, request: &Request) -> Result<String, ServiceError> {
    match request.query("userId") {
        Some(user) => Ok(user.to_owned()),
        None => Ok(service.find_event(request.path("id")).await?.value.user_id),
    }
}

// --- the in-app centre of a user

pub async fn list(service: Notifications, request: Request) -> Result<Response, ServiceError> {
    let list = List {
        category: request.query("category").map(category).transpose()?,
        unread: request.flag("unread")?,
        limit: request.number("limit", 1, limits::NOTIFICATION_LIST_MAX)?,
        continuation: request.query("continuation").map(str::to_owned),
    };
    let listed = service.list(request.path("user"), &list).await?;
    let items: Vec<Value> = listed.items.iter().map(shown).collect();
    Ok(Response::ok(json!({ "items": items, "continuation": listed.continuation })))
}

fn category(text: &str) -> Result<Category, ServiceError> {
    let known = serde_json::from_value(json!(text.to_ascii_uppercase()));
    known.map_err(|_| ServiceError::invalid("category", "it is SOCIAL, SAFETY, SECURITY, NEWS or MARKETING"))
}

pub async fn unread_count(service: Notifications, request: Request) -> Result<Response, ServiceError> {
    let count = service.unread_count(request.path("user")).await?;
    Ok(Response::ok(json!({ "unreadCount": count })))
}

pub async fn read(service: Notifications, request: Request) -> Result<Response, ServiceError> {
    let (user, id) = (request.path("user"), request.path("id"));
    Ok(tagged(service.read(user, id, request.if_match.as_deref()).await?))
}

pub async fn dismiss(service: Notifications, request: Request) -> Result<Response, ServiceError> {
    let (user, id) = (request.path("user"), request.path("id"));
    Ok(tagged(service.dismiss(user, id, request.if_match.as_deref()).await?))
}

pub async fn read_all(service: Notifications, request: Request) -> Result<Response, ServiceError> {
    let body = request.json_if_any()?;
    let before = match body.get("before") {
        None | Some(Value::Null) => None,
        // Strings sort as times only in one form.
        Some(Value::String(text)) => Some(time::format(time::parse(text).ok_or_else(no_moment)?)),
        Some(_) => return Err(no_moment()),
    };
    let count = service.read_all(request.path("user"), before.as_deref()).await?;
    Ok(Response::ok(json!({ "read": count })))
}

fn no_moment() -> ServiceError {
    ServiceError::invalid("before", "it is a time like 2026-11-15T10:00:00Z")
}

pub async fn stream(service: Notifications, request: Request) -> Result<Response, ServiceError> {
    // A browser cannot set the header and uses the query string.
    let last = request.last_event_id.as_deref().or(request.query("lastEventId"));
    Ok(Response::live(live_feed(&service, request.path("user"), last).await?))
}

// --- the settings of a user

pub async fn preferences(service: Notifications, request: Request) -> Result<Response, ServiceError> {
    Ok(tagged(service.preferences(request.path("user")).await?))
}

pub async fn put_preferences(service: Notifications, request: Request) -> Result<Response, ServiceError> {
    let (user, if_match) = (request.path("user"), request.if_match.as_deref());
    Ok(tagged(service.put_preferences(user, &request.json()?, if_match).await?))
}

pub async fn patch_preferences(service: Notifications, request: Request) -> Result<Response, ServiceError> {
    let (user, if_match) = (request.path("user"), request.if_match.as_deref());
    Ok(tagged(service.patch_preferences(user, &request.json()?, if_match).await?))
}

// --- the devices of a user; a push token goes in and never comes out

pub async fn devices(service: Notifications, request: Request) -> Result<Response, ServiceError> {
    let devices = service.devices(request.path("user")).await?;
    let devices: Vec<Value> = devices.iter().map(|device| shown(&device.value)).collect();
    Ok(Response::ok(json!({ "items": devices, "continuation": null })))
}

pub async fn register_device(service: Notifications, request: Request) -> Result<Response, ServiceError> {
    let device = service.register(request.path("user"), &request.json()?).await?;
    Ok(Response { status: StatusCode::CREATED, ..tagged(device) })
}

pub async fn patch_device(service: Notifications, request: Request) -> Result<Response, ServiceError> {
    let (user, device, if_match) =
        (request.path("user"), request.path("device"), request.if_match.as_deref());
    Ok(tagged(service.patch_device(user, device, &request.json_if_any()?, if_match).await?))
}

pub async fn revoke_device(service: Notifications, request: Request) -> Result<Response, ServiceError> {
    Ok(tagged(service.revoke(request.path("user"), request.path("device")).await?))
}

// --- erasure, statistics, jobs

const DAY: Duration = Duration::from_secs(86_400);
const DAYS_DEFAULT: u64 = 90;
const DAYS_MAX: u64 = 36_500;

pub async fn erase(service: Notifications, request: Request) -> Result<Response, ServiceError> {
    Ok(Response::ok(service.erase(request.path("user")).await?))
}

pub async fn stats(service: Notifications, _: Request) -> Result<Response, ServiceError> {
    Ok(Response::ok(service.stats().await?))
}

pub async fn jobs(service: Notifications, _: Request) -> Result<Response, ServiceError> {
    Ok(Response::ok(service.jobs().await?))
}

pub async fn purge_devices(service: Notifications, request: Request) -> Result<Response, ServiceError> {
    let days = match request.json_if_any()?.get("olderThanDays") {
        None | Some(Value::Null) => DAYS_DEFAULT,
        Some(given) => given.as_u64().filter(|days| *days <= DAYS_MAX).ok_or_else(|| {
            ServiceError::invalid("olderThanDays", format!("it is a number of days from 0 to {DAYS_MAX}"))
        })?,
    };
    let purged = service.purge_devices(DAY.saturating_mul(days as u32)).await?;
    Ok(Response::ok(json!({ "purged": purged })))
}
