//! Reports on tables and queues: `/v1/advice?service=table`, of one with `&account=A&name=N`.

use super::named;
use crate::limits;
use crate::monitor::Watch;
use crate::monitor::storage::resource::{Contents, Resource, StorageStores, transactions, waiting_seconds};
use orrery_api_common::problem::{Kind, Problem};
use orrery_catalog::storage::ServiceKind;
use orrery_core::Timestamp;
use orrery_protocol::storage_report::{
    BusyTablePartition, QueueReport, RepeatedMessage, StorageReport, TableReport, TableScan,
};
use orrery_queue_store::{Counts as QueueCounts, QueueContents};
use orrery_table_store::TableHandle;
use orrery_table_store::limits::USAGE_PARTITIONS_MAX;
use orrery_table_store::model::TableSize;
use orrery_table_store::model::plan::Access;
use serde_json::Value;

pub async fn of(watch: &Watch, service: &str, query: &str) -> Result<Value, Problem> {
    let known = [ServiceKind::Table, ServiceKind::Queue].into_iter().find(|known| known.name() == service);
    let service = known.ok_or_else(|| {
        Problem::new(Kind::Invalid, format!("the service is table or queue, and not '{service}'"))
    })?;
    let (account, name) = (named(query, "account"), named(query, "name"));
    let watch = watch.clone();
    // It reads a few rows of every resource.
    let work = move || {
        let wanted = Wanted { service, account, name };
        let report = report(watch.storage(), &wanted, watch.started(), watch.now());
        report.map_err(|error| Problem::new(Kind::Unavailable, error.to_string()))
    };
    let broken = |why: String| Problem::new(Kind::Broken, why);
    let report = tokio::task::spawn_blocking(work).await.map_err(|error| broken(error.to_string()))??;
    serde_json::to_value(report).map_err(|error| broken(error.to_string()))
}

/// Which resources; all of a service unless it says more.
struct Wanted {
    service: ServiceKind,
    account: Option<String>,
    name: Option<String>,
}

impl Wanted {
    /// Names of tables are the same in either case.
    fn has(&self, resource: &Resource) -> bool {
        if resource.service() != self.service {
            return false;
        }
        let id = resource.id();
        self.account.as_ref().is_none_or(|account| *account == id.account)
            && self.name.as_ref().is_none_or(|name| name.eq_ignore_ascii_case(&id.name))
    }
}

fn report(
    stores: &StorageStores,
    wanted: &Wanted,
    since: Timestamp,
    now: Timestamp,
) -> Result<StorageReport, orrery_document_store::EngineError> {
    let contents = stores.contents()?;
    let mut resources = stores.resources();
    resources.retain(|resource| wanted.has(resource));
    resources.sort_by_key(|resource| std::cmp::Reverse(transactions(&resource.operations()).total()));
    let is_whole = resources.len() <= limits::ADVICE_RESOURCES_MAX;
    let mut report = StorageReport {
        since_ms: since.millis(),
        now_ms: now.millis(),
        is_whole,
        ..StorageReport::default()
    };
    for resource in resources.iter().take(limits::ADVICE_RESOURCES_MAX) {
        match (resource, contents.get(&resource.number())) {
            (Resource::Table(table, _), Some(Contents::Table(size))) => {
                report.tables.push(of_table(resource, table, *size));
            }
            (Resource::Queue(_, counts), Some(Contents::Queue(held))) => {
                report.queues.push(of_queue(resource, counts, held, now));
            }
            // It came or went meanwhile.
            _ => {}
        }
    }
    Ok(report)
}

fn of_table(resource: &Resource, table: &TableHandle, size: TableSize) -> TableReport {
    let (id, patterns) = (resource.id(), table.usage().patterns());
    let is_all_partitions = patterns.hot_partitions.len() < USAGE_PARTITIONS_MAX;
    let busiest = patterns.hot_partitions.into_iter();
    let scans = patterns.scans.into_iter().map(|scan| TableScan {
        filter: scan.filter,
        is_in_one_partition: scan.access < Access::PartitionRange,
        queries: scan.queries,
        entities_read: scan.rows_scanned,
        entities_returned: scan.rows_returned,
    });
    TableReport {
        account: id.account,
        table: id.name,
        entities: size.entities,
        bytes: size.bytes,
        requests: transactions(&resource.operations()).total(),
        partition_requests: patterns.partition_requests,
        busiest: busiest
            .map(|(partition_key, requests)| BusyTablePartition { partition_key, requests })
            .collect(),
        is_all_partitions,
        scans: scans.collect(),
    }
}

fn of_queue(resource: &Resource, counts: &QueueCounts, held: &QueueContents, now: Timestamp) -> QueueReport {
    let id = resource.id();
    let repeated = held.repeated.iter();
    QueueReport {
        account: id.account,
        queue: id.name,
        messages: held.size.messages,
        bytes: held.size.bytes,
        puts: counts.puts,
        gets: counts.gets,
        empty_gets: counts.empty_gets,
        deletes: counts.deletes,
        messages_got: counts.messages_got,
        messages_got_again: counts.messages_got_again,
        waiting_seconds: waiting_seconds(held, now),
        repeated: repeated
            .map(|message| RepeatedMessage { id: message.id.to_string(), gets: message.gets })
            .collect(),
    }
}
