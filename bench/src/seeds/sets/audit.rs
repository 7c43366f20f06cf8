//! Tools' invocations (S0-66, S0-67): 10 KB each, a partition a day, most of them of one day; a page by day, tool and
//! status (S0-84).

use super::{definition, only};
use crate::seeds::draw::{date, mix, text, time, uuid};
use crate::seeds::scene::Scene;
use crate::seeds::set::{Item, Set, padded};
use crate::seeds::workload::{Act, Agreement, Case, P95, Pages, Question, Scope, Workload};
use serde_json::json;

const ITEM_BYTES: usize = 10 * 1024;
const TOOLS: u64 = 20;
const TTL_SECONDS: u64 = 7_776_000;
/// Of a hundred invocations 90 succeed, 7 fail, 3 take too long.
const STATUSES: [&str; 3] = ["success", "error", "timeout"];

pub fn scene(tenth: u64) -> Scene {
    let page = Question {
        cosmos: "SELECT * FROM c WHERE c.tool_date = @day AND c.tool_name = @tool AND c.status = @status",
        postgres: "SELECT doc::text FROM tool_invocations WHERE pk = $1 AND doc->>'tool_name' = $2 \
                   AND doc->>'status' = $3 LIMIT 100"
            .to_owned(),
        parameters: &["@day", "@tool", "@status"],
        scope: Scope::Partition,
        pages: Pages::First(100),
        agreement: Agreement::Number,
        cases: (0..TOOLS * 3).map(case).collect(),
    };
    let workload = Workload {
        name: "seeds-audit-page".to_owned(),
        about: format!(
            "100 by day, tool and status, of {} of 10 KB in one partition, {TOOLS} tools",
            50_000 / tenth
        ),
        set: 0,
        connections: 1,
        act: Act::Ask(page),
        p95: Some(P95::of_seed(10.0, 100)),
    };
    Scene::new("audit", vec![set(55_000 / tenth)], vec![workload])
}

fn case(number: u64) -> Case {
    Case::new([date(0), tool(number / 3), STATUSES[number as usize % 3].to_owned()])
}

fn set(items: u64) -> Set {
    let composites = json!([[
        {"path": "/tool_date", "order": "descending"},
        {"path": "/tool_name", "order": "ascending"},
        {"path": "/status", "order": "ascending"},
    ]]);
    let included =
        ["/tool_date/?", "/tool_name/?", "/agent_id/?", "/workspace_id/?", "/status/?", "/timestamp/?"];
    Set {
        name: "tool_invocations".to_owned(),
        items,
        definition: definition("/tool_date", TTL_SECONDS, &only(&included, &composites)),
        indexes: vec!["(pk, (doc->>'tool_name'), (doc->>'status'))".to_owned()],
        draw,
    }
}

/// Ten of eleven are of the first day.
fn draw(number: u64, items: u64) -> Item {
    let drawn = mix(number);
    let day = if number < items / 11 * 10 { 0 } else { 1 + number % 6 };
    let status = match drawn >> 8 & 0x7f_ffff {
        share if share % 100 < 90 => STATUSES[0],
        share if share % 100 < 97 => STATUSES[1],
        _ => STATUSES[2],
    };
    let (id, partition) = (uuid(number), date(day));
    let head = format!(
        "{{\"id\":\"{id}\",\"tool_date\":\"{partition}\",\"tool_name\":\"{}\",\"agent_id\":\"agent-{:05}\",\
         \"workspace_id\":\"ws-tenant-{:03}\",\"session_id\":\"session-{:04}\",\"workflow_id\":null,\
         \"timestamp\":\"{at}\",\"status\":\"{status}\",\"duration_ms\":{},\"input_args\":{{\"path\":\"{}\"}},\
         \"security_context\":{{\"user_id\":\"user-456\",\"ip_address\":\"10.0.0.17\",\"user_agent\":\"agent/1.0\"}},\
         \"created_at\":\"{at}\",\"ttl\":{TTL_SECONDS},\"error_details\":null,\"output_result\":{{\"text\":\"",
        tool(number % TOOLS),
        drawn % 1000,
        drawn % 100,
        drawn >> 32 & 0xfff,
        drawn >> 44,
        text(drawn, 2000),
        at = time(number * 1000),
    );
    Item { id, partition, text: padded(&head, !drawn, ITEM_BYTES, "\"}}") }
}

fn tool(number: u64) -> String {
    format!("tool-{number:02}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeds::set::checks::items_are_sound;

    #[test]
    fn most_are_of_one_day_and_most_succeed() {
        let items = items_are_sound(&set(5500), ITEM_BYTES..=ITEM_BYTES);
        assert_eq!(items.iter().filter(|item| item["tool_date"] == date(0)).count(), 5000);
        let of = |status| items.iter().filter(|item| item["status"] == status).count();
        assert!((4850..5050).contains(&of("success")), "{}", of("success"));
        assert!((300..470).contains(&of("error")), "{}", of("error"));
    }
}
