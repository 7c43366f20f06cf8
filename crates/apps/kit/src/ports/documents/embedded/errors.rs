//! What the layers below say, as the port says it: by exhaustive matches, so that a new error is thought about here.

use crate::ports::documents::StoreError;
use orrery_core::limits;
use orrery_document_store::{BrokeOff, EngineError, NotRun, WriteError};
use orrery_documents::batch::StepError;
use orrery_documents::catalog::CatalogError;
use orrery_documents::definition::DefinitionError;
use orrery_documents::item::{ItemError, PrepareError};
use orrery_query::QueryError;
use std::time::Duration;

/// How long to wait for the commit queue.
const BUSY: Duration = Duration::from_millis(100);
/// How long to wait for other queries.
const QUERIES_BUSY: Duration = Duration::from_millis(limits::QUERY_BUSY_RETRY_MILLIS);

/// Why a write came to nothing.
pub enum Stopped {
    /// Its container is gone, or is not what it was.
    OwnerGone,
    Because(StoreError),
}

impl From<StoreError> for Stopped {
    fn from(error: StoreError) -> Self {
        Self::Because(error)
    }
}

pub fn refused(status: u16, message: impl Into<String>) -> StoreError {
    StoreError::Refused { status, message: message.into() }
}

pub fn no_container(database: &str, name: &str) -> StoreError {
    refused(404, format!("there is no container '{name}' in the database '{database}'; create it first"))
}

/// What is thrown in a transaction, by `say`; what stops one from outside, the same for all.
pub fn write<E>(error: WriteError<E>, say: impl FnOnce(E) -> StoreError) -> Stopped {
    Stopped::Because(match error {
        WriteError::Model(error) => say(error),
        WriteError::PreconditionFailed => return Stopped::OwnerGone,
        WriteError::Busy => StoreError::Busy { after: Some(BUSY) },
        WriteError::Stopping => StoreError::Unavailable("the server is stopping".to_owned()),
        WriteError::Engine(error) => engine(error),
    })
}

pub fn broke_off(error: BrokeOff) -> StoreError {
    StoreError::Unavailable(error.to_string())
}

pub fn not_run(error: NotRun) -> StoreError {
    match error {
        NotRun::BrokeOff(error) => broke_off(error),
        NotRun::Busy | NotRun::NoMemory => StoreError::Busy { after: Some(QUERIES_BUSY) },
    }
}

pub fn engine(error: EngineError) -> StoreError {
    orrery_document_store::log_failure(&error);
    StoreError::Unavailable(error.to_string())
}

pub fn item(error: ItemError) -> StoreError {
    let message = error.to_string();
    match error {
        ItemError::Exists | ItemError::NotUnique => StoreError::Conflict,
        ItemError::Missing => StoreError::Missing,
        ItemError::Changed | ItemError::ConditionFails => StoreError::Changed,
        ItemError::PartitionKeyChanged
        | ItemError::Schema(_)
        | ItemError::Patch(_)
        | ItemError::Patched(_) => refused(400, message),
        ItemError::PartitionFull { .. } => refused(403, message),
        ItemError::Condition(error) => query(error),
        ItemError::Store(error) => engine(error),
    }
}

pub fn step(error: StepError) -> StoreError {
    match error {
        StepError::Item(error) => item(error),
        StepError::TooMuch => refused(413, StepError::TooMuch.to_string()),
    }
}

pub fn prepare(error: PrepareError) -> StoreError {
    let message = error.to_string();
    match error {
        PrepareError::TooLarge(_) => refused(413, message),
        PrepareError::Json(_)
        | PrepareError::NoId
        | PrepareError::IdNotText
        | PrepareError::Id(_)
        | PrepareError::Ttl(_)
        | PrepareError::PartitionKeyTooLong
        | PrepareError::UniqueKeyTooLong => refused(400, message),
    }
}

pub fn query(error: QueryError) -> StoreError {
    match error {
        QueryError::Text(complaint) => refused(400, complaint.message),
        QueryError::Refused(message) => refused(400, message),
        QueryError::Busy(_) => StoreError::Busy { after: Some(QUERIES_BUSY) },
        QueryError::TooLong(message) | QueryError::Storage(message) => StoreError::Unavailable(message),
    }
}

pub fn catalog(error: CatalogError) -> StoreError {
    let message = error.to_string();
    match error {
        CatalogError::Exists | CatalogError::StillIndexing => StoreError::Conflict,
        CatalogError::DatabaseMissing | CatalogError::ContainerMissing | CatalogError::OfferMissing => {
            refused(404, message)
        }
        CatalogError::Changed => StoreError::Changed,
        CatalogError::TooMany => refused(403, message),
        CatalogError::OfferMoved => refused(400, message),
        CatalogError::Definition(error) => definition(error),
        CatalogError::Store(error) => engine(error),
    }
}

pub fn definition(error: DefinitionError) -> StoreError {
    let message = error.to_string();
    match error {
        DefinitionError::InvalidName(_) | DefinitionError::Invalid(_) => refused(400, message),
        DefinitionError::Forbidden(_) => refused(403, message),
    }
}
