//! Answers as people like to see them.

use crate::terminal::{Screen, Table};
use serde_json::Value;
use std::ops::Range;

/// The headings of columns with ids.
const IDS: [&str; 3] = ["ID", "EVENT", "DEVICE"];

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
    let row = |value: &Value| names.iter().map(|name| text(value, name)).collect();
    values.iter().map(row).collect()
}

/// Ids are whole, as the next command wants them.
fn table(heading: &[&str], rows: Vec<Vec<String>>, numbers: Range<usize>) -> String {
    let ids = heading.iter().position(|name| IDS.contains(name));
    let table = Table::new(heading).numbers(numbers);
    let table = ids.into_iter().fold(table, Table::whole);
    table.rows(rows).draw(&Screen::of_stdout())
}

pub fn accepted(answer: &Value) -> String {
    let rows = rows(answer, &["userId", "id", "status", "reason"]);
    table(&["USER", "EVENT", "STATUS", "REASON"], rows, 0..0)
}

pub fn events(answer: &Value) -> String {
    let names = ["createdAt", "userId", "eventType", "status", "retryCount", "lastError", "id"];
    let heading = ["CREATED", "USER", "TYPE", "STATUS", "RETRIES", "LAST ERROR", "ID"];
    table(&heading, rows(&answer["items"], &names), 4..5) + &more(answer)
}

fn more(answer: &Value) -> String {
    let continuation = answer["continuation"].as_str();
    continuation.map(|text| format!("more: --continuation '{text}'\n")).unwrap_or_default()
}

pub fn notifications(answer: &Value) -> String {
    let names = ["createdAt", "category", "read", "count", "title", "id"];
    let heading = ["CREATED", "CATEGORY", "READ", "EVENTS", "TITLE", "ID"];
    table(&heading, rows(&answer["items"], &names), 3..4) + &more(answer)
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
        drawn.push_str(&table(&["TRIED", "DEVICE", "PLATFORM", "STATUS", "RESULT"], attempts, 3..4));
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
    table(&["DEVICE", "PLATFORM", "LABEL", "LAST SEEN", "REVOKED"], rows(&answer["items"], &names), 0..0)
}

pub fn device(answer: &Value) -> String {
    let state = match text(answer, "revokedAt").as_str() {
        "" => format!("is active, last seen {}", text(answer, "lastSeenAt")),
        at => format!("is revoked since {at} ({})", text(answer, "revokeReason")),
    };
    format!("{} {state}\n", text(answer, "deviceId"))
}

/// Members and their values, a line each; those of an object inside under its name.
pub fn members(answer: &Value) -> String {
    let mut drawn = String::new();
    add_members(answer, 0, &mut drawn);
    drawn
}

fn add_members(value: &Value, depth: usize, drawn: &mut String) {
    let indent = "  ".repeat(depth);
    for (name, inside) in value.as_object().into_iter().flatten() {
        if inside.is_object() {
            drawn.push_str(&format!("{indent}{name}\n"));
            add_members(inside, depth + 1, drawn);
        } else {
            drawn.push_str(&format!("{indent}{name:<18} {}\n", text(value, name)));
        }
    }
}

/// What was counted, then what runs by the calendar.
pub fn stats(answer: &Value) -> String {
    let jobs = rows(&answer["jobs"], &["name", "schedule", "nextRunAt", "runningOn"]);
    let jobs = table(&["JOB", "SCHEDULE", "NEXT RUN", "RUNNING ON"], jobs, 0..0);
    format!("{}\n{jobs}", members(&answer["stats"]))
}

/// Several notifications, or one.
pub fn marked(answer: &Value) -> String {
    match answer.as_array() {
        Some(several) => several.iter().map(notification).collect(),
        None => notification(answer),
    }
}
