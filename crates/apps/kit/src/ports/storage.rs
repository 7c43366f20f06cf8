//! What the ports of storage share: how an account is reached over the wire, and its refusals as errors of a port.

use super::StoreError;
use crate::http::Trust;
use orrery_client::storage::{Endpoint, Refusal, StorageCredential, StorageError};
use orrery_core::Env;
use orrery_protocol::storage::Service;

/// How a service of a storage account is reached.
#[derive(Clone)]
pub struct StorageOptions {
    /// `https://acct.table.core.windows.net`, `http://127.0.0.1:10002/devstoreaccount1`.
    pub url: String,
    pub credential: StorageCredential,
    pub trust: Trust,
}

impl StorageOptions {
    /// Connects with the first operation. `env` gives the dates that are signed, which a service compares with its own.
    pub(super) fn endpoint(self, service: Service, env: Env) -> Result<Endpoint, String> {
        Endpoint::new(service, &self.url, self.credential, self.trust, env)
    }
}

pub(super) fn refused(status: u16, message: impl ToString) -> StoreError {
    StoreError::Refused { status, message: message.to_string() }
}

pub(super) fn store_error(error: StorageError) -> StoreError {
    match error {
        StorageError::Refused(refusal) => refusal_as_error(refusal),
        StorageError::NoAnswer(error) => StoreError::Unavailable(error.to_string()),
        StorageError::NotUnderstood(_) => StoreError::Unavailable(error.to_string()),
        StorageError::Invalid(message) => refused(400, message),
    }
}

fn refusal_as_error(refusal: Refusal) -> StoreError {
    let Refusal { status, code, .. } = &refusal;
    match (*status, code.as_str()) {
        (409, "EntityAlreadyExists") => StoreError::Conflict,
        (412, _) | (400, "PopReceiptMismatch") => StoreError::Changed,
        (404, "ResourceNotFound" | "EntityNotFound" | "MessageNotFound") => StoreError::Missing,
        (429, _) | (503, "ServerBusy") => StoreError::Busy { after: None },
        (501, _) => refused(501, refusal),
        (408 | 500.., _) => StoreError::Unavailable(format!("{status}: {refusal}")),
        (status, _) => refused(status, refusal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_service_acts_on_is_told_apart() {
        let refusal = |status, code: &str| {
            let (code, message) = (code.to_owned(), "why".to_owned());
            store_error(StorageError::Refused(Refusal { status, code, message, index: None }))
        };
        let check = |status, code, expected| assert_eq!(refusal(status, code), expected);
        check(409, "EntityAlreadyExists", StoreError::Conflict);
        check(409, "QueueAlreadyExists", refused(409, "QueueAlreadyExists: why"));
        check(412, "UpdateConditionNotSatisfied", StoreError::Changed);
        check(400, "PopReceiptMismatch", StoreError::Changed);
        check(400, "InvalidInput", refused(400, "InvalidInput: why"));
        check(404, "ResourceNotFound", StoreError::Missing);
        check(404, "MessageNotFound", StoreError::Missing);
        check(404, "TableNotFound", refused(404, "TableNotFound: why"));
        check(503, "ServerBusy", StoreError::Busy { after: None });
        check(501, "NotImplemented", refused(501, "NotImplemented: why"));
        assert!(matches!(refusal(500, "InternalError"), StoreError::Unavailable(_)));
        assert_eq!(store_error(StorageError::Invalid("no".to_owned())), refused(400, "no"));
    }
}
