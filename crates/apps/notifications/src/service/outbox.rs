//! The events that this service publishes, each in the batch of the change that it reports.

use crate::limits;
use orrery_core::Timestamp;
use orrery_kit::outbox::{self, Event};
use orrery_kit::ports::documents::Write;
use orrery_kit::time;
use serde_json::Value;
use std::time::Duration;

/// An event: its kind, subject and data.
#[derive(Clone, Debug)]
pub(crate) struct OutboxEvent {
    pub kind: &'static str,
    pub subject: String,
    pub at: Timestamp,
    pub data: Value,
}

/// One item with all events; `of` and `epoch` identify the change, so that the same change has the same item.
pub(crate) fn item(user: &str, of: &str, epoch: u64, published: &[OutboxEvent]) -> Write {
    Write::Create(made(user, of, epoch, published))
}

/// Variant of [`item`] for `device_tokens`, where every item needs its own device id (its unique key) and
/// none expires: `toldAt` identifies old ones.
pub(crate) fn device_item(user: &str, of: &str, epoch: u64, published: &[OutboxEvent]) -> Write {
    let mut item = made(user, of, epoch, published);
    item["deviceId"] = item["id"].clone();
    item["revokedAt"] = Value::Bool(false);
    item["toldAt"] = published.first().map(|published| time::format(published.at)).into();
    Write::Create(item)
}

fn made(user: &str, of: &str, epoch: u64, published: &[OutboxEvent]) -> Value {
    let source = format!("/notifications/{user}");
    let mut events = Vec::with_capacity(published.len());
    for OutboxEvent { kind, subject, at, data } in published {
        events.push(Event { kind, source: &source, subject, time: *at, data });
    }
    outbox::item("userId", user, of, epoch, &events, Duration::from_secs(limits::NOTIFICATION_OUTBOX_SECONDS))
}
