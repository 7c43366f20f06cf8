//! The in-app centre of a user.

use super::{Within, shown, tagged};
use crate::asked::Asked;
use crate::problem::Problem;
use crate::reply::{Content, Reply};
use orrery_core::limits;
use orrery_kit::time;
use orrery_notifications::records::Category;
use orrery_notifications::service::List;
use serde_json::{Value, json};

pub async fn list(within: &Within<'_>, asked: &Asked) -> Result<Reply, Problem> {
    let list = List {
        category: asked.query("category").map(category).transpose()?,
        unread: asked.switch("unread")?,
        limit: asked.number("limit", 1, limits::NOTIFICATION_LIST_MAX)?,
        continuation: asked.query("continuation").map(str::to_owned),
    };
    let listed = within.notifications.list(asked.named("user"), &list).await?;
    let items: Vec<Value> = listed.items.iter().map(shown).collect();
    Ok(Reply::ok(json!({ "items": items, "continuation": listed.continuation })))
}

fn category(text: &str) -> Result<Category, Problem> {
    let known = serde_json::from_value(json!(text.to_ascii_uppercase()));
    known.map_err(|_| Problem::invalid("category", "it is SOCIAL, SAFETY, SECURITY, NEWS or MARKETING"))
}

pub async fn unread_count(within: &Within<'_>, asked: &Asked) -> Result<Reply, Problem> {
    let count = within.notifications.unread_count(asked.named("user")).await?;
    Ok(Reply::ok(json!({ "unreadCount": count })))
}

pub async fn read(within: &Within<'_>, asked: &Asked) -> Result<Reply, Problem> {
    let (user, id) = (asked.named("user"), asked.named("id"));
    Ok(tagged(within.notifications.read(user, id, asked.if_match.as_deref()).await?))
}

pub async fn dismiss(within: &Within<'_>, asked: &Asked) -> Result<Reply, Problem> {
    let (user, id) = (asked.named("user"), asked.named("id"));
    Ok(tagged(within.notifications.dismiss(user, id, asked.if_match.as_deref()).await?))
}

pub async fn read_all(within: &Within<'_>, asked: &Asked) -> Result<Reply, Problem> {
    let body = asked.json_if_any()?;
    let before = match body.get("before") {
        None | Some(Value::Null) => None,
        // Texts sort as moments do in one form only.
        Some(Value::String(text)) => Some(time::format(time::parse(text).ok_or_else(no_moment)?)),
        Some(_) => return Err(no_moment()),
    };
    let count = within.notifications.read_all(asked.named("user"), before.as_deref()).await?;
    Ok(Reply::ok(json!({ "read": count })))
}

fn no_moment() -> Problem {
    Problem::invalid("before", "it is a time like 2026-11-15T10:00:00Z")
}

pub async fn stream(within: &Within<'_>, asked: &Asked) -> Result<Reply, Problem> {
    let (user, last) = (asked.named("user"), asked.last_event_id.as_deref());
    // Who cannot set headers says it in the query string.
    let last = last.or(asked.query("lastEventId"));
    let body = within.streams.open(within.notifications.clone(), user, last).await?;
    Ok(Reply { content: Content::Events(body), ..Reply::ok(()) })
}
