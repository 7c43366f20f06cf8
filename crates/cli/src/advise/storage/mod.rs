//! Advice on tables and queues: what the server reports of them, what could be better, and how it is told.
//!
//! ```text
//! reports (services port) ─ rules ─> findings ─ print ─> text or JSON
//! ```

mod ask;
mod finding;
mod print;
mod rules;

pub use ask::{Wanted, reports};
pub use print::{json, text};

use finding::Finding;
use orrery_protocol::storage_report::{QueueReport, StorageReport, TableReport};

/// What the server told of one service, and what is found in it.
pub struct Advised {
    pub report: StorageReport,
    tables: Vec<Vec<Finding>>,
    queues: Vec<Vec<Finding>>,
}

impl Advised {
    pub fn of(report: StorageReport) -> Self {
        let tables = report.tables.iter().map(rules::of_table).collect();
        let queues = report.queues.iter().map(rules::of_queue).collect();
        Self { report, tables, queues }
    }

    fn tables(&self) -> impl Iterator<Item = (&TableReport, &Vec<Finding>)> {
        self.report.tables.iter().zip(&self.tables)
    }

    fn queues(&self) -> impl Iterator<Item = (&QueueReport, &Vec<Finding>)> {
        self.report.queues.iter().zip(&self.queues)
    }
}
