//! What the alerts on queues look at.

use super::resource::{AllContents, Contents, Resource, waiting_seconds};
use crate::monitor::alerts::reading::{Reading, Subject};
use crate::monitor::alerts::rule::Kind;
use orrery_core::Timestamp;
use orrery_queue_store::QueueContents;

/// For how long the first visible message of each queue has waited, and how often its most repeated message was got.
pub fn readings(
    kind: Kind,
    resources: &[Resource],
    contents: &AllContents,
    as_of: Timestamp,
) -> Vec<Reading> {
    let value = |held: &QueueContents| match kind {
        Kind::MessageWait => waiting_seconds(held, as_of).map(|seconds| seconds as f64),
        Kind::MessageGets => held.repeated.iter().map(|message| f64::from(message.gets)).reduce(f64::max),
        Kind::RequestUnits | Kind::Throttled | Kind::Latency | Kind::PartitionStorage => None,
    };
    let reading = |resource: &Resource| match contents.get(&resource.number())? {
        Contents::Queue(held) => {
            Some(Reading { kind, subject: Subject::Storage(resource.id()), value: value(held)? })
        }
        Contents::Table(_) => None,
    };
    resources.iter().filter_map(reading).collect()
}
