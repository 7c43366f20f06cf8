//! The busiest tables and queues, for `/v1/top`.

use super::resource::{AllContents, Contents, Resource, transactions, waiting_seconds};
use crate::limits;
use orrery_catalog::storage::metering::OperationClass;
use orrery_core::Timestamp;
use orrery_protocol::top::{BusyQueue, BusyTable};
use std::cmp::Reverse;

/// Those with the most requests first; what they hold was looked up at that time.
pub fn busiest(
    resources: &[Resource],
    contents: &AllContents,
    as_of: Timestamp,
) -> (Vec<BusyTable>, Vec<BusyQueue>) {
    let (mut tables, mut queues) = (Vec::new(), Vec::new());
    for resource in resources {
        let (id, contents) = (resource.id(), contents.get(&resource.number()));
        let asked = transactions(&resource.operations());
        let of = |class| asked.get(class);
        match resource {
            Resource::Table(_, counts) => {
                let size = contents.and_then(|contents| match contents {
                    Contents::Table(size) => Some(size),
                    Contents::Queue(_) => None,
                });
                tables.push(BusyTable {
                    account: id.account,
                    table: id.name,
                    requests: asked.total(),
                    reads: of(OperationClass::Read),
                    writes: of(OperationClass::Write) + of(OperationClass::Delete),
                    queries: of(OperationClass::Query),
                    scans: counts.scans_without_partition_key,
                    entities_read: counts.rows_scanned,
                    entities_returned: counts.rows_returned,
                    refused: counts.refused,
                    entities: size.map(|size| size.entities),
                    bytes: size.map(|size| size.bytes),
                });
            }
            Resource::Queue(_, counts) => {
                let held = contents.and_then(|contents| match contents {
                    Contents::Queue(held) => Some(held),
                    Contents::Table(_) => None,
                });
                queues.push(BusyQueue {
                    account: id.account,
                    queue: id.name,
                    requests: asked.total(),
                    puts: counts.puts,
                    messages_got: counts.messages_got,
                    messages_got_again: counts.messages_got_again,
                    deletes: counts.deletes,
                    empty_gets: counts.empty_gets,
                    refused: counts.refused,
                    messages: held.map(|held| held.size.messages),
                    bytes: held.map(|held| held.size.bytes),
                    waiting_seconds: held.and_then(|held| waiting_seconds(held, as_of)),
                });
            }
        }
    }
    tables.sort_by_key(|table| Reverse(table.requests));
    queues.sort_by_key(|queue| Reverse(queue.requests));
    tables.truncate(limits::MONITOR_RESOURCES_MAX);
    queues.truncate(limits::MONITOR_RESOURCES_MAX);
    (tables, queues)
}
