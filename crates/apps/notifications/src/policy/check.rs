//! Parses requests into valid values, or refuses them with the member's name.

use super::render::cut;
use super::{Policy, Registry, Zone, quiet};
use crate::limits;
use crate::records::{Category, Payload, Platform, Preferences, Toggles};
use orrery_core::{ChildName, Timestamp};
use orrery_kit::time;
use serde_json::{Map, Value};
use std::time::Duration;

/// Why a request is invalid: the member as a path such as `payload.targetId`, and a sentence about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{member}: {reason}")]
pub struct Invalid {
    pub member: String,
    pub reason: String,
}

impl Invalid {
    pub fn new(member: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { member: member.into(), reason: reason.into() }
    }
}

/// A request to notify users of something.
#[derive(Clone, Debug, PartialEq)]
pub struct Enqueue {
    /// Without duplicates.
    pub users: Vec<String>,
    /// The type's own name, even if the caller used an alias.
    pub event_type: String,
    pub category: Category,
    pub payload: Payload,
    pub dedupe_key: Option<String>,
    /// Only if it lies in the future.
    pub scheduled_at: Option<Timestamp>,
}

pub fn enqueue(registry: &Registry, body: &Value, now: Timestamp) -> Result<Enqueue, Invalid> {
    orrery_core::tour_step!();
    const MEMBERS: [&str; 7] =
        ["userId", "userIds", "eventType", "category", "payload", "dedupeKey", "scheduledAt"];
    let body = object("body", body)?;
    known_members(body, &MEMBERS)?;
    let event_type = required(body, "eventType")?;
    let kind = registry.find(event_type).ok_or_else(|| {
        let known = registry.names().join(", ");
        Invalid::new(
            "eventType",
            format!("'{}' is not a type of event; there are {known}", cut(event_type, 60)),
        )
    })?;
    category(body, kind.category)?;
    Ok(Enqueue {
        users: users(body)?,
        event_type: kind.name.clone(),
        category: kind.category,
        payload: payload(body.get("payload"))?,
        dedupe_key: short_text(body, "dedupeKey", limits::NOTIFICATION_DEDUPE_KEY_CHARS_MAX)?,
        scheduled_at: scheduled_at(body, now)?,
    })
}

/// A category is optional, and must be the type's (S2-05).
fn category(body: &Map<String, Value>, expected: Category) -> Result<(), Invalid> {
    let Some(given) = present(body, "category") else { return Ok(()) };
    let given: Option<Category> = serde_json::from_value(given.clone()).ok();
    if given == Some(expected) {
        return Ok(());
    }
    let name = serde_json::to_value(expected).unwrap_or_default();
    let name = name.as_str().unwrap_or_default();
    Err(Invalid::new(
        "category",
        format!("the category of this type of event is {name}; leave it out or give that one"),
    ))
}

fn users(body: &Map<String, Value>) -> Result<Vec<String>, Invalid> {
    let given = match (present(body, "userId"), present(body, "userIds")) {
        (Some(one), None) => return Ok(vec![id("userId", one)?]),
        (None, Some(many)) => many,
        (None, None) => return Err(Invalid::new("userId", "is missing; give it, or a list of userIds")),
        (Some(_), Some(_)) => {
            return Err(Invalid::new("userIds", "is there beside userId; give one of them"));
        }
    };
    let most = limits::NOTIFICATION_USERS_MAX;
    let many = given.as_array().filter(|many| (1..=most).contains(&many.len()));
    let many = many.ok_or_else(|| Invalid::new("userIds", format!("has to be a list of 1 to {most} ids")))?;
    let mut users = Vec::with_capacity(many.len());
    for (at, one) in many.iter().enumerate() {
        let user = id(&format!("userIds[{at}]"), one)?;
        if !users.contains(&user) {
            users.push(user);
        }
    }
    Ok(users)
}

/// An id that a document can have.
pub fn id(member: &str, value: &Value) -> Result<String, Invalid> {
    let text = value.as_str().ok_or_else(|| Invalid::new(member, "has to be a text"))?;
    ChildName::parse(text).map_err(|error| Invalid::new(member, error.to_string()))?;
    if text.chars().any(char::is_control) {
        return Err(Invalid::new(member, "has control characters in it"));
    }
    Ok(text.to_owned())
}

/// S2-06, S2-81.
fn payload(value: Option<&Value>) -> Result<Payload, Invalid> {
    let given = value.filter(|value| !value.is_null());
    let given = given.ok_or_else(|| Invalid::new("payload", "is missing"))?;
    let members = object("payload", given)?;
    if given.to_string().len() > limits::NOTIFICATION_PAYLOAD_BYTES_MAX {
        let most = limits::NOTIFICATION_PAYLOAD_BYTES_MAX;
        return Err(Invalid::new("payload", format!("is larger than {most} bytes")));
    }
    let nested = |invalid: Invalid| Invalid { member: format!("payload.{}", invalid.member), ..invalid };
    let text = |name: &str| short_text(members, name, limits::NOTIFICATION_NAME_CHARS_MAX).map_err(nested);
    let target_type = members.get("targetType").cloned().unwrap_or_default();
    let target_type = serde_json::from_value(target_type)
        .map_err(|_| Invalid::new("payload.targetType", "has to be post, comment or user"))?;
    let target_id = text("targetId")?.ok_or_else(|| Invalid::new("payload.targetId", "is missing"))?;
    const OWN: [&str; 5] = ["actorId", "actorName", "targetId", "targetType", "snippet"];
    let more = members.iter().filter(|(name, _)| !OWN.contains(&name.as_str()));
    Ok(Payload {
        actor_id: text("actorId")?,
        actor_name: text("actorName")?,
        target_id,
        target_type,
        snippet: snippet(members).map_err(nested)?,
        more: more.map(|(name, value)| (name.clone(), value.clone())).collect(),
    })
}

/// A longer snippet is cut, being an excerpt anyway.
fn snippet(members: &Map<String, Value>) -> Result<Option<String>, Invalid> {
    match present(members, "snippet") {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(cut(text, limits::NOTIFICATION_SNIPPET_CHARS_MAX))),
        Some(_) => Err(Invalid::new("snippet", "has to be a text")),
    }
}

fn scheduled_at(body: &Map<String, Value>, now: Timestamp) -> Result<Option<Timestamp>, Invalid> {
    let Some(given) = present(body, "scheduledAt") else { return Ok(None) };
    let at = given.as_str().and_then(time::parse);
    let at =
        at.ok_or_else(|| Invalid::new("scheduledAt", "has to be a time such as 2026-11-15T10:00:00Z"))?;
    let days = limits::NOTIFICATION_AHEAD_DAYS_MAX;
    if at > now.plus(Duration::from_secs(days * 24 * 60 * 60)) {
        return Err(Invalid::new(
            "scheduledAt",
            format!("is more than {days} days ahead; events are kept for 30"),
        ));
    }
    Ok((at > now).then_some(at))
}

/// The settings that a user may choose.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub timezone: String,
    pub quiet_hours: Vec<bool>,
    pub categories: Toggles,
}

impl Settings {
    /// Settings of a user who has chosen nothing.
    pub fn defaults(policy: &Policy) -> Self {
        Self {
            timezone: policy.default_timezone.clone(),
            quiet_hours: policy.default_quiet_hours.clone(),
            categories: policy.default_categories,
        }
    }

    pub fn of(preferences: &Preferences) -> Self {
        Self {
            timezone: preferences.timezone.clone(),
            quiet_hours: preferences.quiet_hours.clone(),
            categories: preferences.categories,
        }
    }
}

/// The settings after a change; members missing from the body stay as in `before`. For a full replacement
/// `before` is [`Settings::defaults`].
pub fn settings(body: &Value, before: &Settings) -> Result<Settings, Invalid> {
    let body = object("body", body)?;
    known_members(body, &["id", "userId", "timezone", "quietHours", "categories", "updatedAt", "_etag"])?;
    let mut after = before.clone();
    if let Some(zone) = body.get("timezone") {
        let zone = zone.as_str().ok_or_else(|| Invalid::new("timezone", "has to be a text"))?;
        after.timezone = Zone::parse(zone)?.name().to_owned();
    }
    if let Some(hours) = body.get("quietHours") {
        after.quiet_hours = quiet_hours(hours)?;
    }
    if let Some(categories) = body.get("categories") {
        after.categories = toggles(categories, before.categories)?;
    }
    Ok(after)
}

fn quiet_hours(value: &Value) -> Result<Vec<bool>, Invalid> {
    let hours: Option<Vec<bool>> =
        value.as_array().and_then(|hours| hours.iter().map(Value::as_bool).collect());
    hours.filter(|hours| hours.len() == quiet::HOURS).ok_or_else(|| {
        Invalid::new("quietHours", "has to be 24 booleans, one for each local hour from 0; true is quiet")
    })
}

fn toggles(value: &Value, before: Toggles) -> Result<Toggles, Invalid> {
    let mut after = before;
    for (name, value) in object("categories", value)? {
        let member = format!("categories.{name}");
        let toggle = match &**name {
            "social" => &mut after.social,
            "news" => &mut after.news,
            "marketing" => &mut after.marketing,
            "safety" | "security" => return Err(Invalid::new(member, "is always on")),
            _ => return Err(Invalid::new(member, "is no category; there are social, news and marketing")),
        };
        *toggle = value.as_bool().ok_or_else(|| Invalid::new(member, "has to be true or false"))?;
    }
    Ok(after)
}

/// A device to register. Its token is never shown.
#[derive(Clone, PartialEq)]
pub struct Registration {
    pub device_id: String,
    pub push_token: String,
    pub platform: Platform,
    pub label: String,
}

pub fn registration(body: &Value) -> Result<Registration, Invalid> {
    let body = object("body", body)?;
    known_members(body, &["deviceId", "pushToken", "platform", "label"])?;
    let device_id = body.get("deviceId").ok_or_else(|| Invalid::new("deviceId", "is missing"))?;
    let platform = body.get("platform").cloned().unwrap_or_default();
    let platform =
        serde_json::from_value(platform).map_err(|_| Invalid::new("platform", "has to be fcm or apns"))?;
    Ok(Registration {
        device_id: id("deviceId", device_id)?,
        push_token: push_token(required(body, "pushToken")?, platform)?,
        platform,
        label: label(body)?.unwrap_or_default(),
    })
}

/// The changes to a registered device; empty for a mere heartbeat.
#[derive(Clone, Default, PartialEq)]
pub struct DeviceChange {
    pub push_token: Option<String>,
    pub label: Option<String>,
}

pub fn device_change(body: &Value, platform: Platform) -> Result<DeviceChange, Invalid> {
    let body = object("body", body)?;
    known_members(body, &["pushToken", "label"])?;
    let token = match present(body, "pushToken") {
        None => None,
        Some(_) => Some(push_token(required(body, "pushToken")?, platform)?),
    };
    Ok(DeviceChange { push_token: token, label: label(body)? })
}

/// A token that can be part of a request to the provider. Errors do not show it.
pub fn push_token(token: &str, platform: Platform) -> Result<String, Invalid> {
    let is_plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'.' | b'%' | b'=');
    if token.is_empty()
        || token.len() > limits::NOTIFICATION_PUSH_TOKEN_BYTES_MAX
        || !token.bytes().all(is_plain)
    {
        let name = match platform {
            Platform::Fcm => "registration token of FCM",
            Platform::Apns => "device token of APNs",
        };
        return Err(Invalid::new(
            "pushToken",
            format!("is no {name}: letters, digits and -_:.%= only, and not too many"),
        ));
    }
    Ok(token.to_owned())
}

/// The user's name for the device.
pub fn label(body: &Map<String, Value>) -> Result<Option<String>, Invalid> {
    short_text(body, "label", limits::NOTIFICATION_LABEL_CHARS_MAX)
}

/// A body that must be an object.
pub fn object<'a>(member: &str, value: &'a Value) -> Result<&'a Map<String, Value>, Invalid> {
    value.as_object().ok_or_else(|| Invalid::new(member, "has to be an object"))
}

/// Refuses unknown members, so that a typo is not mistaken for an omission.
pub fn known_members(body: &Map<String, Value>, known: &[&str]) -> Result<(), Invalid> {
    match body.keys().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => {
            Err(Invalid::new(cut(name, 60), format!("is not known here; there are {}", known.join(", "))))
        }
    }
}

fn required<'a>(body: &'a Map<String, Value>, name: &str) -> Result<&'a str, Invalid> {
    match present(body, name) {
        None => Err(Invalid::new(name, "is missing")),
        Some(value) => value.as_str().ok_or_else(|| Invalid::new(name, "has to be a text")),
    }
}

/// Null counts as missing.
fn present<'a>(body: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    body.get(name).filter(|value| !value.is_null())
}

fn short_text(body: &Map<String, Value>, name: &str, chars_max: usize) -> Result<Option<String>, Invalid> {
    match present(body, name) {
        None => Ok(None),
        Some(Value::String(text)) if text.is_empty() => {
            Err(Invalid::new(name, "is empty; leave it out or fill it"))
        }
        Some(Value::String(text)) if text.chars().count() <= chars_max => Ok(Some(text.clone())),
        Some(Value::String(_)) => Err(Invalid::new(name, format!("is longer than {chars_max} characters"))),
        Some(_) => Err(Invalid::new(name, "has to be a text")),
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
