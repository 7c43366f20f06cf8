//! Agents' metrics (S0-58, S0-59): 1 KB each, a partition a day, one day ten times the others (C-17); seven days of
//! one agent and one type (S0-83).

use super::{definition, only};
use crate::seeds::draw::{date, mix, time, uuid};
use crate::seeds::scene::Scene;
use crate::seeds::set::{Item, Set, padded};
use crate::seeds::workload::{Act, Agreement, Case, P95, Pages, Question, Scope, Workload};
use serde_json::json;

const ITEM_BYTES: usize = 1024;
const AGENTS: u64 = 1000;
const CASES: u64 = 64;
const TTL_SECONDS: u64 = 15_552_000;
const DAY_MILLIS: u64 = 86_400_000;
const TYPES: [&str; 5] = ["latency", "token_usage", "cost", "success_rate", "tool_usage"];

pub fn scene(tenth: u64) -> Scene {
    let week = Question {
        cosmos: "SELECT * FROM c WHERE c.metric_date >= @from AND c.metric_date <= @to \
                 AND c.agent_id = @agent AND c.metric_type = @type",
        postgres: "SELECT doc::text FROM agent_metrics WHERE pk >= $1 AND pk <= $2 \
                   AND doc->>'agent_id' = $3 AND doc->>'metric_type' = $4"
            .to_owned(),
        parameters: &["@from", "@to", "@agent", "@type"],
        scope: Scope::Everywhere,
        pages: Pages::All,
        agreement: Agreement::Rows,
        cases: (0..CASES).map(case).collect(),
    };
    let workload = Workload {
        name: "seeds-metrics-7-days".to_owned(),
        about: format!(
            "one agent and type of {AGENTS} and {}, over one day of {} and six of {} of 1 KB",
            TYPES.len(),
            1_000_000 / tenth,
            100_000 / tenth
        ),
        set: 0,
        connections: 1,
        act: Act::Ask(week),
        p95: Some(P95::of_seed(50.0, 200)),
    };
    Scene::new("metrics", vec![set(1_600_000 / tenth)], vec![workload])
}

fn case(number: u64) -> Case {
    let kind = TYPES[number as usize % TYPES.len()].to_owned();
    Case::new([date(0), date(6), agent(mix(number) % AGENTS), kind])
}

fn set(items: u64) -> Set {
    let composites = json!([[
        {"path": "/metric_date", "order": "descending"},
        {"path": "/agent_id", "order": "ascending"},
        {"path": "/metric_type", "order": "ascending"},
    ]]);
    let included = ["/metric_date/?", "/agent_id/?", "/workspace_id/?", "/metric_type/?", "/timestamp/?"];
    Set {
        name: "agent_metrics".to_owned(),
        items,
        definition: definition("/metric_date", TTL_SECONDS, &only(&included, &composites)),
        indexes: vec![
            "(pk DESC, (doc->>'agent_id'), (doc->>'metric_type'))".to_owned(),
            "((doc->>'agent_id'))".to_owned(),
            "((doc->>'metric_type'))".to_owned(),
        ],
        draw,
    }
}

/// Ten of sixteen are of the fourth day. Within a day every agent reports every type in turn.
fn draw(number: u64, items: u64) -> Item {
    let share = (items / 16).max(1);
    let (day, of_day) = match number.checked_sub(10 * share) {
        None => (3, number),
        Some(rest) => ([0, 1, 2, 4, 5, 6][(rest / share) as usize % 6], rest % share),
    };
    let (id, partition) = (format!("metric-{}", uuid(number)), date(day));
    let drawn = mix(number);
    let head = format!(
        "{{\"id\":\"{id}\",\"metric_date\":\"{partition}\",\"agent_id\":\"{}\",\"workspace_id\":\"ws-tenant-{:03}\",\
         \"metric_type\":\"{}\",\"timestamp\":\"{at}\",\"value\":{},\"created_at\":\"{at}\",\"ttl\":{TTL_SECONDS},\
         \"dimensions\":{{\"session_id\":\"session-{:04}\",\"workflow_id\":\"workflow-{:06}\",\
         \"environment\":\"production\",\"model\":\"gpt-4\",\"tool_name\":null,\"trace\":\"",
        agent(of_day % AGENTS),
        drawn % 100,
        TYPES[(of_day / AGENTS) as usize % TYPES.len()],
        drawn >> 44,
        drawn >> 8 & 0xfff,
        drawn >> 20 & 0xffff,
        at = time(day * DAY_MILLIS + of_day * 60),
    );
    Item { id, partition, text: padded(&head, drawn, ITEM_BYTES, "\"}}") }
}

fn agent(number: u64) -> String {
    format!("agent-{number:05}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeds::set::checks::items_are_sound;

    #[test]
    fn one_day_is_ten_times_the_others_and_every_agent_reports_alike() {
        let items = items_are_sound(&set(16_000 * 5), ITEM_BYTES..=ITEM_BYTES);
        let of_day = |day| items.iter().filter(|item| item["metric_date"] == date(day)).count();
        assert_eq!([0, 1, 2, 3, 4, 5, 6].map(of_day), [5000, 5000, 5000, 50_000, 5000, 5000, 5000]);
        let mine = |item: &&serde_json::Value| item["agent_id"] == agent(17) && item["metric_type"] == "cost";
        assert_eq!(items.iter().filter(mine).count(), 16);
    }
}
