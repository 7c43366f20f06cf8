//! What went wrong, as the service says it: every error of the layers below becomes a status, a code and a sentence here,
//! by an exhaustive match (wire guide §4.3, §6.3).

use http::StatusCode;
use orrery_api_common::BodyError;
use orrery_api_storage::StorageError;
use orrery_api_storage::xml::InvalidXml;
use orrery_catalog::storage::InvalidResourceName;
use orrery_queue_store::limits::MESSAGE_TEXT_BYTES_MAX;
use orrery_queue_store::{Error, InvalidMetadata, TextTooLong};
use orrery_txn::EngineError;

/// A refusal. A type of this crate, so that errors of the crates below can become one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(pub StorageError);

/// No operation has this form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoOperation {
    /// The path is that of no resource.
    Path,
    /// The resource is there, and this cannot be done to it.
    Verb,
    /// `comp` is missing where it chooses what is meant.
    ComponentMissing,
    /// `comp` or `restype` has another value.
    Component,
}

impl From<StorageError> for Failure {
    fn from(error: StorageError) -> Self {
        Self(error)
    }
}

impl From<NoOperation> for Failure {
    fn from(error: NoOperation) -> Self {
        Self(match error {
            NoOperation::Path => StorageError::invalid_uri(),
            NoOperation::Verb => StorageError::unsupported_verb(),
            NoOperation::ComponentMissing => StorageError::missing_query("comp"),
            NoOperation::Component => {
                let message =
                    "Value for one of the query parameters specified in the request URI is invalid.";
                StorageError::new(StatusCode::BAD_REQUEST, "InvalidQueryParameterValue", message)
            }
        })
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        let said = |status, code| Self(StorageError::new(status, code, message));
        match error {
            Error::QueueNotFound => said(StatusCode::NOT_FOUND, "QueueNotFound"),
            Error::QueueAlreadyExists => said(StatusCode::CONFLICT, "QueueAlreadyExists"),
            Error::MessageNotFound => said(StatusCode::NOT_FOUND, "MessageNotFound"),
            Error::PopReceiptMismatch => said(StatusCode::BAD_REQUEST, "PopReceiptMismatch"),
            Error::VisibilityAfterExpiry { seconds_left } => {
                let seconds_left = i64::try_from(seconds_left).unwrap_or(i64::MAX);
                Self(StorageError::out_of_range_query("visibilitytimeout", "", 0, seconds_left))
            }
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

impl From<InvalidMetadata> for Failure {
    fn from(error: InvalidMetadata) -> Self {
        Self(match error {
            InvalidMetadata::EmptyName => StorageError::empty_metadata_key(),
            InvalidMetadata::Characters => StorageError::invalid_metadata(),
            InvalidMetadata::TooLarge => StorageError::metadata_too_large(),
        })
    }
}

impl From<InvalidResourceName> for Failure {
    fn from(error: InvalidResourceName) -> Self {
        Self(error.into())
    }
}

impl From<InvalidXml> for Failure {
    fn from(error: InvalidXml) -> Self {
        Self(error.into())
    }
}

/// The limit is that of the text, however the text is written.
impl From<TextTooLong> for Failure {
    fn from(_: TextTooLong) -> Self {
        Self(StorageError::body_too_large(MESSAGE_TEXT_BYTES_MAX))
    }
}

impl From<BodyError> for Failure {
    fn from(error: BodyError) -> Self {
        Self(match error {
            BodyError::TooLarge { bytes_max } => StorageError::body_too_large(bytes_max),
            BodyError::TooSlow => {
                StorageError::new(StatusCode::REQUEST_TIMEOUT, "OperationTimedOut", error.to_string())
            }
            BodyError::Broken(_) => StorageError::invalid_input(format!("{error}.")),
            BodyError::NoRoom => StorageError::server_busy(),
        })
    }
}
