//! Workflow states (S0-13 to S0-15): 50 KB each, one in a partition, read and replaced whole (S0-80, S0-81).

use super::{definition, only};
use crate::seeds::draw::{mix, text, time, uuid};
use crate::seeds::scene::Scene;
use crate::seeds::set::{Item, Set, padded};
use crate::seeds::workload::{Act, P95, Workload};
use serde_json::json;
use std::fmt::Write as _;

const ITEM_BYTES: usize = 50 * 1024;
const CONNECTIONS: usize = 16;
const WORKSPACES: u64 = 100;
const AGENTS: u64 = 8;
const TTL_SECONDS: u64 = 2_592_000;
const TYPES: [&str; 6] = ["sequential", "concurrent", "group_chat", "handoff", "state_machine", "saga"];
const STATUSES: [&str; 6] = ["pending", "in_progress", "completed", "failed", "paused", "cancelled"];

pub fn scene(tenth: u64) -> Scene {
    let workload = |name: &str, about: &str, act, p95| Workload {
        name: name.to_owned(),
        about: format!("{about}, of {} of 50 KB, over {CONNECTIONS} connections", 10_000 / tenth),
        set: 0,
        connections: CONNECTIONS,
        act,
        p95: Some(p95),
    };
    Scene::new(
        "workflows",
        vec![set(10_000 / tenth)],
        vec![
            workload("seeds-state-read", "one workflow state by its id", Act::Read, P95::of_seed(2.0, 10)),
            workload(
                "seeds-state-update",
                "one workflow state replaced, durably",
                Act::Update(revised),
                P95::of_seed(15.0, 50),
            ),
        ],
    )
}

fn set(items: u64) -> Set {
    let composites = json!([
        [
            {"path": "/workspace_id", "order": "ascending"},
            {"path": "/status", "order": "ascending"},
            {"path": "/created_at", "order": "descending"},
        ],
        [
            {"path": "/workspace_id", "order": "ascending"},
            {"path": "/type", "order": "ascending"},
            {"path": "/updated_at", "order": "descending"},
        ],
    ]);
    let included = [
        "/workflow_id/?",
        "/workspace_id/?",
        "/status/?",
        "/type/?",
        "/created_at/?",
        "/updated_at/?",
        "/current_step/?",
    ];
    Set {
        name: "workflow_states".to_owned(),
        items,
        definition: definition("/workflow_id", TTL_SECONDS, &only(&included, &composites)),
        indexes: vec![
            "((doc->>'workspace_id'), (doc->>'status'), (doc->>'created_at') DESC)".to_owned(),
            "((doc->>'workspace_id'), (doc->>'type'), (doc->>'updated_at') DESC)".to_owned(),
        ],
        draw: |number, _| revised(number, 0),
    }
}

/// The item after so many changes: each moves it a step on, and with it its status and the time of the change.
fn revised(number: u64, revision: u64) -> Item {
    let (id, partition) = (uuid(number), format!("workflow-{number:06}"));
    let drawn = mix(number);
    let status = STATUSES[((drawn >> 8) + revision) as usize % STATUSES.len()];
    let mut head = format!(
        "{{\"id\":\"{id}\",\"workflow_id\":\"{partition}\",\"workspace_id\":\"ws-tenant-{:03}\",\"type\":\"{}\",\
         \"name\":\"API Development Workflow\",\"status\":\"{status}\",\"current_step\":{},\"total_steps\":10,\
         \"created_at\":\"{}\",\"updated_at\":\"{}\",\"ttl\":{TTL_SECONDS},\"metadata\":{{\"created_by\":\"user-456\",\
         \"tags\":[\"api-development\",\"backend\"],\"priority\":5,\"retry_count\":0}},",
        drawn % WORKSPACES,
        TYPES[(drawn >> 16) as usize % TYPES.len()],
        revision % 10,
        time(number * 1000),
        time(number * 1000 + revision),
    );
    push_agents(&mut head, drawn.wrapping_add(revision));
    push_checkpoints(&mut head, drawn.wrapping_sub(revision));
    head.push_str("\"error_details\":{\"error_type\":\"timeout\",\"failed_step\":3,\"stack_trace\":\"");
    Item { id, partition, text: padded(&head, drawn, ITEM_BYTES, "\"}}") }
}

fn push_agents(head: &mut String, seed: u64) {
    head.push_str("\"agents\":[");
    for agent in 0..AGENTS {
        let comma = if agent == 0 { "" } else { "," };
        let _ = write!(
            head,
            "{comma}{{\"agent_id\":\"agent-{agent:03}\",\"agent_name\":\"Backend Developer\",\"status\":\"completed\",\
             \"duration_ms\":{},\"result\":{{\"output\":\"{}\",\"tool_calls\":[],\"token_usage\":\
             {{\"prompt_tokens\":1500,\"completion_tokens\":800,\"total_tokens\":2300}},\"error\":null}}}}",
            seed.wrapping_add(agent) % 400_000,
            text(seed.wrapping_add(agent), 3000),
        );
    }
    head.push_str("],");
}

fn push_checkpoints(head: &mut String, seed: u64) {
    head.push_str("\"checkpoints\":[");
    for step in 0..AGENTS {
        let comma = if step == 0 { "" } else { "," };
        let _ = write!(
            head,
            "{comma}{{\"step\":{step},\"state\":{{\"initialized\":true,\"memory\":\"{}\"}},\"agent_context\":{{}}}}",
            text(seed.wrapping_add(step), 2000),
        );
    }
    head.push_str("],");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeds::set::checks::items_are_sound;

    #[test]
    fn items_are_50_kb_and_of_all_kinds() {
        let items = items_are_sound(&set(200), ITEM_BYTES..=ITEM_BYTES);
        for status in STATUSES {
            assert!(items.iter().any(|item| item["status"] == status), "{status}");
        }
    }

    #[test]
    fn a_change_keeps_the_place_and_the_size_and_moves_what_is_indexed() {
        let (before, after) = (revised(7, 1), revised(7, 2));
        assert_eq!((&before.id, &before.partition), (&after.id, &after.partition));
        assert_eq!((before.text.len(), after.text.len()), (ITEM_BYTES, ITEM_BYTES));
        let read = |item: &Item| serde_json::from_str::<serde_json::Value>(&item.text).unwrap();
        for path in ["status", "current_step", "updated_at"] {
            assert_ne!(read(&before)[path], read(&after)[path], "{path}");
        }
    }
}
