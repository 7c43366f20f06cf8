//! `/v1/accounts` of the services port: storage accounts and their keys.
//!
//! ```text
//! GET    /v1/accounts                                names, which are no secret
//! POST   /v1/accounts                                a new account, with its keys
//! GET    /v1/accounts/{name}/keys                    the keys of an account
//! POST   /v1/accounts/{name}/keys/{key}/regenerate   a new key in the place of one
//! DELETE /v1/accounts/{name}                         from then on nothing opens it
//! ```
//!
//! As with the account's own keys, `server` has decided who calls, and keys are told only where nobody reads along.

use crate::Admin;
use crate::keys::check_private;
use crate::routes::{BODY_BYTES_MAX, nothing_at, wrong_verb};
use http::Method;
use http::request::Parts;
use hyper::body::Incoming;
use orrery_api_common::problem::{Kind, Problem};
use orrery_api_common::secrets::{StorageAccount, StorageAccountError, StorageAccounts, StorageKeyName};
use orrery_api_common::{Peer, is_forwarded, read_body};
use serde::Deserialize;
use serde_json::{Value, json};

const ROOT: &str = "/v1/accounts";

pub fn has(path: &str) -> bool {
    path.strip_prefix(ROOT).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a request shows, replaces or ends keys that others may be using: more than to list names and to add an account.
pub fn are_about_keys(method: &Method, path: &str) -> bool {
    has(path) && path != ROOT && (method == Method::DELETE || path.contains("/keys"))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewAccount {
    name: String,
}

pub async fn handle(admin: &Admin, head: &Parts, body: Incoming, peer: Peer) -> Result<Value, Problem> {
    let segments: Vec<&str> = head.uri.path().split('/').skip(3).collect();
    let accounts = &admin.accounts;
    let check_private = || check_private(&peer, is_forwarded(&head.headers));
    match (&head.method, &segments[..]) {
        (&Method::GET, []) => {
            let names = accounts.list().into_iter().map(|account| json!({ "name": account.name }));
            Ok(json!({ "accounts": names.collect::<Vec<_>>() }))
        }
        (&Method::POST, []) => {
            check_private()?;
            let name = new_name(body).await?;
            let added = change(admin, move |accounts| accounts.add(&name)).await?;
            tracing::info!(account = added.name, "a storage account was added");
            Ok(with_keys(&added))
        }
        (&Method::GET, [name, "keys"]) => {
            check_private()?;
            accounts
                .find(name)
                .map(|account| with_keys(&account))
                .ok_or_else(|| problem(&StorageAccountError::Missing((*name).to_owned())))
        }
        (&Method::POST, [name, "keys", key, "regenerate"]) => {
            check_private()?;
            regenerate(admin, name, key).await
        }
        (&Method::DELETE, [name]) => {
            let removed = (*name).to_owned();
            change(admin, move |accounts| accounts.remove(&removed)).await?;
            tracing::info!(account = name, "a storage account was removed");
            Ok(json!({ "name": name }))
        }
        (_, [] | [_] | [_, "keys"] | [_, "keys", _, "regenerate"]) => Err(wrong_verb()),
        _ => Err(nothing_at(head.uri.path())),
    }
}

async fn new_name(body: Incoming) -> Result<String, Problem> {
    let body = read_body(body, BODY_BYTES_MAX).await;
    let body = body.map_err(|error| Problem::new(Kind::Invalid, error.to_string()))?;
    let new: NewAccount = serde_json::from_slice(&body).map_err(|error| {
        Problem::new(Kind::Invalid, format!("send a body like {{\"name\": \"orders\"}}: {error}"))
    })?;
    Ok(new.name)
}

async fn regenerate(admin: &Admin, name: &str, key: &str) -> Result<Value, Problem> {
    let Some(which) = StorageKeyName::find(key) else {
        let known = StorageKeyName::ALL.map(StorageKeyName::name).join(" and ");
        return Err(Problem::new(Kind::Missing, format!("there is no key '{key}'; there are {known}")));
    };
    let of = name.to_owned();
    let key = change(admin, move |accounts| accounts.rotate(&of, which)).await?;
    tracing::info!(account = name, key = which.name(), "a key of a storage account was replaced");
    Ok(json!({ "name": name, which.name(): key }))
}

/// The change is on the disk before it is told.
async fn change<T: Send + 'static>(
    admin: &Admin,
    change: impl FnOnce(&StorageAccounts) -> Result<T, StorageAccountError> + Send + 'static,
) -> Result<T, Problem> {
    let accounts = admin.accounts.clone();
    let done = tokio::task::spawn_blocking(move || change(&accounts)).await;
    done.unwrap_or_else(|error| Err(StorageAccountError::File(error.to_string())))
        .map_err(|error| problem(&error))
}

fn with_keys(account: &StorageAccount) -> Value {
    json!({ "name": account.name, "key1": account.key1, "key2": account.key2 })
}

fn problem(error: &StorageAccountError) -> Problem {
    let kind = match error {
        StorageAccountError::Name(_) | StorageAccountError::Key => Kind::Invalid,
        StorageAccountError::Exists(_) | StorageAccountError::Development => Kind::Conflict,
        StorageAccountError::Missing(_) => Kind::Missing,
        StorageAccountError::File(_) => Kind::Broken,
    };
    Problem::new(kind, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_others_may_use_want_more_than_names_do() {
        let check = |method: Method, path: &str, expected: bool| {
            assert_eq!(are_about_keys(&method, path), expected, "{method} {path}");
        };
        check(Method::GET, "/v1/accounts", false);
        check(Method::POST, "/v1/accounts", false);
        check(Method::GET, "/v1/accounts/keys/keys", true);
        check(Method::GET, "/v1/accounts/orders/keys", true);
        check(Method::POST, "/v1/accounts/orders/keys/key1/regenerate", true);
        check(Method::DELETE, "/v1/accounts/orders", true);
        check(Method::DELETE, "/v1/accountsx", false);
        assert!(has("/v1/accounts") && has("/v1/accounts/a") && !has("/v1/accountsx"));
    }
}
