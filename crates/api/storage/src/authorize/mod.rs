//! Who asks, and whether they may: keys, shared access signatures, tokens, nobody (wire guide §2, §3).

mod grant;
mod need;
mod roles;
mod rules;
mod table_range;

pub use grant::{Caller, Grant};
pub(crate) use need::permissions_of_policies;
pub use need::{Action, Letters, Level, Moment, Need, Resource};
pub use rules::Rules;
pub use table_range::{Bound, TableRange};

use crate::error::StorageError;
use crate::request::StorageRequest;
use crate::storage::Storage;

impl Storage {
    /// Whether the request may do what it needs.
    pub async fn authorize(
        &self,
        request: &StorageRequest,
        need: &Need<'_>,
        _rules: &dyn Rules,
    ) -> Result<Grant, StorageError> {
        let _ = (&request.query, need, self.options());
        Err(StorageError::not_implemented("authorization"))
    }
}
