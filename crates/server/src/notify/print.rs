//! Answers as people like to see them.

use crate::monitor::verbs::table::{clipped, table};
use serde_json::Value;
use std::io::Write as _;

const TITLE_CHARS: usize = 60;

/// Nobody may be reading it.
pub fn line(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

/// A member as text; nothing where it is absent or null.
pub fn text(value: &Value, name: &str) -> String {
    match &value[name] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn rows(values: &Value, names: &[&str]) -> Vec<Vec<String>> {
    let values = values.as_array().map(Vec::as_slice).unwrap_or_default();
    let row = |value: &Value| names.iter().map(|name| clipped(&text(value, name), TITLE_CHARS)).collect();
    values.iter().map(row).collect()
}

pub fn accepted(answer: &Value) -> String {
    table(&["USER", "EVENT", "STATUS", "REASON"], &rows(answer, &["userId", "id", "status", "reason"]), 0, 0)
}

pub fn events(answer: &Value) -> String {
    let names = ["createdAt", "userId", "eventType", "status", "retryCount", "lastError", "id"];
    let heading = ["CREATED", "USER", "TYPE", "STATUS", "RETRIES", "LAST ERROR", "ID"];
    table(&heading, &rows(&answer["items"], &names), 4, 5) + &more(answer)
}

fn more(answer: &Value) -> String {
    let continuation = answer["continuation"].as_str();
    continuation.map(|text| format!("more: --continuation '{text}'\n")).unwrap_or_default()
}

pub fn notifications(answer: &Value) -> String {
    let names = ["createdAt", "category", "read", "count", "title", "id"];
    let heading = ["CREATED", "CATEGORY", "READ", "EVENTS", "TITLE", "ID"];
    table(&heading, &rows(&answer["items"], &names), 3, 4) + &more(answer)
}

pub fn notification(answer: &Value) -> String {
    let state = match (answer["dismissed"].as_bool(), answer["read"].as_bool()) {
        (Some(true), _) => "dismissed",
        (_, Some(true)) => "read",
        _ => "unread",
    };
    format!("{} is {state}: {}\n", text(answer, "id"), text(answer, "title"))
}

pub fn read_all(answer: &Value) -> String {
    format!("{} marked as read\n", text(answer, "read"))
}

pub fn event(answer: &Value) -> String {
    let names = [
        ("event", "id"),
        ("user", "userId"),
        ("type", "eventType"),
        ("status", "status"),
        ("outcome", "outcome"),
        ("created", "createdAt"),
        ("processed", "processedAt"),
        ("retries", "retryCount"),
        ("next try", "nextRetryAt"),
        ("put off for", "deferReason"),
        ("given up", "deadLetteredAt"),
        ("last error", "lastError"),
        ("notification", "notificationId"),
    ];
    let said =
        names.iter().map(|(label, name)| (label, text(answer, name))).filter(|(_, text)| !text.is_empty());
    let mut drawn: String = said.map(|(label, text)| format!("{label:<13} {text}\n")).collect();
    let attempts = rows(&answer["attempts"], &["at", "deviceId", "platform", "status", "result"]);
    if !attempts.is_empty() {
        drawn.push_str(&table(&["TRIED", "DEVICE", "PLATFORM", "STATUS", "RESULT"], &attempts, 3, 4));
    }
    drawn
}

pub fn preferences(answer: &Value) -> String {
    let quiet = answer["quietHours"].as_array().map(Vec::as_slice).unwrap_or_default();
    let hours: Vec<String> =
        (0..quiet.len()).filter(|hour| quiet[*hour] == true).map(|hour| hour.to_string()).collect();
    let categories = &answer["categories"];
    let on = ["social", "news", "marketing"].into_iter().filter(|name| categories[*name] == true);
    format!(
        "time zone    {}\nquiet hours  {}\ncategories   {}\n",
        text(answer, "timezone"),
        if hours.is_empty() { "none".to_owned() } else { hours.join(" ") },
        on.collect::<Vec<_>>().join(" "),
    )
}

pub fn devices(answer: &Value) -> String {
    let names = ["deviceId", "platform", "label", "lastSeenAt", "revokedAt"];
    table(&["DEVICE", "PLATFORM", "LABEL", "LAST SEEN", "REVOKED"], &rows(&answer["items"], &names), 0, 0)
}

pub fn device(answer: &Value) -> String {
    let state = match text(answer, "revokedAt").as_str() {
        "" => format!("is active, last seen {}", text(answer, "lastSeenAt")),
        at => format!("is revoked since {at} ({})", text(answer, "revokeReason")),
    };
    format!("{} {state}\n", text(answer, "deviceId"))
}

pub fn plain(answer: &Value) -> String {
    format!("{answer:#}\n")
}
