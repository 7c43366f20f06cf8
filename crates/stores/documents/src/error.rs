//! Why an operation on documents failed, whoever asked for it. Each protocol and each adapter of a port turns these
//! into its own words in one exhaustive match.

use crate::continuation::ContinuationError;
use crate::partition_key::PartitionKeyError;
use crate::scheduler::{BrokeOff, NotRun};
use orrery_core::InvalidName;
use orrery_documents::batch::StepError;
use orrery_documents::catalog::CatalogError;
use orrery_documents::changes::NotRetained;
use orrery_documents::charge::Charge;
use orrery_documents::item::{ItemError, PrepareError};
use orrery_documents::subresources::SubresourceError;
use orrery_kv::Error as EngineError;
use orrery_query::QueryError;
use orrery_script::ScriptError;
use orrery_txn::WriteError;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The container was deleted, or kept changing.
    #[error("The container was deleted.")]
    ContainerGone,
    #[error("there is no container '{container}' in the database '{database}'; create it first")]
    ContainerMissing { database: String, container: String },
    /// The request units of a partition are spent; nothing was done.
    #[error(
        "Request rate is large: the request units of the partition are spent, and nothing was done. Try again in {retry_after_ms} ms, or raise the throughput."
    )]
    RateTooLarge { retry_after_ms: u64, range: u32 },
    /// More was asked about databases, containers and offers than an account answers.
    #[error(
        "Request rate is large: too many requests about databases, containers and offers, and nothing was done. Try again in {retry_after_ms} ms, and keep clients instead of making new ones."
    )]
    MetadataRateTooLarge { retry_after_ms: u64 },
    #[error("Too many writes are waiting for the disk; try again.")]
    Busy,
    #[error("The server is stopping.")]
    Stopping,
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    NotRun(#[from] NotRun),
    #[error(transparent)]
    BrokeOff(#[from] BrokeOff),
    #[error(transparent)]
    Name(#[from] InvalidName),
    #[error(transparent)]
    PartitionKey(#[from] PartitionKeyError),
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    #[error(transparent)]
    Item(#[from] ItemError),
    #[error(transparent)]
    Step(#[from] StepError),
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    #[error(transparent)]
    Subresource(#[from] SubresourceError),
    #[error(transparent)]
    Continuation(#[from] ContinuationError),
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The client must merge the ranges, by this plan.
    #[error("The query needs its ranges merged by the client.")]
    NeedsMerging { plan: String },
    #[error("Cross partition query only supports 'VALUE <AggregateFunc>' for aggregates.")]
    AggregateWithoutValue,
    #[error(
        "Cross partition query is required but disabled. Please set x-ms-documentdb-query-enablecrosspartition to true, specify x-ms-documentdb-partitionkey, or revise your query to avoid this exception."
    )]
    CrossPartitionDisabled,
    #[error(transparent)]
    NotRetained(#[from] NotRetained),
    #[error(
        "The position {after} of the change feed lies after the newest change, {newest}: it is of another account, or of data that was lost. Begin again."
    )]
    PositionAhead { after: u64, newest: u64 },
    #[error(transparent)]
    Script(#[from] ScriptError),
    #[error("The requested operation exceeded maximum alloted time. Give the script less to do at once.")]
    ScriptTooLong,
    #[error("The script changes more than {mb_max} MB at once.")]
    ScriptChangesTooMuch { mb_max: usize },
    /// What was asked for is not valid; the sentence says what is wrong.
    #[error("{0}")]
    Invalid(String),
    /// A stored row cannot be read.
    #[error("{0}")]
    Internal(&'static str),
}

impl Error {
    /// The charge of an operation that failed with this.
    pub fn charge(&self) -> Charge {
        let is_throttled = matches!(
            self,
            Self::RateTooLarge { .. }
                | Self::MetadataRateTooLarge { .. }
                | Self::NotRun(NotRun::Busy | NotRun::NoMemory)
                | Self::Query(QueryError::Busy(_))
                | Self::Item(ItemError::Condition(QueryError::Busy(_)))
        );
        if is_throttled { Charge::throttled() } else { Charge::refused() }
    }
}

impl<E: Into<Error>> From<WriteError<E>> for Error {
    fn from(error: WriteError<E>) -> Self {
        match error {
            WriteError::Model(error) => error.into(),
            WriteError::PreconditionFailed => Self::ContainerGone,
            WriteError::Busy => Self::Busy,
            WriteError::Stopping => Self::Stopping,
            WriteError::Engine(error) => Self::Engine(error),
        }
    }
}
