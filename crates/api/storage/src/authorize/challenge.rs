//! What is said to somebody who shows nothing: where tokens are to be had (wire guide §3.7).

use crate::error::StorageError;
use crate::request::StorageRequest;
use crate::storage::Storage;
use crate::version::Version;
use http::{HeaderValue, StatusCode};

/// The resource that tokens are asked for.
pub const RESOURCE: &str = "https://storage.azure.com";
/// Before this version a private resource is not there for strangers.
const TELLING_SINCE: Version = Version::of("2019-12-12");

pub fn no_information(storage: &Storage, request: &StorageRequest) -> StorageError {
    if request.version() < TELLING_SINCE {
        return StorageError::not_found();
    }
    let message = "Server failed to authenticate the request. Please refer to the information in the www-authenticate \
                   header.";
    challenged(storage, StorageError::new(StatusCode::UNAUTHORIZED, "NoAuthenticationInformation", message))
}

pub fn challenged(storage: &Storage, mut error: StorageError) -> StorageError {
    let tenant = &storage.options().tenant;
    let text = format!(
        "Bearer authorization_uri=https://login.microsoftonline.com/{tenant}/oauth2/authorize resource_id={RESOURCE}"
    );
    error.challenge = HeaderValue::from_str(&text).ok();
    error
}
