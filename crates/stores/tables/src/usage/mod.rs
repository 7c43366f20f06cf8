//! What is asked of each table, since the process began: for measurements, costs and advice.

mod hot_partitions;
mod scans;

use crate::error::Error;
use crate::store::TableStore;
use hot_partitions::HotPartitions;
use orrery_kv::Error as EngineError;
use orrery_tables::plan::{Access, QueryPlan};
use orrery_tables::{EntityOperation, Query, QueryPage, TableSize};
pub use scans::ScanTotals;
use scans::{Scan, Scans};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// A transaction, as the service counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OperationKind {
    Get,
    Query,
    Insert,
    InsertOrMerge,
    InsertOrReplace,
    Merge,
    Replace,
    Delete,
    GroupTransaction,
}

/// The counters of one table.
#[derive(Debug, Default)]
pub struct TableUsage {
    operations: [AtomicU64; OperationKind::ALL.len()],
    rows_scanned: AtomicU64,
    rows_returned: AtomicU64,
    scans_without_partition_key: AtomicU64,
    refused: AtomicU64,
    hot_partitions: Mutex<HotPartitions>,
    scans: Mutex<Scans>,
}

/// What was counted of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableCounts {
    /// By the place of each kind in [`OperationKind::ALL`].
    pub operations: [u64; OperationKind::ALL.len()],
    pub rows_scanned: u64,
    pub rows_returned: u64,
    /// Queries over partitions that their filters do not name.
    pub scans_without_partition_key: u64,
    /// Writes that were turned away because too many waited.
    pub refused: u64,
}

/// Which parts of a table are asked for, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TablePatterns {
    /// Requests for one partition.
    pub partition_requests: u64,
    /// The busiest partitions with what each got at least, the most first.
    pub hot_partitions: Vec<(String, u64)>,
    /// Queries that read whole partitions, by their filters without constants; those that read the most first.
    pub scans: Vec<ScanTotals>,
}

impl OperationKind {
    pub const ALL: [Self; 9] = [
        Self::Get,
        Self::Query,
        Self::Insert,
        Self::InsertOrMerge,
        Self::InsertOrReplace,
        Self::Merge,
        Self::Replace,
        Self::Delete,
        Self::GroupTransaction,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Query => "query",
            Self::Insert => "insert",
            Self::InsertOrMerge => "insert_or_merge",
            Self::InsertOrReplace => "insert_or_replace",
            Self::Merge => "merge",
            Self::Replace => "replace",
            Self::Delete => "delete",
            Self::GroupTransaction => "group_transaction",
        }
    }

    pub(crate) fn of(operation: &EntityOperation) -> Self {
        match operation {
            EntityOperation::Insert(_) => Self::Insert,
            EntityOperation::InsertOrMerge(_) => Self::InsertOrMerge,
            EntityOperation::InsertOrReplace(_) => Self::InsertOrReplace,
            EntityOperation::Merge(..) => Self::Merge,
            EntityOperation::Replace(..) => Self::Replace,
            EntityOperation::Delete(..) => Self::Delete,
        }
    }
}

impl TableUsage {
    /// An operation in one partition.
    pub(crate) fn count(&self, kind: OperationKind, partition_key: &str) {
        self.add(kind);
        self.hot_partitions.lock().unwrap_or_else(PoisonError::into_inner).add(partition_key, 1);
    }

    pub(crate) fn count_query(&self, query: &Query, plan: &QueryPlan, page: &QueryPage) {
        match plan.partition_key() {
            Some(partition_key) => self.count(OperationKind::Query, &partition_key),
            None => self.add(OperationKind::Query),
        }
        if plan.access() >= Access::PartitionRange {
            self.scans_without_partition_key.fetch_add(1, Ordering::Relaxed);
        }
        if plan.access() >= Access::Partition {
            let scan = Scan::of(query, plan.access(), page);
            self.scans.lock().unwrap_or_else(PoisonError::into_inner).add(scan);
        }
        self.rows_scanned.fetch_add(page.scanned.rows as u64, Ordering::Relaxed);
        self.rows_returned.fetch_add(page.entities.len() as u64, Ordering::Relaxed);
    }

    /// A write that failed is counted once more if it was turned away.
    pub(crate) fn count_failure(&self, error: &Error) {
        if matches!(error, Error::Busy) {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn add(&self, kind: OperationKind) {
        self.operations[kind as usize].fetch_add(1, Ordering::Relaxed);
    }
}

impl TableUsage {
    pub fn counts(&self) -> TableCounts {
        let number = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        TableCounts {
            operations: self.operations.each_ref().map(number),
            rows_scanned: number(&self.rows_scanned),
            rows_returned: number(&self.rows_returned),
            scans_without_partition_key: number(&self.scans_without_partition_key),
            refused: number(&self.refused),
        }
    }

    pub fn patterns(&self) -> TablePatterns {
        let hot = self.hot_partitions.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let scans = self.scans.lock().unwrap_or_else(PoisonError::into_inner).all();
        TablePatterns { partition_requests: hot.total(), hot_partitions: hot.counts(), scans }
    }
}

impl TableStore {
    /// What each table holds, by its number; a lookup for each.
    pub fn sizes(&self) -> Result<Vec<(u32, TableSize)>, EngineError> {
        let snapshot = self.snapshot();
        let numbers = self.all_tables().into_iter().map(|table| table.number());
        numbers.map(|number| Ok((number, orrery_tables::size(&*snapshot, number)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_stands_at_its_own_place() {
        for (at, kind) in OperationKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, at);
        }
    }
}
