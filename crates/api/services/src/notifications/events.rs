//! Events: they come in, are looked at, cancelled, queued again.

use super::{Within, tagged, visible};
use crate::asked::Asked;
use crate::problem::Problem;
use crate::reply::Reply;
use http::StatusCode;
use orrery_core::limits;
use orrery_notifications::records::Status;
use orrery_notifications::service::Accepted;
use serde_json::{Map, Value, json};

pub async fn enqueue(within: &Within<'_>, asked: &Asked) -> Result<Reply, Problem> {
    let accepted = within.notifications.enqueue(&asked.json()?, within.key.as_deref()).await?;
    // What the store did not take must be sent again, with the same key.
    let is_whole = accepted.iter().all(|accepted| accepted.status != "unavailable");
    let accepted: Vec<Value> = accepted.iter().map(told).collect();
    Ok(Reply { is_whole, ..Reply::with_status(StatusCode::ACCEPTED, accepted) })
}

fn told(accepted: &Accepted) -> Value {
    let mut told = Map::new();
    told.insert("userId".to_owned(), json!(accepted.user_id));
    if let Some(id) = &accepted.id {
        told.insert("id".to_owned(), json!(id));
    }
    told.insert("status".to_owned(), json!(accepted.status));
    if let Some(reason) = &accepted.reason {
        told.insert("reason".to_owned(), json!(reason));
    }
    Value::Object(told)
}

/// Of one user or of all, with one status or any: this is where what was given up is found.
pub async fn list(within: &Within<'_>, asked: &Asked) -> Result<Reply, Problem> {
    let limit = asked.number("limit", 1, limits::NOTIFICATION_LIST_MAX)?;
    let limit = limit.unwrap_or(limits::NOTIFICATION_LIST_DEFAULT);
    let status = asked.query("status").map(status).transpose()?;
    let continuation = asked.query("continuation").map(str::to_owned);
    let listed = within.notifications.events(asked.query("userId"), status, limit, continuation).await?;
    let (rows, continuation) = listed;
    let items: Vec<Value> = rows.into_iter().map(visible).collect();
    Ok(Reply::ok(json!({ "items": items, "continuation": continuation })))
}

fn status(text: &str) -> Result<Status, Problem> {
    let known = serde_json::from_value(json!(text.to_ascii_uppercase()));
    let reason = "it is PENDING, PROCESSING, COMPLETED, FAILED, RATE_LIMITED or DEDUPLICATED";
    known.map_err(|_| Problem::invalid("status", reason))
}

pub async fn show(within: &Within<'_>, asked: &Asked) -> Result<Reply, Problem> {
    let id = asked.named("id");
    Ok(tagged(match asked.query("userId") {
        Some(user) => within.notifications.event(user, id).await?,
        None => within.notifications.find_event(id).await?,
    }))
}

pub async fn cancel(within: &Within<'_>, asked: &Asked) -> Result<Reply, Problem> {
    let user = user(within, asked).await?;
    Ok(tagged(within.notifications.cancel(&user, asked.named("id")).await?))
}

pub async fn requeue(within: &Within<'_>, asked: &Asked) -> Result<Reply, Problem> {
    let user = user(within, asked).await?;
    Ok(tagged(within.notifications.requeue(&user, asked.named("id")).await?))
}

/// Whose event it is: as the caller says, or found by its id over all users, which costs more.
async fn user(within: &Within<'_>, asked: &Asked) -> Result<String, Problem> {
    match asked.query("userId") {
        Some(user) => Ok(user.to_owned()),
        None => Ok(within.notifications.find_event(asked.named("id")).await?.value.user_id),
    }
}
