//! Aggregates the events of one dedupe key into one notification while its window is open (C-41).
//!
//! ```text
//! event         1        2        3            4
//!               |--------|--------|---- window |
//! aggregate   opened   count 2  count 3      opened anew
//! ```
//!
//! The window begins with its first event and does not move. This file computes the aggregate's next value;
//! the dispatcher writes both it and the event in one batch, so that every event counts once.

use crate::limits;
use crate::records::{Aggregate, Event};
use orrery_core::Timestamp;
use orrery_kit::time;
use std::time::Duration;

/// The effect of an event on an aggregate.
#[derive(Clone, Debug, PartialEq)]
pub struct Joined {
    /// The aggregate to write.
    pub aggregate: Aggregate,
    /// Whether the event opened it, so that its notification is pushed; otherwise it joins an existing
    /// one.
    pub is_first: bool,
}

pub const KIND: &str = "aggregate";

/// How long an aggregate outlives its window.
const KEPT_AFTER: Duration = Duration::from_secs(60 * 60);

/// `None` if the event has no dedupe key. `id` is the aggregate's, from the key.
pub fn join(
    before: Option<&Aggregate>,
    event: &Event,
    id: &str,
    now: Timestamp,
    window: Duration,
) -> Option<Joined> {
    let key = event.dedupe_key.as_deref()?;
    let open = before.filter(|aggregate| is_open(aggregate, now, window));
    let aggregate = match open {
        Some(open) => Aggregate {
            count: open.count.saturating_add(1),
            actors: with_actor(&open.actors, event),
            version: open.version.saturating_add(1),
            ttl: kept(open, now, window),
            ..open.clone()
        },
        None => Aggregate {
            id: id.to_owned(),
            user_id: event.user_id.clone(),
            kind: KIND.to_owned(),
            dedupe_key: key.to_owned(),
            notification_id: event.id.clone(),
            opened_at: time::format(now),
            count: 1,
            actors: with_actor(&[], event),
            // Never the version of an earlier window's notification.
            version: before.map_or(1, |closed| closed.version.saturating_add(1)),
            ttl: (window + KEPT_AFTER).as_secs(),
        },
    };
    Some(Joined { aggregate, is_first: open.is_none() })
}

fn is_open(aggregate: &Aggregate, now: Timestamp, window: Duration) -> bool {
    let Some(opened) = time::parse(&aggregate.opened_at) else { return false };
    // A clock that is set back does not close it.
    now < opened.plus(window)
}

fn kept(aggregate: &Aggregate, now: Timestamp, window: Duration) -> u64 {
    let end = time::parse(&aggregate.opened_at).unwrap_or(now).plus(window + KEPT_AFTER);
    end.seconds().saturating_sub(now.seconds()).max(1)
}

/// The first few distinct names.
fn with_actor(actors: &[String], event: &Event) -> Vec<String> {
    let mut actors = actors.to_vec();
    if let Some(name) = event.payload.actor_name.as_ref().filter(|name| !name.trim().is_empty())
        && actors.len() < limits::NOTIFICATION_ACTORS_MAX
        && !actors.contains(name)
    {
        actors.push(name.clone());
    }
    actors
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const WINDOW: Duration = Duration::from_secs(3600);

    fn event(id: &str, actor: Option<&str>, key: Option<&str>) -> Event {
        serde_json::from_value(json!({
            "id": id, "userId": "u", "eventType": "POST_LIKE", "category": "SOCIAL",
            "payload": { "actorName": actor, "targetId": "p", "targetType": "post" },
            "status": "PENDING", "retryCount": 0, "dedupeKey": key, "createdAt": "2026-11-15T10:00:00.000Z", "ttl": 1,
        }))
        .expect("an event")
    }

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_seconds(1_800_000_000 + seconds)
    }

    fn joined(before: Option<&Aggregate>, id: &str, actor: &str, seconds: u64) -> Joined {
        join(before, &event(id, Some(actor), Some("k")), "aggregate:k", at(seconds), WINDOW).expect("a key")
    }

    #[test]
    fn events_of_a_window_become_one_notification() {
        // K2, B-2.
        let mut last = joined(None, "e1", "A", 0);
        assert!(last.is_first);
        for n in 2..=50 {
            last = joined(Some(&last.aggregate), &format!("e{n}"), &format!("B{n}"), n);
            assert!(!last.is_first);
        }
        let aggregate = last.aggregate;
        assert_eq!((aggregate.count, aggregate.version, &*aggregate.notification_id), (50, 50, "e1"));
        assert_eq!(aggregate.actors, ["A", "B2", "B3", "B4", "B5"]);
        assert_eq!(aggregate.ttl, 3600 + 3600 - 50);
        assert_eq!(aggregate.kind, KIND);
    }

    #[test]
    fn the_window_is_fixed_to_the_millisecond() {
        let first = joined(None, "e1", "A", 0).aggregate;
        let second = joined(Some(&first), "e2", "A", 3_599).aggregate;
        assert_eq!((second.count, &second.opened_at), (2, &first.opened_at));
        assert_eq!(second.actors, ["A"], "each name once");
        let anew = joined(Some(&second), "e3", "C", 3_600);
        assert!(anew.is_first);
        assert_eq!((anew.aggregate.count, &*anew.aggregate.notification_id), (1, "e3"));
        assert_eq!(anew.aggregate.actors, ["C"]);
        assert!(anew.aggregate.version > second.version);
    }

    #[test]
    fn without_a_key_there_is_nothing_to_join() {
        assert_eq!(join(None, &event("e", None, None), "", at(0), WINDOW), None);
        let nameless = join(None, &event("e", None, Some("k")), "a", at(0), WINDOW).expect("a key");
        assert_eq!(nameless.aggregate.actors, [""; 0]);
    }

    #[test]
    fn a_malformed_opening_time_opens_a_new_window() {
        let mut damaged = joined(None, "e1", "A", 0).aggregate;
        damaged.opened_at = "soon".to_owned();
        assert!(joined(Some(&damaged), "e2", "B", 1).is_first);
    }
}
