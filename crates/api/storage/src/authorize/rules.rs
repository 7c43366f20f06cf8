//! What the data says about who may use it; asked by [`authorize`](crate::Storage::authorize) when it matters.

use crate::error::StorageError;
use orrery_catalog::storage::AccessPolicy;

pub trait Rules: Sync {
    /// The stored access policy of a container, queue or table; None if either is not there.
    fn policy(&self, container: &str, id: &str) -> Result<Option<AccessPolicy>, StorageError>;

    /// Whether anybody may do what is asked for, without a credential. Only blobs can be so.
    fn is_public(&self) -> Result<bool, StorageError> {
        Ok(false)
    }
}

/// Where nothing is public, a function that finds policies is enough.
impl<F> Rules for F
where
    F: Fn(&str, &str) -> Result<Option<AccessPolicy>, StorageError> + Sync,
{
    fn policy(&self, container: &str, id: &str) -> Result<Option<AccessPolicy>, StorageError> {
        self(container, id)
    }
}
