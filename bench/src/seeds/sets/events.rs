//! Notification events (S2-13): a queue of a million in which fifty are due (S2-14), whoever's they are.

use super::{definition, everything};
use crate::seeds::draw::{mix, text, time, uuid};
use crate::seeds::scene::Scene;
use crate::seeds::set::{Item, Set};
use crate::seeds::workload::{Act, Agreement, Case, P95, Pages, Question, Scope, Workload};

/// Events that the dispatcher finds.
const DUE: u64 = 50;
const EVENTS_A_USER: u64 = 10;
const TTL_SECONDS: u64 = 2_592_000;
/// When the dispatcher asks: two weeks in.
const NOW_MILLIS: u64 = 14 * 86_400_000;
const RETRIES_MAX: u64 = 5;

pub fn scene(tenth: u64) -> Scene {
    let dispatch = Question {
        cosmos: "SELECT * FROM c WHERE c.status = 'PENDING' \
                 OR (c.status = 'FAILED' AND c.retryCount < 5 AND c.nextRetryAt <= @now)",
        postgres: "SELECT doc::text FROM notification_events WHERE doc->>'status' = 'PENDING' \
                   OR (doc->>'status' = 'FAILED' AND (doc->>'retryCount')::int < 5 AND doc->>'nextRetryAt' <= $1)"
            .to_owned(),
        parameters: &["@now"],
        scope: Scope::Everywhere,
        pages: Pages::All,
        agreement: Agreement::Rows,
        cases: vec![Case::new([time(NOW_MILLIS)])],
    };
    let items = 1_000_000 / tenth;
    let workload = Workload {
        name: "seeds-dispatch".to_owned(),
        about: format!("{DUE} due of {items} events of {} users", items / EVENTS_A_USER),
        set: 0,
        connections: 1,
        act: Act::Ask(dispatch),
        p95: Some(P95::ours(10.0)),
    };
    Scene::new("events", vec![set(items)], vec![workload])
}

fn set(items: u64) -> Set {
    Set {
        name: "notification_events".to_owned(),
        items,
        definition: definition("/userId", TTL_SECONDS, &everything()),
        indexes: vec![
            "((doc->>'status'))".to_owned(),
            "(((doc->>'retryCount')::int))".to_owned(),
            "((doc->>'nextRetryAt'))".to_owned(),
            "((doc->>'dedupeKey'))".to_owned(),
            "((doc->>'createdAt'))".to_owned(),
        ],
        draw,
    }
}

/// Where an event stands, and the members that only some have.
struct Standing {
    status: &'static str,
    retries: u64,
    more: String,
}

fn draw(number: u64, items: u64) -> Item {
    let drawn = mix(number);
    let (id, partition) = (uuid(number), format!("user-{:06}", mix(drawn) % (items / EVENTS_A_USER).max(1)));
    let Standing { status, retries, more } = standing(number, items);
    let text = format!(
        "{{\"id\":\"{id}\",\"userId\":\"{partition}\",\"eventType\":\"POST_COMMENT\",\"category\":\"SOCIAL\",\
         \"payload\":{{\"actorId\":\"user-{:06}\",\"actorName\":\"{}\",\"targetId\":\"post-{:08}\",\
         \"targetType\":\"post\",\"snippet\":\"{}\"}},\"status\":\"{status}\",\"retryCount\":{retries},{more}\
         \"dedupeKey\":\"comment:{:010x}\",\"createdAt\":\"{}\"}}",
        drawn % 100_000,
        text(drawn, 12),
        drawn >> 32 & 0xff_ffff,
        text(!drawn, 140),
        drawn >> 24,
        time(number * NOW_MILLIS / items.max(1)),
    );
    Item { id, partition, text }
}

/// Every so-and-so-manieth is due, three of five of them for the first time. Of the others three in a thousand have
/// failed: two for good, one until later.
fn standing(number: u64, items: u64) -> Standing {
    let share = (items / DUE).max(1);
    if number % share == share / 2 && number / share < DUE {
        return match number / share % 5 {
            0..3 => Standing { status: "PENDING", retries: 0, more: String::new() },
            retries => failed(retries - 2, NOW_MILLIS - number % 86_400_000),
        };
    }
    match mix(!number) % 1000 {
        0 | 1 => failed(RETRIES_MAX, NOW_MILLIS - number % 86_400_000),
        2 => failed(1, NOW_MILLIS + 1 + number % 86_400_000),
        3..13 => done("RATE_LIMITED", number),
        13..63 => done("DEDUPLICATED", number),
        _ => done("COMPLETED", number),
    }
}

fn failed(retries: u64, next_millis: u64) -> Standing {
    let more =
        format!("\"nextRetryAt\":\"{}\",\"lastError\":\"503 from the push service\",", time(next_millis));
    Standing { status: "FAILED", retries, more }
}

fn done(status: &'static str, number: u64) -> Standing {
    Standing { status, retries: 0, more: format!("\"processedAt\":\"{}\",", time(number)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeds::set::checks::items_are_sound;
    use serde_json::Value;

    fn is_due(item: &Value) -> bool {
        item["status"] == "PENDING"
            || (item["status"] == "FAILED"
                && item["retryCount"].as_u64() < Some(5)
                && item["nextRetryAt"].as_str() <= Some(time(NOW_MILLIS).as_str()))
    }

    #[test]
    fn fifty_are_due_and_more_have_failed() {
        let items = items_are_sound(&set(20_000), 400..=700);
        let due: Vec<&Value> = items.iter().filter(|item| is_due(item)).collect();
        assert_eq!(due.len() as u64, DUE);
        assert_eq!(due.iter().filter(|item| item["status"] == "PENDING").count(), 30);
        let failed = items.iter().filter(|item| item["status"] == "FAILED").count();
        assert!((50..130).contains(&failed), "{failed}");
    }
}
