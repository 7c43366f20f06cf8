//! A table or a queue: what was asked of it since the process began, and what it holds.

use orrery_catalog::storage::ServiceKind;
use orrery_catalog::storage::metering::{OperationClass, Transactions};
use orrery_core::Timestamp;
use orrery_document_store::EngineError;
use orrery_queue_store::{Counts as QueueCounts, Queue, QueueContents, QueueStore};
use orrery_table_store::model::TableSize;
use orrery_table_store::usage::{OperationKind, TableCounts};
use orrery_table_store::{TableHandle, TableStore};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The stores of the process that resources are in.
#[derive(Clone)]
pub struct StorageStores {
    pub tables: TableStore,
    pub queues: QueueStore,
}

/// The name of a resource, for people.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceId {
    pub service: ServiceKind,
    pub account: String,
    pub name: String,
}

#[derive(Clone, Debug)]
pub enum Resource {
    Table(TableHandle, TableCounts),
    Queue(Arc<Queue>, QueueCounts),
}

/// An operation of a resource, and how often it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    pub name: &'static str,
    pub class: OperationClass,
    pub count: u64,
}

/// What a resource holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    Table(TableSize),
    Queue(QueueContents),
}

/// By the number of the resource, which no two of any services share.
pub type AllContents = BTreeMap<u32, Contents>;

impl StorageStores {
    /// Every resource, in the order of their numbers.
    pub fn resources(&self) -> Vec<Resource> {
        let tables = self.tables.all_tables().into_iter().map(|table| {
            let counts = table.usage().counts();
            Resource::Table(table, counts)
        });
        let queues = self.queues.counts().into_iter().map(|(queue, counts)| Resource::Queue(queue, counts));
        let mut all: Vec<Resource> = tables.chain(queues).collect();
        all.sort_by_key(Resource::number);
        all
    }

    /// What each of them holds: a few lookups each.
    pub fn contents(&self) -> Result<AllContents, EngineError> {
        let tables = self.tables.sizes()?.into_iter().map(|(number, size)| (number, Contents::Table(size)));
        let queues = self.queues.contents()?.into_iter();
        let queues = queues.map(|(queue, contents)| (queue.number, Contents::Queue(contents)));
        Ok(tables.chain(queues).collect())
    }
}

impl Resource {
    pub fn service(&self) -> ServiceKind {
        match self {
            Self::Table(..) => ServiceKind::Table,
            Self::Queue(..) => ServiceKind::Queue,
        }
    }

    pub fn number(&self) -> u32 {
        match self {
            Self::Table(table, _) => table.number(),
            Self::Queue(queue, _) => queue.number,
        }
    }

    pub fn id(&self) -> ResourceId {
        let (account, name) = match self {
            Self::Table(table, _) => (&table.account, table.name.as_str()),
            Self::Queue(queue, _) => (&queue.id.account, queue.id.name.as_str()),
        };
        ResourceId { service: self.service(), account: account.as_str().to_owned(), name: name.to_owned() }
    }

    /// Every operation of its service, always in the same order.
    pub fn operations(&self) -> Vec<Operation> {
        let of = |(name, class, count)| Operation { name, class, count };
        match self {
            Self::Table(_, counts) => {
                let kinds = OperationKind::ALL.into_iter().zip(counts.operations);
                kinds.map(|(kind, count)| of((kind.name(), class_of(kind), count))).collect()
            }
            Self::Queue(_, counts) => [
                ("put", OperationClass::Write, counts.puts),
                ("get", OperationClass::Read, counts.gets),
                ("peek", OperationClass::Read, counts.peeks),
                ("update", OperationClass::Write, counts.updates),
                ("delete", OperationClass::Delete, counts.deletes),
                ("clear", OperationClass::Delete, counts.clears),
            ]
            .map(of)
            .to_vec(),
        }
    }

    pub fn refused(&self) -> u64 {
        match self {
            Self::Table(_, counts) => counts.refused,
            Self::Queue(_, counts) => counts.refused,
        }
    }
}

fn class_of(kind: OperationKind) -> OperationClass {
    match kind {
        OperationKind::Get => OperationClass::Read,
        OperationKind::Query => OperationClass::Query,
        OperationKind::Delete => OperationClass::Delete,
        OperationKind::Insert
        | OperationKind::InsertOrMerge
        | OperationKind::InsertOrReplace
        | OperationKind::Merge
        | OperationKind::Replace
        | OperationKind::GroupTransaction => OperationClass::Write,
    }
}

/// Operations by what they do.
pub fn transactions(operations: &[Operation]) -> Transactions {
    let mut sum = Transactions::default();
    operations.iter().for_each(|operation| sum.add(operation.class, operation.count));
    sum
}

impl Contents {
    /// As the service counts them for its price.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Table(size) => size.bytes,
            Self::Queue(contents) => contents.size.bytes,
        }
    }
}

/// For how long the first visible message of a queue had waited when that was looked up.
pub fn waiting_seconds(contents: &QueueContents, as_of: Timestamp) -> Option<u64> {
    contents.waiting_since.map(|since| as_of.millis().saturating_sub(since.millis()) / 1000)
}
