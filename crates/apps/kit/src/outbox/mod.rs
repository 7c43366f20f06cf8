//! The transactional outbox: events in the same batch as the change they report, and their relay.
//!
//! ```text
//! a batch of one partition:   the change   +   the outbox item {id: "outbox:<of>:<epoch>", kind: "outbox",
//! events, ttl}
//! the relay, elsewhere:       change feed ─▶ outbox items ─▶ each event to a sink, at least once ─▶ cursor
//! ```
//!
//! The events are one string containing a JSON array: a container that indexes every path then has one index
//! entry for them instead of dozens. The relay belongs to the event service, which does not exist yet; until
//! then only tests run one. The items are written all the same and expire after their TTL.
//!
//! So an event is published if and only if its change was committed. Ids derive from the change, so that a
//! consumer can recognize duplicates. Order holds within a partition.

mod relay;

pub use relay::{Relay, Relayed};

use crate::time;
use orrery_core::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use std::time::Duration;

/// The member that identifies an outbox item, and its value.
pub const KIND: &str = "kind";
pub const OUTBOX: &str = "outbox";

/// An event to publish; in an item it has the form of CloudEvents 1.0.
#[derive(Clone, Debug)]
pub struct Event<'a> {
    /// `type` in CloudEvents: the kind of event.
    pub kind: &'a str,
    pub source: &'a str,
    pub subject: &'a str,
    pub time: Timestamp,
    pub data: &'a Value,
}

#[derive(Serialize)]
struct CloudEvent<'a> {
    specversion: &'static str,
    id: String,
    #[serde(rename = "type")]
    kind: &'a str,
    source: &'a str,
    subject: &'a str,
    time: String,
    datacontenttype: &'static str,
    data: &'a Value,
}

/// The outbox item for the batch. `of` and `epoch` identify the step that produced the events; repeating it
/// gives the same item.
pub fn item(
    partition_member: &str,
    partition: &str,
    of: &str,
    epoch: u64,
    events: &[Event<'_>],
    ttl: Duration,
) -> Value {
    let events = events.iter().enumerate().map(|(index, event)| event.to_cloud_event(of, epoch, index));
    let events: Vec<CloudEvent<'_>> = events.collect();
    let mut item = json!({
        "id": format!("{OUTBOX}:{of}:{epoch}"),
        KIND: OUTBOX,
        "events": serde_json::to_string(&events).expect("texts and JSON are JSON"),
        "ttl": ttl.as_secs().max(1),
    });
    item[partition_member] = partition.into();
    item
}

impl<'a> Event<'a> {
    fn to_cloud_event(&self, of: &str, epoch: u64, index: usize) -> CloudEvent<'a> {
        CloudEvent {
            specversion: "1.0",
            id: format!("{of}:{epoch}:{index}"),
            kind: self.kind,
            source: self.source,
            subject: self.subject,
            time: time::format(self.time),
            datacontenttype: "application/json",
            data: self.data,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_step_makes_the_same_item() {
        let data = json!({"outcome": "pushed"});
        let event = Event {
            kind: "orrery.notification.completed",
            source: "/notifications",
            subject: "users/u",
            time: Timestamp::from_seconds(1_794_704_563),
            data: &data,
        };
        let make =
            |epoch| item("userId", "u", "e1", epoch, &[event.clone(), event.clone()], Duration::from_secs(7));
        assert_eq!(make(3), make(3));
        assert_ne!(make(3)["id"], make(4)["id"]);
        let made = make(3);
        assert_eq!(
            (&made["id"], &made["userId"], &made["ttl"]),
            (&json!("outbox:e1:3"), &json!("u"), &json!(7))
        );
        let events: Value = serde_json::from_str(made["events"].as_str().expect("text")).expect("JSON");
        assert_eq!(events[1]["id"], "e1:3:1");
        assert_eq!(events[0]["specversion"], "1.0");
        assert_eq!(events[0]["time"], "2026-11-15T01:02:43.000Z");
    }
}
