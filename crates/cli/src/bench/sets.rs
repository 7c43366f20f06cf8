//! The items that the designs speak of, as many and as large: one function a container.

use super::draw::{DAY_MILLIS, date, mix, text, time, uuid};
use serde_json::{Value, json};

/// What fills a container of a blueprint.
#[derive(Clone, Copy, Debug)]
pub struct Set {
    pub blueprint: &'static str,
    pub container: &'static str,
    /// At scale 1, and at least; with fewer there would be nothing to find.
    items: u64,
    items_min: u64,
    draw: fn(number: u64, items: u64) -> Value,
}

pub const WORKFLOWS: Set = Set {
    blueprint: ASCENSION,
    container: "workflow-states",
    items: 10_000,
    items_min: 100,
    draw: |number, _| workflow(number, 0),
};
pub const MEMORIES: Set =
    Set { blueprint: ASCENSION, container: "agent-memories", items: 12_000, items_min: 120, draw: memory };
pub const METRICS: Set =
    Set { blueprint: ASCENSION, container: "agent-metrics", items: 1_600_000, items_min: 1600, draw: metric };
pub const INVOCATIONS: Set = Set {
    blueprint: ASCENSION,
    container: "tool-invocations",
    items: 55_000,
    items_min: 220,
    draw: invocation,
};
pub const EVENTS: Set = Set {
    blueprint: ASORA,
    container: "notification_events",
    items: 1_000_000,
    items_min: 1000,
    draw: event,
};
pub const NOTIFICATIONS: Set =
    Set { blueprint: ASORA, container: "notifications", items: 100_000, items_min: 1000, draw: notification };

const ASCENSION: &str = "project-ascension";
const ASORA: &str = "asora-notifications";

impl Set {
    pub fn items(&self, scale: f64) -> u64 {
        ((self.items as f64 * scale).round() as u64).max(self.items_min)
    }

    pub fn item(&self, number: u64, items: u64) -> Value {
        (self.draw)(number, items)
    }
}

const WORKFLOW_BYTES: usize = 50 * 1024;
const AGENTS: u64 = 8;

/// A workflow state after so many changes (S0-13): 50 KB, in a partition of its own.
pub fn workflow(number: u64, revision: u64) -> Value {
    let drawn = mix(number);
    let kinds = ["sequential", "concurrent", "group_chat", "handoff", "state_machine", "saga"];
    let statuses = ["pending", "in_progress", "completed", "failed", "paused", "cancelled"];
    let share = WORKFLOW_BYTES / 2 / AGENTS as usize - 300;
    let agents: Vec<Value> = (0..AGENTS)
        .map(|at| {
            json!({
                "agent_id": format!("agent-{at:03}"), "agent_name": "Backend Developer", "status": "completed",
                "duration_ms": drawn.wrapping_add(at) % 400_000, "result": {"output": text(drawn ^ at, share)},
            })
        })
        .collect();
    let checkpoints: Vec<Value> = (0..AGENTS)
        .map(|step| {
            json!({
                "step": step, "timestamp": time(number * 1000 + step), "agent_context": {},
                "state": {"memory": text(!drawn ^ step ^ revision, share)},
            })
        })
        .collect();
    padded(
        json!({
            "id": uuid(number), "workflow_id": format!("workflow-{number:06}"),
            "workspace_id": format!("ws-tenant-{:03}", drawn % 100), "type": kinds[(drawn >> 16) as usize % 6],
            "name": "API Development Workflow", "status": statuses[((drawn >> 8) + revision) as usize % 6],
            "current_step": revision % 10, "total_steps": 10, "agents": agents, "checkpoints": checkpoints,
            "metadata": {"created_by": "user-456", "tags": ["api-development"], "priority": 5, "retry_count": 0},
            "created_at": time(number * 1000), "updated_at": time(number * 1000 + revision),
        }),
        "description",
        WORKFLOW_BYTES,
    )
}

/// S0-45: 5 KB; ten of twelve are the first agent's.
fn memory(number: u64, items: u64) -> Value {
    let drawn = mix(number);
    let whose = if number < items / 12 * 10 { 0 } else { 1 + drawn % 20 };
    let kinds = ["user", "assistant", "system", "thought", "tool_call", "tool_result"];
    padded(
        json!({
            "id": format!("msg-{}", uuid(number)), "agent_id": agent(whose),
            "session_id": format!("session-{:04}", number % 20), "workspace_id": "ws-tenant-001",
            "message_type": kinds[(drawn >> 8) as usize % 6], "timestamp": time(number * 1000),
            "relevance_score": (drawn % 1000) as f64 / 1000.0, "token_count": drawn % 1024,
            "created_at": time(number * 1000),
        }),
        "content",
        5 * 1024,
    )
}

pub fn agent(number: u64) -> String {
    format!("agent-{number:03}")
}

/// Agents that report.
pub const REPORTING: u64 = 1000;

/// S0-58: 1 KB, a partition a day; the fourth of seven days has ten times the others. Agents report in turn.
fn metric(number: u64, items: u64) -> Value {
    let share = (items / 16).max(1);
    let (day, of_day) = match number.checked_sub(10 * share) {
        None => (3, number),
        Some(rest) => ([0, 1, 2, 4, 5, 6][(rest / share) as usize % 6], rest % share),
    };
    let drawn = mix(number);
    let kinds = ["latency", "token_usage", "cost", "success_rate", "tool_usage"];
    let at = time(day * DAY_MILLIS + of_day * 60);
    padded(
        json!({
            "id": format!("metric-{}", uuid(number)), "metric_date": date(day),
            "agent_id": agent(of_day % REPORTING), "workspace_id": format!("ws-tenant-{:03}", drawn % 100),
            "metric_type": kinds[(of_day / REPORTING) as usize % 5], "timestamp": at, "value": drawn >> 44,
            "dimensions": {"environment": "production", "model": "gpt-4"}, "created_at": at,
        }),
        "trace",
        1024,
    )
}

/// S0-66: 10 KB; ten of eleven are of the first day. Of a hundred 90 succeed, 7 fail, 3 take too long.
fn invocation(number: u64, items: u64) -> Value {
    let drawn = mix(number);
    let day = if number < items / 11 * 10 { 0 } else { 1 + number % 6 };
    let status = match drawn % 100 {
        0..90 => "success",
        90..97 => "error",
        _ => "timeout",
    };
    padded(
        json!({
            "id": uuid(number), "tool_date": date(day), "tool_name": format!("tool-{:02}", number % 20),
            "agent_id": agent(drawn % REPORTING), "workspace_id": format!("ws-tenant-{:03}", drawn % 100),
            "timestamp": time(day * DAY_MILLIS + number), "status": status, "duration_ms": drawn >> 50,
            "input_args": {"path": "/src"}, "created_at": time(day * DAY_MILLIS + number),
        }),
        "output",
        10 * 1024,
    )
}

/// Events that the dispatcher finds.
pub const DUE: u64 = 50;
const DISPATCH_MILLIS: u64 = 14 * DAY_MILLIS;

/// When the dispatcher asks.
pub fn dispatch_time() -> String {
    time(DISPATCH_MILLIS)
}

/// S2-13: fifty are due, spread over all; of the others three in a thousand have failed, for good or until later.
fn event(number: u64, items: u64) -> Value {
    let drawn = mix(number);
    let share = (items / DUE).max(1);
    let is_due = number % share == share / 2 && number / share < DUE;
    let (status, retries, next) = match (is_due, number / share % 5, mix(!number) % 1000) {
        (true, 0..3, _) => ("PENDING", 0, None),
        (true, retries, _) => ("FAILED", retries - 2, Some(DISPATCH_MILLIS - number % DAY_MILLIS)),
        (false, _, 0 | 1) => ("FAILED", 5, Some(DISPATCH_MILLIS - number % DAY_MILLIS)),
        (false, _, 2) => ("FAILED", 1, Some(DISPATCH_MILLIS + 1 + number % DAY_MILLIS)),
        (false, _, 3..63) => ("DEDUPLICATED", 0, None),
        _ => ("COMPLETED", 0, None),
    };
    let mut event = json!({
        "id": uuid(number), "userId": user(mix(drawn) % (items / 10).max(1)), "eventType": "POST_COMMENT",
        "category": "SOCIAL", "status": status, "retryCount": retries,
        "payload": {"actorId": user(drawn % 100_000), "actorName": text(drawn, 12), "snippet": text(!drawn, 140)},
        "dedupeKey": format!("POST_COMMENT:{:010x}", drawn >> 24),
        "createdAt": time(number.saturating_mul(DISPATCH_MILLIS / items.max(1))),
    });
    if let Some(next) = next {
        event["nextRetryAt"] = json!(time(next));
    }
    event
}

pub fn user(number: u64) -> String {
    format!("user-{number:06}")
}

/// Users with a tenth of all each.
pub const BUSY: u64 = 4;

/// S2-23: a few users have very many, the others ten.
fn notification(number: u64, items: u64) -> Value {
    let drawn = mix(number);
    let whose = match number % 10 {
        busy @ 0..BUSY => busy,
        _ => BUSY + drawn % (items * (10 - BUSY) / 100).max(1),
    };
    let categories = ["SOCIAL", "SAFETY", "SECURITY", "NEWS", "MARKETING"];
    json!({
        "id": uuid(number), "userId": user(whose), "category": categories[(drawn >> 24) as usize % 5],
        "eventType": "POST_COMMENT", "title": "New comment", "body": text(drawn, 160),
        "deeplink": format!("asora://post/{:08}", drawn >> 40), "read": drawn >> 8 & 7 > 1,
        "dismissed": (drawn >> 16).is_multiple_of(10), "createdAt": time(number * 1000),
    })
}

/// With one more member of text, so that the whole has this many bytes.
fn padded(mut item: Value, member: &str, bytes: usize) -> Value {
    item[member] = json!("");
    let missing = bytes.saturating_sub(item.to_string().len());
    item[member] = json!(text(bytes as u64 ^ missing as u64, missing));
    item
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const ALL: [Set; 6] = [WORKFLOWS, MEMORIES, METRICS, INVOCATIONS, EVENTS, NOTIFICATIONS];

    fn drawn(set: &Set) -> Vec<Value> {
        let items = set.items(0.0);
        (0..items).map(|number| set.item(number, items)).collect()
    }

    #[test]
    fn every_item_has_an_id_of_its_own_and_the_size_that_the_design_says() {
        for (set, bytes) in ALL.iter().zip([50 * 1024, 5 * 1024, 1024, 10 * 1024, 400, 300]) {
            let items = drawn(set);
            let ids: HashSet<String> = items.iter().map(|item| item["id"].to_string()).collect();
            assert_eq!(ids.len(), items.len(), "{}", set.container);
            for item in items {
                let size = item.to_string().len();
                assert!(size >= bytes && size <= bytes + 250, "{}: {size}", set.container);
            }
        }
    }

    #[test]
    fn fifty_events_are_due_at_any_scale() {
        for items in [1000, 20_000] {
            let events: Vec<Value> = (0..items).map(|number| EVENTS.item(number, items)).collect();
            let is_due = |event: &&Value| {
                event["status"] == "PENDING"
                    || (event["status"] == "FAILED"
                        && event["retryCount"].as_u64() < Some(5)
                        && event["nextRetryAt"].as_str() <= Some(&dispatch_time()))
            };
            assert_eq!(events.iter().filter(is_due).count() as u64, DUE, "of {items}");
        }
    }

    #[test]
    fn a_change_of_a_workflow_keeps_its_place_and_its_size() {
        let (before, after) = (workflow(7, 1), workflow(7, 2));
        assert_eq!((&before["id"], &before["workflow_id"]), (&after["id"], &after["workflow_id"]));
        assert_eq!(before.to_string().len(), after.to_string().len());
        assert_ne!(before["status"], after["status"]);
    }

    #[test]
    fn busy_users_have_a_tenth_each() {
        let items = drawn(&NOTIFICATIONS);
        assert_eq!(items.iter().filter(|item| item["userId"] == user(2)).count(), items.len() / 10);
    }
}
