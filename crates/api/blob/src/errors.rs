//! What went wrong, as the service says it: every error of the layers below becomes a status, a code and a sentence here,
//! by an exhaustive match (wire guide §4.3, §7, §8).

use crate::service::LENGTH;
use http::StatusCode;
use orrery_api_common::BodyError;
use orrery_api_storage::StorageError;
use orrery_api_storage::xml::InvalidXml;
use orrery_blob_store::Error;
use orrery_blob_store::model::lease::{LeaseConflict, LeaseRefusal};
use orrery_blob_store::model::tags::{InvalidTags, TagSyntaxError};
use orrery_blob_store::model::{InvalidBlobName, Refusal};
use orrery_catalog::storage::{InvalidMetadata, InvalidResourceName};
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
    /// What other accounts of Azure storage do, and none here.
    Absent(&'static str),
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
            NoOperation::Absent(what) => StorageError::not_implemented(what),
        })
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused(refusal) => refusal.into(),
            Error::Busy | Error::Stopping => Self(StorageError::server_busy()),
            Error::Engine(error) => error.into(),
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let message = refusal.to_string();
        let said = |status, code| Self(StorageError::new(status, code, message.clone()));
        let bad = |code| said(StatusCode::BAD_REQUEST, code);
        let conflict = |code| said(StatusCode::CONFLICT, code);
        let failed = |code| said(StatusCode::PRECONDITION_FAILED, code);
        match refusal {
            Refusal::ContainerNotFound => said(StatusCode::NOT_FOUND, "ContainerNotFound"),
            Refusal::ContainerAlreadyExists => conflict("ContainerAlreadyExists"),
            Refusal::ContainerBeingDeleted => conflict("ContainerBeingDeleted"),
            Refusal::ContainerProtected => conflict("BlobImmutableDueToPolicy"),
            Refusal::ContainerLease(LeaseConflict::IdMissing) => failed("LeaseIdMissing"),
            Refusal::ContainerLease(LeaseConflict::IdMismatch) => {
                failed("LeaseIdMismatchWithContainerOperation")
            }
            Refusal::ContainerLease(LeaseConflict::NotPresent) => {
                failed("LeaseNotPresentWithContainerOperation")
            }
            Refusal::ContainerLease(LeaseConflict::Lost) => failed("LeaseLost"),
            Refusal::BlobNotFound => said(StatusCode::NOT_FOUND, "BlobNotFound"),
            Refusal::BlobAlreadyExists => conflict("BlobAlreadyExists"),
            Refusal::ConditionNotMet { is_not_modified: true } => {
                said(StatusCode::NOT_MODIFIED, "ConditionNotMet")
            }
            Refusal::ConditionNotMet { is_not_modified: false } => failed("ConditionNotMet"),
            Refusal::SourceConditionNotMet => failed("SourceConditionNotMet"),
            Refusal::InvalidBlobType => conflict("InvalidBlobType"),
            Refusal::Lease(refusal) => conflict(lease_code(refusal)),
            Refusal::BlobLease(LeaseConflict::IdMissing) => failed("LeaseIdMissing"),
            Refusal::BlobLease(LeaseConflict::IdMismatch) => failed("LeaseIdMismatchWithBlobOperation"),
            Refusal::BlobLease(LeaseConflict::NotPresent) => failed("LeaseNotPresentWithBlobOperation"),
            Refusal::BlobLease(LeaseConflict::Lost) => failed("LeaseLost"),
            Refusal::SnapshotsPresent => conflict("SnapshotsPresent"),
            Refusal::InvalidRange { length } => {
                let Self(error) = said(StatusCode::RANGE_NOT_SATISFIABLE, "InvalidRange");
                Self(error.with(LENGTH, length.to_string()))
            }
            Refusal::InvalidInput(_) => bad("InvalidInput"),
            Refusal::Md5Mismatch => bad("Md5Mismatch"),
            Refusal::Crc64Mismatch => bad("Crc64Mismatch"),
            Refusal::BodyTooLarge => said(StatusCode::PAYLOAD_TOO_LARGE, "RequestBodyTooLarge"),
            Refusal::InvalidBlockId => bad("InvalidBlobOrBlock"),
            Refusal::InvalidBlockList => bad("InvalidBlockList"),
            Refusal::BlockListTooLong => bad("BlockListTooLong"),
            Refusal::BlockCountExceedsLimit => conflict("BlockCountExceedsLimit"),
            Refusal::AppendPositionNotMet => failed("AppendPositionConditionNotMet"),
            Refusal::MaxBlobSizeNotMet => failed("MaxBlobSizeConditionNotMet"),
            Refusal::BlobIsSealed => conflict("BlobIsSealed"),
            Refusal::SequenceNumberNotMet => failed("SequenceNumberConditionNotMet"),
            Refusal::SequenceNumberOverflow => conflict("SequenceNumberIncrementTooLarge"),
            Refusal::InvalidPageRange => said(StatusCode::RANGE_NOT_SATISFIABLE, "InvalidPageRange"),
            Refusal::PreviousSnapshotNotFound => conflict("PreviousSnapshotNotFound"),
            Refusal::PreviousSnapshotNewer => conflict("PreviousSnapshotCannotBeNewer"),
            Refusal::BlobArchived => conflict("BlobArchived"),
            Refusal::BlobBeingRehydrated => conflict("BlobBeingRehydrated"),
            Refusal::InvalidBlobTier => bad("InvalidBlobTier"),
            Refusal::ImmutableDueToPolicy => conflict("BlobImmutableDueToPolicy"),
            Refusal::PendingCopy => conflict("PendingCopyOperation"),
            Refusal::NoPendingCopy => conflict("NoPendingCopyOperation"),
            Refusal::CopyIdMismatch => conflict("CopyIdMismatch"),
            Refusal::CopySource(cause) => Self(copy_source(Self::from(*cause).0)),
            Refusal::PermanentDeleteRefused => conflict("FeatureVersionMismatch"),
            Refusal::RootBlob => said(StatusCode::FORBIDDEN, "OperationNotAllowedOnRootBlob"),
        }
    }
}

fn lease_code(refusal: LeaseRefusal) -> &'static str {
    match refusal {
        LeaseRefusal::AlreadyPresent => "LeaseAlreadyPresent",
        LeaseRefusal::BreakingCannotBeAcquired => "LeaseIsBreakingAndCannotBeAcquired",
        LeaseRefusal::BreakingCannotBeChanged => "LeaseIsBreakingAndCannotBeChanged",
        LeaseRefusal::BrokenCannotBeRenewed => "LeaseIsBrokenAndCannotBeRenewed",
        LeaseRefusal::IdMismatch => "LeaseIdMismatchWithLeaseOperation",
        LeaseRefusal::NotPresent => "LeaseNotPresentWithLeaseOperation",
    }
}

/// The source of a copy was refused: its status is told, and its code beside the one that says where the trouble was.
pub fn copy_source(cause: StorageError) -> StorageError {
    let message = format!("Could not verify the copy source: {}", cause.message);
    StorageError::new(cause.status, "CannotVerifyCopySource", message)
        .with("CopySourceStatusCode", cause.status.as_u16().to_string())
        .with("CopySourceErrorCode", cause.code)
        .with("CopySourceErrorMessage", cause.message.into_owned())
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

impl From<InvalidBlobName> for Failure {
    fn from(error: InvalidBlobName) -> Self {
        Self(StorageError::new(StatusCode::BAD_REQUEST, "OutOfRangeInput", error.to_string()))
    }
}

impl From<InvalidTags> for Failure {
    fn from(error: InvalidTags) -> Self {
        let code = match error {
            InvalidTags::TooMany => "TagsTooLarge",
            InvalidTags::KeyLength
            | InvalidTags::ValueLength
            | InvalidTags::Characters
            | InvalidTags::Duplicate(_) => "InvalidTag",
        };
        let message = format!("The tags specified are invalid: {error}.");
        Self(StorageError::new(StatusCode::BAD_REQUEST, code, message))
    }
}

impl Failure {
    /// A filter or condition on tags, given in a parameter or header of this name.
    pub fn tag_syntax(name: &str, text: &str, error: &TagSyntaxError) -> Self {
        Self(StorageError::invalid_query(name, text, error.to_string()))
    }
}

impl From<InvalidXml> for Failure {
    fn from(error: InvalidXml) -> Self {
        Self(error.into())
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
