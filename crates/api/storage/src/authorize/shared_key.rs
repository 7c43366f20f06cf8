//! Requests signed with a key of the account (wire guide §2).

use crate::error::StorageError;
use crate::header;
use crate::request::StorageRequest;
use crate::storage::Storage;
use http::header::DATE;
use orrery_api_common::{Key, Signature};
use orrery_core::Timestamp;
use orrery_protocol::storage::parse_time;
use orrery_protocol::storage::shared_key::{Form, Message, string_to_sign, strings_to_sign};
use std::borrow::Cow;
use std::time::Duration;

/// Headers whose values are secrets of the client, or may have one in them.
const SECRET_HEADERS: [&str; 6] = [
    "x-ms-encryption-key:",
    "x-ms-source-encryption-key:",
    "x-ms-copy-source:",
    "x-ms-copy-source-authorization:",
    "x-ms-rename-source:",
    "sig:",
];

/// `credential` is `account:signature`.
pub fn check(
    storage: &Storage,
    request: &StorageRequest,
    form: Form,
    credential: &str,
) -> Result<(), StorageError> {
    let (account, signature) = credential.split_once(':').ok_or_else(malformed)?;
    if account != request.account.as_str() {
        let detail =
            format!("The account '{}' of the URL did not sign the request.", request.account.as_str());
        return Err(StorageError::authentication_failed(detail));
    }
    let keys = storage.accounts().keys(account);
    let signature = Signature::parse(signature);
    let check = |path| {
        with_message(request, path, |message| check_signature(message, form, &keys, signature.as_ref()))
    };
    check(request.head.uri.path()).or_else(|error| match &request.replica_path {
        Some(path) => check(path).map_err(|_| error),
        None => Err(error),
    })?;
    check_date(request, storage.options().skew_max)
}

fn check_signature(
    message: &Message<'_>,
    form: Form,
    keys: &[Key],
    signature: Option<&Signature>,
) -> Result<(), StorageError> {
    let is_signed =
        |text: String| signature.is_some_and(|signature| keys.iter().any(|key| key.verify(&text, signature)));
    if signature.is_some() && strings_to_sign(message, form).any(is_signed) {
        return Ok(());
    }
    let text = without_secrets(&string_to_sign(message, form));
    Err(StorageError::authentication_failed(format!(
        "The MAC signature found in the HTTP request is not the same as any computed signature. Server used following \
         string to sign: '{text}'."
    )))
}

fn with_message<T>(request: &StorageRequest, path: &str, then: impl FnOnce(&Message<'_>) -> T) -> T {
    let headers = &request.head.headers;
    let values: Vec<(&str, Cow<'_, str>)> =
        headers.iter().map(|(name, value)| (name.as_str(), text(value.as_bytes()))).collect();
    let headers: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_ref())).collect();
    then(&Message {
        service: request.protocol_service(),
        verb: request.method().as_str(),
        account: request.account.as_str(),
        path,
        query: &request.query,
        headers: &headers,
    })
}

/// Clients send UTF-8 or Latin-1, and sign what they mean.
fn text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => bytes.iter().copied().map(char::from).collect::<String>().into(),
    }
}

fn check_date(request: &StorageRequest, skew_max: Duration) -> Result<(), StorageError> {
    let given = request.header(header::DATE).or_else(|| request.header(DATE));
    let refused = |detail: String| Err(StorageError::authentication_failed(detail));
    let Some(given) = given else {
        return refused("The request has neither the header x-ms-date nor the header Date.".to_owned());
    };
    let Some(at) = Timestamp::parse_http(given).or_else(|| parse_time(given)) else {
        return refused(format!("The date of the request is not one: '{given}'."));
    };
    if at.abs_diff(request.now()) > skew_max {
        let now = request.now().to_http();
        return refused(format!("Request date header too old: '{given}'. The server's clock shows '{now}'."));
    }
    Ok(())
}

fn without_secrets(text: &str) -> String {
    let shown = text.split('\n').map(|line| {
        let secret = SECRET_HEADERS.into_iter().find(|name| line.starts_with(name));
        secret.map_or_else(|| line.to_owned(), |name| format!("{name}…"))
    });
    shown.collect::<Vec<_>>().join("\n")
}

fn malformed() -> StorageError {
    StorageError::invalid_authentication("It is: Authorization: SharedKey account:signature.")
}
