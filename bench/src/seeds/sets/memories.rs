//! Agents' memories (S0-45 to S0-47): 5 KB each, most of them one agent's; the newest of a session (S0-82).

use super::{definition, only};
use crate::seeds::draw::{mix, text, time, uuid};
use crate::seeds::scene::Scene;
use crate::seeds::set::{Item, Set, padded};
use crate::seeds::workload::{Act, Agreement, Case, P95, Pages, Question, Scope, Workload};
use serde_json::json;

const ITEM_BYTES: usize = 5 * 1024;
const SESSIONS: u64 = 20;
const OTHER_AGENTS: u64 = 20;
const TTL_SECONDS: u64 = 7_776_000;
const KINDS: [&str; 6] = ["user", "assistant", "system", "thought", "tool_call", "tool_result"];

pub fn scene(tenth: u64) -> Scene {
    let newest = Question {
        cosmos: "SELECT TOP 100 * FROM c WHERE c.agent_id = @agent AND c.session_id = @session \
                 ORDER BY c.timestamp DESC",
        postgres: "SELECT doc::text FROM agent_memories WHERE pk = $1 AND doc->>'session_id' = $2 \
                   ORDER BY doc->>'timestamp' DESC LIMIT 100"
            .to_owned(),
        parameters: &["@agent", "@session"],
        scope: Scope::Partition,
        pages: Pages::All,
        agreement: Agreement::Order,
        cases: (0..SESSIONS).map(|session| Case::new([agent(0), session_id(session)])).collect(),
    };
    let workload = Workload {
        name: "seeds-memory-newest".to_owned(),
        about: format!(
            "the newest 100 of a session, of {} of 5 KB in one partition, in {SESSIONS} sessions",
            10_000 / tenth
        ),
        set: 0,
        connections: 1,
        act: Act::Ask(newest),
        p95: Some(P95::of_seed(5.0, 50)),
    };
    Scene::new("memories", vec![set(12_000 / tenth)], vec![workload])
}

fn set(items: u64) -> Set {
    let composites = json!([
        [
            {"path": "/agent_id", "order": "ascending"},
            {"path": "/session_id", "order": "ascending"},
            {"path": "/timestamp", "order": "ascending"},
        ],
        [
            {"path": "/workspace_id", "order": "ascending"},
            {"path": "/agent_id", "order": "ascending"},
            {"path": "/relevance_score", "order": "descending"},
        ],
    ]);
    let included = [
        "/agent_id/?",
        "/session_id/?",
        "/workspace_id/?",
        "/message_type/?",
        "/timestamp/?",
        "/relevance_score/?",
    ];
    Set {
        name: "agent_memories".to_owned(),
        items,
        definition: definition("/agent_id", TTL_SECONDS, &only(&included, &composites)),
        indexes: vec!["(pk, (doc->>'session_id'), (doc->>'timestamp'))".to_owned()],
        draw,
    }
}

/// Ten of twelve are the first agent's.
fn draw(number: u64, items: u64) -> Item {
    let drawn = mix(number);
    let whose = if number < items / 12 * 10 { 0 } else { 1 + drawn % OTHER_AGENTS };
    let (id, partition) = (format!("msg-{}", uuid(number)), agent(whose));
    let head = format!(
        "{{\"id\":\"{id}\",\"agent_id\":\"{partition}\",\"session_id\":\"{}\",\"workspace_id\":\"ws-tenant-001\",\
         \"message_type\":\"{}\",\"timestamp\":\"{at}\",\"relevance_score\":{},\"token_count\":{},\
         \"parent_message_id\":null,\"metadata\":{{\"tool_name\":null,\"tool_result\":\"{}\",\"reasoning_chain\":[],\
         \"tags\":[\"api-design\",\"authentication\"],\"model\":\"gpt-4\",\"temperature\":0.7,\
         \"user_id\":\"user-456\"}},\"created_at\":\"{at}\",\"ttl\":{TTL_SECONDS},\"content\":\"",
        session_id(number % SESSIONS),
        KINDS[(drawn >> 8) as usize % KINDS.len()],
        (drawn >> 16) as f64 % 1000.0 / 1000.0,
        drawn >> 32 & 0x3ff,
        text(drawn, 500),
        at = time(number * 1000),
    );
    Item { id, partition, text: padded(&head, !drawn, ITEM_BYTES, "\"}") }
}

fn agent(number: u64) -> String {
    format!("agent-{number:03}")
}

fn session_id(number: u64) -> String {
    format!("session-{number:04}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeds::set::checks::items_are_sound;

    #[test]
    fn one_agent_has_most_items_in_sessions_of_one_size() {
        let items = items_are_sound(&set(1200), ITEM_BYTES..=ITEM_BYTES);
        let of_session =
            |item: &&serde_json::Value| item["agent_id"] == agent(0) && item["session_id"] == session_id(3);
        assert_eq!(items.iter().filter(of_session).count(), 50);
        assert_eq!(items.iter().filter(|item| item["agent_id"] == agent(0)).count(), 1000);
    }
}
