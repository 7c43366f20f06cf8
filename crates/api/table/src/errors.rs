//! What went wrong, as the service says it: every error of the layers below becomes a status, a code and a sentence here,
//! by an exhaustive match.

use crate::continuation::InvalidContinuation;
use crate::json::{InvalidBody, UnsupportedFormat};
use crate::multipart::MultipartError;
use crate::reply;
use crate::route::NoResource;
use http::{Response, StatusCode};
use orrery_api_common::{Body, BodyError};
use orrery_api_storage::{Envelope, StorageError};
use orrery_catalog::storage::InvalidResourceName;
use orrery_table_store::Error;
use orrery_tables::limits::{self, PAGE_ROWS_MAX};
use orrery_tables::{EntityError, FilterError, GroupError, InvalidEntity, InvalidGroup, InvalidKey};
use orrery_txn::EngineError;
use std::borrow::Cow;

/// A refusal. A type of this crate, so that errors of the crates below can become one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(pub StorageError);

/// An operation of a batch that failed, by its number from 0; so nothing of the batch was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub index: usize,
    pub failure: Failure,
}

/// No operation has this form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoOperation {
    /// The resource is there, and this cannot be done to it.
    Verb,
    /// `comp` or `restype` has another value.
    Component,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidOption {
    #[error("$top is a number from 1 to {PAGE_ROWS_MAX}.")]
    Top,
    /// An option of OData that the service does not have.
    #[error("the query option {0}")]
    Absent(String),
    #[error(transparent)]
    Filter(#[from] FilterError),
    #[error(transparent)]
    Continuation(#[from] InvalidContinuation),
}

/// Why operations of a batch are not done, beside what each may be refused for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidBatch {
    #[error("A changeset has inserts, updates and deletes only.")]
    Read,
    #[error("All operations of a batch act on one table.")]
    DifferentTables,
}

impl Failure {
    fn bad_request(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self(StorageError::new(StatusCode::BAD_REQUEST, code, message))
    }

    /// The service's sentence for input of any kind, and what is wrong with this one.
    pub fn invalid_input(detail: &str) -> Self {
        Self(StorageError::invalid_input(format!("One of the request inputs is not valid. {detail}")))
    }

    /// The whole answer, without the headers that an envelope puts on it.
    pub fn into_response(self, envelope: &Envelope) -> Response<Body> {
        let mut response = self.0.into_odata(envelope);
        reply::put_standard(response.headers_mut());
        response
    }

    fn conflict(code: &'static str, message: String) -> Self {
        Self(StorageError::new(StatusCode::CONFLICT, code, message))
    }
}

impl Refused {
    pub fn new(index: usize, failure: Failure) -> Self {
        Self { index, failure }
    }

    /// Clients find the operation by the number before the sentence.
    pub fn into_failure(self) -> Failure {
        let Self { index, failure: Failure(mut error) } = self;
        error.message = format!("{index}:{}", error.message).into();
        Failure(error)
    }
}

impl From<StorageError> for Failure {
    fn from(error: StorageError) -> Self {
        Self(error)
    }
}

impl From<NoResource> for Failure {
    fn from(error: NoResource) -> Self {
        match error {
            NoResource::Path => Self(StorageError::invalid_uri()),
            NoResource::Predicate(error) => Self::invalid_input(&format!("{error}.")),
        }
    }
}

impl From<NoOperation> for Failure {
    fn from(error: NoOperation) -> Self {
        Self(match error {
            NoOperation::Verb => StorageError::unsupported_verb(),
            NoOperation::Component => StorageError::invalid_uri(),
        })
    }
}

impl From<UnsupportedFormat> for Failure {
    fn from(error: UnsupportedFormat) -> Self {
        let code = match error {
            UnsupportedFormat::Atom => "AtomFormatNotSupported",
            UnsupportedFormat::MediaType => "MediaTypeNotSupported",
        };
        Self(StorageError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, code, error.to_string()))
    }
}

impl From<InvalidOption> for Failure {
    fn from(error: InvalidOption) -> Self {
        match error {
            InvalidOption::Top => Self::invalid_input(&error.to_string()),
            InvalidOption::Absent(_) => Self(StorageError::not_implemented(&error.to_string())),
            InvalidOption::Filter(error) => error.into(),
            InvalidOption::Continuation(error) => Self::invalid_input(&format!("{error}.")),
        }
    }
}

impl From<FilterError> for Failure {
    fn from(error: FilterError) -> Self {
        let message = error.to_string();
        match error {
            FilterError::TooLong
            | FilterError::TooDeep { .. }
            | FilterError::UnexpectedEnd { .. }
            | FilterError::Unexpected { .. }
            | FilterError::Unterminated { .. }
            | FilterError::InvalidLiteral { .. } => Self::invalid_input(&message),
            FilterError::NotImplemented { .. } => {
                Self(StorageError::new(StatusCode::NOT_IMPLEMENTED, "NotImplemented", message))
            }
        }
    }
}

impl From<InvalidBody> for Failure {
    fn from(error: InvalidBody) -> Self {
        match error {
            InvalidBody::Json(_)
            | InvalidBody::UnknownType { .. }
            | InvalidBody::Value { .. }
            | InvalidBody::NoTableName => Self::invalid_input(&error.to_string()),
            InvalidBody::Entity(error) => error.into(),
        }
    }
}

impl From<InvalidEntity> for Failure {
    fn from(error: InvalidEntity) -> Self {
        let code = match error {
            InvalidEntity::PropertyNameInvalid { .. } => "PropertyNameInvalid",
            InvalidEntity::PropertyNameTooLong => "PropertyNameTooLong",
            InvalidEntity::PropertyValueTooLarge { .. } => "PropertyValueTooLarge",
            InvalidEntity::TooManyProperties => "TooManyProperties",
            InvalidEntity::EntityTooLarge => "EntityTooLarge",
            InvalidEntity::DuplicateProperty { .. } => "DuplicatePropertiesSpecified",
            InvalidEntity::DateTimeOutOfRange { .. } => "OutOfRangeInput",
        };
        Self::bad_request(code, error.to_string())
    }
}

impl From<InvalidKey> for Failure {
    fn from(error: InvalidKey) -> Self {
        let code = match error {
            InvalidKey::Missing(_) => "PropertiesNeedValue",
            InvalidKey::TooLarge(_) => "KeyValueTooLarge",
            InvalidKey::Characters(_) => "OutOfRangeInput",
        };
        Self::bad_request(code, error.to_string())
    }
}

impl From<InvalidResourceName> for Failure {
    fn from(error: InvalidResourceName) -> Self {
        Self(error.into())
    }
}

impl From<MultipartError> for Failure {
    fn from(error: MultipartError) -> Self {
        Self::invalid_input(&format!("{error}."))
    }
}

impl From<InvalidBatch> for Failure {
    fn from(error: InvalidBatch) -> Self {
        match error {
            InvalidBatch::Read | InvalidBatch::DifferentTables => Self::invalid_input(&error.to_string()),
        }
    }
}

impl From<InvalidGroup> for Refused {
    fn from(error: InvalidGroup) -> Self {
        let (message, bytes_max) = (error.to_string(), limits::GROUP_BYTES_MAX);
        match error {
            InvalidGroup::Empty => Self::new(0, Failure::invalid_input(&message)),
            InvalidGroup::TooManyOperations => {
                let message = "The batch request operation exceeds the maximum 100 changes per change set.";
                Self::new(limits::GROUP_OPERATIONS_MAX - 1, Failure::bad_request("InvalidInput", message))
            }
            InvalidGroup::TooLarge => Self::new(0, StorageError::body_too_large(bytes_max).into()),
            InvalidGroup::DifferentPartitions { index } => {
                let code = "CommandsInBatchActOnDifferentPartitions";
                Self::new(index, Failure::bad_request(code, message))
            }
            InvalidGroup::DuplicateRow { index } => {
                Self::new(index, Failure::bad_request("InvalidDuplicateRow", message))
            }
        }
    }
}

/// What was not one operation's fault is told of the first.
impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        match error {
            Error::Group(GroupError { index, error }) => Self::new(index, error.into()),
            Error::TableNotFound
            | Error::TableExists
            | Error::Entity(_)
            | Error::Busy
            | Error::Stopping
            | Error::Engine(_) => Self::new(0, error.into()),
        }
    }
}

impl From<EntityError> for Failure {
    fn from(error: EntityError) -> Self {
        let message = error.to_string();
        match error {
            EntityError::Exists => Self::conflict("EntityAlreadyExists", message),
            EntityError::NotFound => Self(StorageError::not_found()),
            EntityError::ConditionNotMet => Self(StorageError::new(
                StatusCode::PRECONDITION_FAILED,
                "UpdateConditionNotSatisfied",
                message,
            )),
            EntityError::Invalid(error) => error.into(),
            EntityError::Store(error) => error.into(),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::TableNotFound => {
                Self(StorageError::new(StatusCode::NOT_FOUND, "TableNotFound", error.to_string()))
            }
            Error::TableExists => Self::conflict("TableAlreadyExists", error.to_string()),
            Error::Entity(error) => error.into(),
            Error::Group(GroupError { error, .. }) => error.into(),
            Error::Busy | Error::Stopping => Self(StorageError::server_busy()),
            Error::Engine(error) => error.into(),
        }
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self(error.into())
    }
}

impl From<BodyError> for Failure {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge { bytes_max } => Self(StorageError::body_too_large(bytes_max)),
            BodyError::TooSlow => {
                Self(StorageError::new(StatusCode::REQUEST_TIMEOUT, "OperationTimedOut", error.to_string()))
            }
            BodyError::Broken(_) => Self::invalid_input(&format!("{error}.")),
            BodyError::NoRoom => Self(StorageError::server_busy()),
        }
    }
}
