//! The events that this service tells the world of, each in the batch of the change that it is about.

use crate::limits;
use orrery_core::Timestamp;
use orrery_kit::outbox::{self, Event};
use orrery_kit::ports::documents::Write;
use orrery_kit::time;
use serde_json::Value;
use std::time::Duration;

/// What happened, to what, and what there is to know of it.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub kind: &'static str,
    pub subject: String,
    pub at: Timestamp,
    pub data: Value,
}

/// One item with all of them; `of` and `epoch` name the change, so that the same change has the same item.
pub(crate) fn item(user: &str, of: &str, epoch: u64, told: &[Told]) -> Write {
    Write::Create(made(user, of, epoch, told))
}

/// As [`item`], for `device_tokens`, where every item has a device id of its own (its unique key) and none expires: by
/// `toldAt` the old ones are found.
pub(crate) fn device_item(user: &str, of: &str, epoch: u64, told: &[Told]) -> Write {
    let mut item = made(user, of, epoch, told);
    item["deviceId"] = item["id"].clone();
    item["revokedAt"] = Value::Bool(false);
    item["toldAt"] = told.first().map(|told| time::format(told.at)).into();
    Write::Create(item)
}

fn made(user: &str, of: &str, epoch: u64, told: &[Told]) -> Value {
    let source = format!("/notifications/{user}");
    let mut events = Vec::with_capacity(told.len());
    for Told { kind, subject, at, data } in told {
        events.push(Event { kind, source: &source, subject, time: *at, data });
    }
    outbox::item("userId", user, of, epoch, &events, Duration::from_secs(limits::NOTIFICATION_OUTBOX_SECONDS))
}
