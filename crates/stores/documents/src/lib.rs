//! The documents of a process: typed asynchronous operations, the one boundary that `api` and `apps` call (D12).
//!
//! ```text
//! items       read_item, write_item            batch       batch, bulk         delete_partition
//! query       query, explain, client_plan      read_feed   changes             scripts/procedure
//! read_many   several items by id
//! catalog     databases, containers, offers, what they own, roles, schemas     query_resources
//! metering    around each of them: throttling, the charge, the retry when the container changed underneath
//! ```
//!
//! What must happen for every caller is here once: finding the container, pruning partitions, the plan cache, scripts
//! and user-defined functions, statistics, throttling, usage, charges, continuation tokens.
//!
//! Absent: how commits are grouped and synced (`engine/txn`), what a document is (`models/documents`), and every wire
//! format (`api`).

mod background;
mod batch;
mod catalog;
mod changes;
mod condition;
mod continuation;
mod cross_partition;
mod delete_partition;
mod error;
mod item_query;
mod items;
mod join;
pub mod limits;
mod metering;
pub mod monitor;
pub mod partition_key;
mod plan_cache;
mod query;
mod query_pages;
mod query_spec;
mod range_lsns;
mod read_feed;
mod read_many;
mod resource_query;
mod scheduler;
mod scope;
mod scripts;
mod store;
mod throttle;
mod trimming;
pub mod usage;

pub use batch::{BatchOperation, BatchOutcome, BatchRequest, OperationKind, OperationOutcome};
pub use changes::{ChangesPage, ChangesRequest, ChangesStart};
pub use continuation::{ContinuationError, Tokens};
pub use cross_partition::{CrossPartition, QueryTarget};
pub use delete_partition::PartitionDeleted;
pub use error::Error;
pub use items::{Found, ItemAction, ItemWrite, Refused, Written};
pub use metering::{Charged, OperationError};
pub use orrery_txn::{
    Committed, Engine, EngineError, JobError, Jobs, Measure, OpenError, Options as TxnOptions, Progress,
    Read, Snapshot, Sync, Txn, TxnManager, WriteError, log_failure,
};
pub use partition_key::PartitionKeyError;
pub use plan_cache::{PlanCache, PreparedQuery, QueryRequest};
pub use query::{ClientPlan, Explained, PageRequest, QueryPage};
pub use query_pages::Received;
pub use query_spec::QuerySpec;
pub use read_feed::{Encoded, FeedPage, FeedRequest};
pub use read_many::FoundMany;
pub use resource_query::{ResourceList, ResourcePage, ResourceRequest};
pub use scheduler::{BrokeOff, MemoryUse, NotRun, QueryHost, QueryKey, Waiting, on_a_thread};
pub use scope::{Scope, covered};
pub use scripts::procedure::{ProcedureCall, ProcedureOutcome};
pub use scripts::triggers::TriggerNames;
pub use store::{Options, Store};
pub use throttle::{Priority, Throttling};
