//! Maps the store's errors to the port's, with exhaustive matches so that each new error is considered here.

use crate::ports::documents::StoreError;
use orrery_document_store::limits;
use orrery_document_store::{EngineError, Error, NotRun};
use orrery_documents::batch::StepError;
use orrery_documents::catalog::CatalogError;
use orrery_documents::changes::NotRetained;
use orrery_documents::definition::DefinitionError;
use orrery_documents::item::{ItemError, PrepareError};
use orrery_documents::subresources::SubresourceError;
use orrery_query::QueryError;
use std::time::Duration;

/// Retry delay if the commit queue is full.
const BUSY: Duration = Duration::from_millis(100);
/// Retry delay if other queries use up the memory.
const QUERIES_BUSY: Duration = Duration::from_millis(limits::QUERY_BUSY_RETRY_MILLIS);

pub fn refused(status: u16, message: impl Into<String>) -> StoreError {
    StoreError::Refused { status, message: message.into() }
}

pub fn is_missing(error: &Error) -> bool {
    matches!(error, Error::Item(ItemError::Missing))
}

pub fn store(error: Error) -> StoreError {
    let message = error.to_string();
    match error {
        Error::ContainerGone | Error::ContainerMissing { .. } => refused(404, message),
        Error::RateTooLarge { retry_after_ms, .. } | Error::MetadataRateTooLarge { retry_after_ms } => {
            StoreError::Busy { after: Some(Duration::from_millis(retry_after_ms)) }
        }
        Error::Busy => StoreError::Busy { after: Some(BUSY) },
        Error::Stopping | Error::BrokeOff(_) | Error::NotRun(NotRun::BrokeOff(_)) | Error::Internal(_) => {
            StoreError::Unavailable(message)
        }
        Error::NotRun(NotRun::Busy | NotRun::NoMemory) => StoreError::Busy { after: Some(QUERIES_BUSY) },
        Error::Engine(error) => engine(&error),
        Error::Name(_)
        | Error::PartitionKey(_)
        | Error::Continuation(_)
        | Error::NeedsMerging { .. }
        | Error::AggregateWithoutValue
        | Error::CrossPartitionDisabled
        | Error::PositionAhead { .. }
        | Error::Script(_)
        | Error::Invalid(_) => refused(400, message),
        Error::Prepare(error) => prepare(&error),
        Error::Item(error) | Error::Step(StepError::Item(error)) => item(error),
        Error::Step(StepError::TooMuch) | Error::ScriptChangesTooMuch { .. } => refused(413, message),
        Error::Catalog(error) => catalog(error),
        Error::Subresource(error) => subresource(error),
        Error::Query(error) => query(error),
        Error::NotRetained(NotRetained::Store(error)) => engine(&error),
        Error::NotRetained(NotRetained::Off | NotRetained::TooOld { .. }) => refused(400, message),
        Error::ScriptTooLong => refused(408, message),
    }
}

fn engine(error: &EngineError) -> StoreError {
    orrery_document_store::log_failure(error);
    StoreError::Unavailable(error.to_string())
}

fn item(error: ItemError) -> StoreError {
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
        ItemError::Store(error) => engine(&error),
    }
}

fn prepare(error: &PrepareError) -> StoreError {
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

fn query(error: QueryError) -> StoreError {
    match error {
        QueryError::Text(complaint) => refused(400, complaint.message),
        QueryError::Refused(message) => refused(400, message),
        QueryError::Busy(_) => StoreError::Busy { after: Some(QUERIES_BUSY) },
        QueryError::TooLong(message) | QueryError::Storage(message) => StoreError::Unavailable(message),
    }
}

fn catalog(error: CatalogError) -> StoreError {
    let message = error.to_string();
    match error {
        CatalogError::Exists | CatalogError::StillIndexing => StoreError::Conflict,
        CatalogError::DatabaseMissing | CatalogError::ContainerMissing | CatalogError::OfferMissing => {
            refused(404, message)
        }
        CatalogError::Changed => StoreError::Changed,
        CatalogError::TooMany => refused(403, message),
        CatalogError::OfferMoved => refused(400, message),
        CatalogError::Definition(error) => definition(&error),
        CatalogError::Store(error) => engine(&error),
    }
}

fn subresource(error: SubresourceError) -> StoreError {
    let message = error.to_string();
    match error {
        SubresourceError::Exists => StoreError::Conflict,
        SubresourceError::Missing(_) | SubresourceError::OwnerMissing(_) => refused(404, message),
        SubresourceError::Changed => StoreError::Changed,
        SubresourceError::TooMany { .. } => refused(403, message),
        SubresourceError::Renamed(_) => refused(400, message),
        SubresourceError::Definition(error) => definition(&error),
        SubresourceError::Store(error) => engine(&error),
    }
}

fn definition(error: &DefinitionError) -> StoreError {
    let message = error.to_string();
    match error {
        DefinitionError::InvalidName(_) | DefinitionError::Invalid(_) => refused(400, message),
        DefinitionError::Forbidden(_) => refused(403, message),
    }
}
