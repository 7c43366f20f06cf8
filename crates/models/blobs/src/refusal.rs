//! Why the rules of the service refuse an operation. Each variant is an error code of Azure's.

use crate::conditions::Unmet;
use crate::lease::{LeaseConflict, LeaseRefusal};
use orrery_kv::Error as EngineError;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// 404 `ContainerNotFound`
    #[error("The specified container does not exist.")]
    ContainerNotFound,
    /// 409 `ContainerAlreadyExists`
    #[error("The specified container already exists.")]
    ContainerAlreadyExists,
    /// 409 `ContainerBeingDeleted`: it was deleted a moment ago and holds blobs that may not go.
    #[error("The specified container is being deleted.")]
    ContainerBeingDeleted,
    /// 409 `ContainerImmutableStorageWithVersioningEnabled`-like: a blob in it is protected.
    #[error("This operation is not permitted as the container has blobs that are immutable due to a policy.")]
    ContainerProtected,
    /// 412 or 409, by what was wanted: conflicts of the container's lease.
    #[error(transparent)]
    ContainerLease(LeaseConflict),
    /// 404 `BlobNotFound`
    #[error("The specified blob does not exist.")]
    BlobNotFound,
    /// 409 `BlobAlreadyExists`
    #[error("The specified blob already exists.")]
    BlobAlreadyExists,
    /// 412 `ConditionNotMet`; 304 to reads if `is_not_modified`.
    #[error("The condition specified using HTTP conditional header(s) is not met.")]
    ConditionNotMet { is_not_modified: bool },
    /// 412 `SourceConditionNotMet`
    #[error("The source condition specified using HTTP conditional header(s) is not met.")]
    SourceConditionNotMet,
    /// 409 `InvalidBlobType`
    #[error("The blob type is invalid for this operation.")]
    InvalidBlobType,
    /// 409, an action on a lease.
    #[error(transparent)]
    Lease(#[from] LeaseRefusal),
    /// 412, a lease id of a blob operation.
    #[error(transparent)]
    BlobLease(#[from] LeaseConflict),
    /// 409 `SnapshotsPresent`
    #[error("This operation is not permitted while the blob has snapshots.")]
    SnapshotsPresent,
    /// 416 `InvalidRange`; with the size that the blob has.
    #[error("The range specified is invalid for the current size of the resource.")]
    InvalidRange { length: u64 },
    /// 400 `OutOfRangeInput`, `InvalidInput`: the header or parameter with this name.
    #[error("One of the request inputs is not valid: {0}.")]
    InvalidInput(&'static str),
    /// 400 `Md5Mismatch`
    #[error(
        "The MD5 value specified in the request did not match with the MD5 value calculated by the server."
    )]
    Md5Mismatch,
    /// 400 `Crc64Mismatch`
    #[error(
        "The CRC64 value specified in the request did not match with the CRC64 value calculated by the server."
    )]
    Crc64Mismatch,
    /// 413 `RequestBodyTooLarge`
    #[error("The request body is too large and exceeds the maximum permissible limit.")]
    BodyTooLarge,
    /// 400 `InvalidBlobOrBlock`, `InvalidBlockId`: ids of one blob have one length.
    #[error("The specified block id is invalid. The blob or block content is invalid.")]
    InvalidBlockId,
    /// 400 `InvalidBlockList`
    #[error("The specified block list is invalid.")]
    InvalidBlockList,
    /// 400 `BlockListTooLong`
    #[error("The block list may not contain more than 50,000 blocks.")]
    BlockListTooLong,
    /// 409 `BlockCountExceedsLimit`
    #[error("The uncommitted or committed block count exceeds the maximum permissible limit.")]
    BlockCountExceedsLimit,
    /// 412 `AppendPositionConditionNotMet`
    #[error("The append position condition specified was not met.")]
    AppendPositionNotMet,
    /// 412 `MaxBlobSizeConditionNotMet`
    #[error("The max blob size condition specified was not met.")]
    MaxBlobSizeNotMet,
    /// 409 `BlobIsSealed`
    #[error(
        "The specified blob is sealed and its contents can't be modified unless the blob is re-created after a delete."
    )]
    BlobIsSealed,
    /// 412 `SequenceNumberConditionNotMet`
    #[error("The sequence number condition specified was not met.")]
    SequenceNumberNotMet,
    /// 409 `SequenceNumberIncrementTooLarge`
    #[error(
        "The sequence number increment cannot be performed because it would result in overflow of the sequence number."
    )]
    SequenceNumberOverflow,
    /// 416 `InvalidPageRange`
    #[error("The page range specified is invalid.")]
    InvalidPageRange,
    /// 409 `PreviousSnapshotNotFound`
    #[error("The previous snapshot is not found.")]
    PreviousSnapshotNotFound,
    /// 409 `PreviousSnapshotCannotBeNewer`
    #[error("The prevsnapshot query parameter value cannot be newer than snapshot query parameter value.")]
    PreviousSnapshotNewer,
    /// 409 `BlobArchived`
    #[error("This operation is not permitted on an archived blob.")]
    BlobArchived,
    /// 409 `BlobBeingRehydrated`
    #[error("This operation is not permitted because the blob is being rehydrated.")]
    BlobBeingRehydrated,
    /// 400 `InvalidBlobTier`
    #[error("The specified blob tier is invalid.")]
    InvalidBlobTier,
    /// 409 `BlobImmutableDueToPolicy`
    #[error("This operation is not permitted as the blob is immutable due to a policy.")]
    ImmutableDueToPolicy,
    /// 409 `PendingCopyOperation`
    #[error("There is currently a pending copy operation.")]
    PendingCopy,
    /// 409 `NoPendingCopyOperation`
    #[error("There is currently no pending copy operation.")]
    NoPendingCopy,
    /// 409 `CopyIdMismatch`
    #[error("The specified copy ID did not match the copy ID for the pending copy operation.")]
    CopyIdMismatch,
    /// 404, 409 `CannotVerifyCopySource`
    #[error("The source of the copy cannot be read: {0}")]
    CopySource(Box<Refusal>),
    /// 409 `FeatureVersionMismatch`-like: permanent deletes are of what is soft-deleted, if the account allows them.
    #[error(
        "The permanent delete is not allowed: the blob is not soft-deleted, or the account does not permit it."
    )]
    PermanentDeleteRefused,
    /// 409 `OperationNotAllowedOnRootBlob`: the current version can only be deleted as the blob.
    #[error("The operation is not allowed on root blob.")]
    RootBlob,
}

/// What a function of this model returns instead of its result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlobError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Store(#[from] EngineError),
}

impl From<Unmet> for Refusal {
    fn from(unmet: Unmet) -> Self {
        match unmet {
            Unmet::Failed => Self::ConditionNotMet { is_not_modified: false },
            Unmet::NotModified => Self::ConditionNotMet { is_not_modified: true },
            Unmet::Exists => Self::BlobAlreadyExists,
        }
    }
}

impl From<LeaseConflict> for BlobError {
    fn from(conflict: LeaseConflict) -> Self {
        Self::Refused(conflict.into())
    }
}

impl From<LeaseRefusal> for BlobError {
    fn from(refusal: LeaseRefusal) -> Self {
        Self::Refused(refusal.into())
    }
}

impl From<Unmet> for BlobError {
    fn from(unmet: Unmet) -> Self {
        Self::Refused(unmet.into())
    }
}
