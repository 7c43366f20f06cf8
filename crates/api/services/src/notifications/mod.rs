//! The notification service over HTTP: its rows of the table, and what each does.
//!
//! ```text
//! routes           the rows
//! schemas          what bodies look like
//! events           in, looked at, cancelled, queued again
//! centre           a user's notifications: listed, counted, marked, watched
//! preferences      zone, quiet hours, categories
//! devices          where pushes go
//! administration   erasure, statistics, jobs
//! ```

mod administration;
mod centre;
mod devices;
mod events;
mod preferences;
mod routes;
pub mod schemas;

pub use routes::routes;

use crate::asked::Asked;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::stream::Streams;
use orrery_core::SYSTEM_MEMBERS;
use orrery_notifications::service::{Notifications, Tagged};
use serde::Serialize;
use serde_json::Value;
use std::pin::Pin;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Enqueue,
    Events,
    Event,
    Cancel,
    Requeue,
    List,
    UnreadCount,
    Read,
    Dismiss,
    ReadAll,
    Stream,
    Preferences,
    PutPreferences,
    PatchPreferences,
    Devices,
    RegisterDevice,
    PatchDevice,
    RevokeDevice,
    Erase,
    Stats,
    Jobs,
    PurgeDevices,
}

/// What operations work with.
pub struct Within<'a> {
    pub notifications: &'a Notifications,
    pub streams: &'a Streams,
    /// The idempotency key, told apart by caller.
    pub key: Option<String>,
}

/// What an operation is doing, on the heap: all of them together would be a large part of a thread's stack.
type Doing<'a> = Pin<Box<dyn Future<Output = Result<Reply, Problem>> + Send + 'a>>;

pub fn run<'a>(within: &'a Within<'a>, operation: Operation, asked: &'a Asked) -> Doing<'a> {
    match operation {
        Operation::Enqueue => boxed(events::enqueue, within, asked),
        Operation::Events => boxed(events::list, within, asked),
        Operation::Event => boxed(events::show, within, asked),
        Operation::Cancel => boxed(events::cancel, within, asked),
        Operation::Requeue => boxed(events::requeue, within, asked),
        Operation::List => boxed(centre::list, within, asked),
        Operation::UnreadCount => boxed(centre::unread_count, within, asked),
        Operation::Read => boxed(centre::read, within, asked),
        Operation::Dismiss => boxed(centre::dismiss, within, asked),
        Operation::ReadAll => boxed(centre::read_all, within, asked),
        Operation::Stream => boxed(centre::stream, within, asked),
        Operation::Preferences => boxed(preferences::show, within, asked),
        Operation::PutPreferences => boxed(preferences::put, within, asked),
        Operation::PatchPreferences => boxed(preferences::patch, within, asked),
        Operation::Devices => boxed(devices::list, within, asked),
        Operation::RegisterDevice => boxed(devices::register, within, asked),
        Operation::PatchDevice => boxed(devices::patch, within, asked),
        Operation::RevokeDevice => boxed(devices::revoke, within, asked),
        Operation::Erase => boxed(administration::erase, within, asked),
        Operation::Stats => boxed(administration::stats, within, asked),
        Operation::Jobs => boxed(administration::jobs, within, asked),
        Operation::PurgeDevices => boxed(administration::purge_devices, within, asked),
    }
}

/// Each in a frame of its own, which is gone before the next begins.
#[inline(never)]
fn boxed<'a, F>(
    begin: impl FnOnce(&'a Within<'a>, &'a Asked) -> F,
    within: &'a Within<'a>,
    asked: &'a Asked,
) -> Doing<'a>
where
    F: Future<Output = Result<Reply, Problem>> + Send + 'a,
{
    Box::pin(begin(within, asked))
}

/// A record with its tag, without what is between the service and its store.
fn tagged(record: Tagged<impl Serialize>) -> Reply {
    Reply::tagged(shown(&record.value), record.etag)
}

fn shown(record: &impl Serialize) -> Value {
    visible(serde_json::to_value(record).unwrap_or_default())
}

/// Leaves out what is the service's own business, and push tokens, which open a way to somebody's screen.
pub fn visible(mut record: Value) -> Value {
    const OWN: [&str; 6] = ["ttl", "decision", "leaseOwner", "unprojected", "pushToken", "version"];
    if let Some(members) = record.as_object_mut() {
        members.retain(|name, _| !OWN.contains(&name.as_str()) && !SYSTEM_MEMBERS.contains(&name.as_str()));
    }
    record
}
