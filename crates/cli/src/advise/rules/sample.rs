//! A container for tests, built fact by fact.

use super::{Advice, advise};
use crate::advise::finding::Finding;
use orrery_core::limits;
use orrery_documents::definition::ContainerDefinition;
use orrery_protocol::report::{
    AskedPath, BusyPartition, CompositePart, IndexedPath, LargeItem, Partition, Report, Shape,
};
use serde_json::{Value, json};

pub struct Sample {
    definition: Value,
    report: Report,
}

impl Sample {
    /// By `/pk`, with nothing in it.
    pub fn new() -> Self {
        let mut report = Report::default();
        report.statistics.is_whole = true;
        report.statistics.partition_bytes_max = limits::PARTITION_BYTES_MAX;
        report.usage.paths = Some(Vec::new());
        Self { definition: json!({"id": "c", "partitionKey": {"paths": ["/pk"]}}), report }
    }

    /// With more in its definition.
    pub fn defined(mut self, name: &str, value: Value) -> Self {
        self.definition[name] = value;
        self
    }

    /// So many items of 100 bytes, evenly in so many partitions; none of these is among the largest.
    pub fn partitions(mut self, partitions: u64, items: u64) -> Self {
        let statistics = &mut self.report.statistics;
        statistics.partitions += partitions;
        statistics.items += items;
        statistics.bytes += items * 100;
        self
    }

    /// One more partition, among the largest.
    pub fn partition(mut self, key: &str, items: u64, bytes: u64) -> Self {
        let statistics = &mut self.report.statistics;
        statistics.partitions += 1;
        statistics.items += items;
        statistics.bytes += bytes;
        statistics.largest.push(Partition { key: vec![json!(key)], items, bytes });
        self
    }

    /// A path with so many entries, one an item.
    pub fn indexed(mut self, path: &str, entries: u64) -> Self {
        let statistics = &mut self.report.statistics;
        statistics.sampled = statistics.sampled.max(entries);
        statistics.entries += entries;
        statistics.paths.push(IndexedPath { path: path.to_owned(), items: entries, entries });
        self
    }

    pub fn asked(mut self, path: &str) -> Self {
        let asked = AskedPath { path: path.to_owned(), pages: 1 };
        self.report.usage.paths.get_or_insert_default().push(asked);
        self
    }

    /// So many paths were asked for that not all are known.
    pub fn asked_too_much(mut self) -> Self {
        self.report.usage.paths = None;
        self
    }

    pub fn queries(mut self, queries: u64) -> Self {
        self.report.usage.queries = queries;
        self
    }

    /// A shape that would have used an index like `/a ASC, /b DESC`.
    pub fn missing(self, index: &str, queries: u64, charge: f64) -> Self {
        let part = |part: &str| {
            let (path, order) = part.trim().split_once(' ').unwrap();
            CompositePart { path: path.to_owned(), descending: order == "DESC" }
        };
        let missing = vec![index.split(',').map(part).collect()];
        self.shape(Shape { text: format!("for {index}"), queries, charge, missing, ..Shape::default() })
    }

    /// A shape that was asked of all partitions, for two rows and 3 RU each.
    pub fn over_all(self, text: &str, queries_over_all: u64, queries: u64) -> Self {
        let (rows, charge) = (2 * queries, 3.0 * queries as f64);
        self.shape(Shape {
            text: text.to_owned(),
            queries,
            queries_over_all,
            rows,
            charge,
            missing: Vec::new(),
        })
    }

    fn shape(mut self, shape: Shape) -> Self {
        self.report.usage.shapes.push(shape);
        self
    }

    pub fn requests(mut self, requests: u64) -> Self {
        self.report.usage.requests += requests;
        self
    }

    pub fn busy(mut self, key: &str, requests: u64) -> Self {
        self.report.usage.busiest.push(BusyPartition { key: vec![json!(key)], requests });
        self.requests(requests)
    }

    pub fn large(mut self, id: &str, bytes: u64, member: &str, member_bytes: u64) -> Self {
        let (key, id, member) = (vec![json!("p")], id.to_owned(), Some(member.to_owned()));
        self.report.usage.large.push(LargeItem { key, id, bytes, member, member_bytes });
        self
    }

    pub fn advice(&self) -> Advice {
        let definition = ContainerDefinition::parse(self.definition.as_object().unwrap().clone()).unwrap();
        advise(&definition, &self.report.statistics, &self.report.usage)
    }

    /// What is found.
    pub fn findings(&self) -> Vec<Finding> {
        self.advice().findings
    }
}
