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
use orrery_notifications::service::{Notifications, Tagged};
use serde::Serialize;
use serde_json::Value;

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

pub async fn run(within: &Within<'_>, operation: Operation, asked: &Asked) -> Result<Reply, Problem> {
    match operation {
        Operation::Enqueue => events::enqueue(within, asked).await,
        Operation::Events => events::list(within, asked).await,
        Operation::Event => events::show(within, asked).await,
        Operation::Cancel => events::cancel(within, asked).await,
        Operation::Requeue => events::requeue(within, asked).await,
        Operation::List => centre::list(within, asked).await,
        Operation::UnreadCount => centre::unread_count(within, asked).await,
        Operation::Read => centre::read(within, asked).await,
        Operation::Dismiss => centre::dismiss(within, asked).await,
        Operation::ReadAll => centre::read_all(within, asked).await,
        Operation::Stream => centre::stream(within, asked).await,
        Operation::Preferences => preferences::show(within, asked).await,
        Operation::PutPreferences => preferences::put(within, asked).await,
        Operation::PatchPreferences => preferences::patch(within, asked).await,
        Operation::Devices => devices::list(within, asked).await,
        Operation::RegisterDevice => devices::register(within, asked).await,
        Operation::PatchDevice => devices::patch(within, asked).await,
        Operation::RevokeDevice => devices::revoke(within, asked).await,
        Operation::Erase => administration::erase(within, asked).await,
        Operation::Stats => administration::stats(within).await,
        Operation::Jobs => administration::jobs(within).await,
        Operation::PurgeDevices => administration::purge_devices(within, asked).await,
    }
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
    const HIDDEN: [&str; 11] = [
        "_rid", "_self", "_etag", "_attachments", "_ts", "_lsn", "ttl", "decision", "leaseOwner", "pushToken", "version",
    ];
    if let Some(members) = record.as_object_mut() {
        members.retain(|name, _| !HIDDEN.contains(&name.as_str()));
    }
    record
}
