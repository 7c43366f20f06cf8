//! `/v1/top`: the busiest containers, logical partitions, queries, tables and queues, each with what it came to since the start.

use super::Watch;
use super::storage::busiest::busiest;
use crate::limits;
use orrery_document_store::monitor::{Class, Histogram, Subject};
use orrery_protocol::top::{Asked, Busy, Top};

impl Watch {
    pub fn top(&self) -> Top {
        self.look();
        let counted = self.0.cosmos.store().monitor().counted();
        let state = self.state();
        let name = |number: &u32| state.provisioned.names.get(number).cloned();
        let containers = counted.meters.iter().filter_map(|(subject, totals)| {
            let Subject::Container(number) = subject else { return None };
            let ((database, container), all) = (name(number)?, totals.data());
            let held = state.sizes.get(number);
            let of = |class| totals.class(class).requests();
            Some(Busy {
                requests: all.requests(),
                reads: of(Class::Read),
                writes: of(Class::Write),
                queries: of(Class::Query),
                throttled: all.throttled(),
                request_units: all.request_units(),
                bytes: held.map(|held| held.bytes),
                items: held.map(|held| held.items),
                ..timed(&all.latency, database, container)
            })
        });
        let partitions = counted.partitions.iter().filter_map(|it| {
            let (database, container) = name(&it.container)?;
            let held = state.sizes.get(&it.container);
            let size = held.and_then(|held| held.largest.iter().find(|(key, ..)| *key == it.key));
            Some(Busy {
                partition: Some(it.key.clone()),
                requests: it.requests,
                throttled: it.throttled,
                request_units: it.hundredths as f64 / 100.0,
                items: size.map(|(_, items, _)| *items),
                bytes: size.map(|(.., bytes)| *bytes),
                ..timed(&it.latency, database, container)
            })
        });
        let mut containers: Vec<Busy> = containers.collect();
        containers.sort_by(|a, b| b.request_units.total_cmp(&a.request_units));
        let partitions = partitions.take(limits::MONITOR_QUERIES_TOLD_MAX).collect();
        let asked = self.0.cosmos.store().top_queries(limits::MONITOR_QUERIES_TOLD_MAX);
        let queries = asked.into_iter().filter_map(|(number, shape)| {
            let (database, container) = name(&number)?;
            let (queries, rows, request_units) = (shape.queries, shape.rows, shape.charge);
            Some(Asked { database, container, text: shape.text, queries, rows, request_units })
        });
        let now = self.now();
        let as_of = state.storage_looked_at.unwrap_or(now);
        let (tables, queues) = busiest(&self.0.storage.resources(), &state.storage_contents, as_of);
        Top {
            since_ms: counted.started.millis(),
            now_ms: now.millis(),
            containers,
            partitions,
            queries: queries.collect(),
            tables,
            queues,
        }
    }
}

fn timed(latency: &Histogram, database: String, container: String) -> Busy {
    let quantile = |share| latency.quantile_millis(share).unwrap_or(0.0);
    Busy {
        database,
        container,
        p50_ms: quantile(0.5),
        p95_ms: quantile(0.95),
        p99_ms: quantile(0.99),
        ..Busy::default()
    }
}
