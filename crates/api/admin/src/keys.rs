//! `/v1/keys` and `/v1/roles` of the services port.
//!
//! They always want a read-write credential (`server`), since other people may have an account on the machine. Keys are
//! told only over https or a connection that stays on the machine, and not through a proxy.

use crate::Admin;
use crate::accounts;
use crate::routes::{BODY_BYTES_MAX, nothing_at, wrong_verb};
use http::Method;
use http::request::Parts;
use hyper::body::Incoming;
use orrery_api_common::problem::{Kind, Problem};
use orrery_api_common::{Keys, Peer, is_forwarded, read_body};
use orrery_api_cosmos::Failure;
use orrery_documents::roles::{Assignment, Definition, Roles, Scope};
use orrery_protocol::KeyKind;
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::{Value, json};
use std::net::IpAddr;

/// The account's keys, where `server` keeps them.
pub trait AccountKeys: Send + Sync {
    fn text(&self, kind: KeyKind) -> String;

    /// Makes a new key, writes it down, and then opens the account to it.
    fn regenerate(&self, kind: KeyKind, open: &dyn Fn(Keys)) -> Result<(), String>;
}

pub fn has(path: &str) -> bool {
    ["/v1/keys", "/v1/roles"].iter().any(|root| path == *root || path.starts_with(&format!("{root}/")))
}

/// Whether a path is about keys, roles or storage accounts.
pub fn are_about_credentials(path: &str) -> bool {
    has(path) || accounts::has(path)
}

/// Whether a request shows or replaces keys of the account, or of a storage account.
pub fn are_about_keys(method: &Method, path: &str) -> bool {
    path == "/v1/keys" || path.starts_with("/v1/keys/") || accounts::are_about_keys(method, path)
}

pub async fn handle(admin: &Admin, head: &Parts, body: Incoming, peer: Peer) -> Result<Value, Problem> {
    let segments: Vec<&str> = head.uri.path().split('/').skip(2).collect();
    if segments.first() == Some(&"keys") {
        check_private(&peer, is_forwarded(&head.headers))?;
    }
    let body = read_body(body, BODY_BYTES_MAX).await;
    let body = body.map_err(|error| Problem::new(Kind::Invalid, error.to_string()))?;
    match (&head.method, &segments[..]) {
        (&Method::GET, ["keys"]) => Ok(all_keys(admin)),
        (&Method::POST, ["keys", kind, "regenerate"]) => regenerate(admin, kind).await,
        (&Method::GET, ["roles"]) => Ok(shown(&*admin.store.roles().map_err(refusal)?)),
        (&Method::POST, ["roles", "definitions"]) => define(admin, &body).await,
        (&Method::POST, ["roles", "assignments"]) => assign(admin, &body).await,
        (&Method::DELETE, ["roles", id]) => {
            let id = percent_decode_str(id).decode_utf8_lossy();
            admin.store.remove_role(&id).await.map(|roles| shown(&roles)).map_err(refusal)
        }
        (_, ["keys"] | ["keys", _, "regenerate"] | ["roles"] | ["roles", _]) => Err(wrong_verb()),
        _ => Err(nothing_at(head.uri.path())),
    }
}

pub(crate) fn check_private(peer: &Peer, is_forwarded: bool) -> Result<(), Problem> {
    if is_private(peer.scheme, peer.addr.ip(), is_forwarded) {
        return Ok(());
    }
    let sentence =
        "keys would travel in the clear; ask over https, or on the machine that the server runs on";
    Err(Problem::new(Kind::Forbidden, sentence))
}

/// Whether nobody between here and the caller can read along.
fn is_private(scheme: &str, from: IpAddr, is_forwarded: bool) -> bool {
    !is_forwarded && (scheme == "https" || from.to_canonical().is_loopback())
}

fn refusal(error: impl Into<Failure>) -> Problem {
    error.into().into()
}

fn all_keys(admin: &Admin) -> Value {
    let pairs = KeyKind::ALL.iter().map(|kind| (kind.name(), admin.keys.text(*kind)));
    pairs.collect()
}

/// The key is on the disk before the account opens to it, and both before it is told.
async fn regenerate(admin: &Admin, kind: &str) -> Result<Value, Problem> {
    let Some(kind) = KeyKind::find(kind) else {
        let known = KeyKind::ALL.map(KeyKind::name).join(", ");
        let detail = format!("there is no key '{kind}'; there are {known}");
        return Err(Problem::new(Kind::Missing, detail));
    };
    let (keys, cosmos) = (admin.keys.clone(), admin.cosmos.clone());
    let work = move || {
        keys.regenerate(kind, &|next| cosmos.access().change_keys(next))?;
        Ok(keys.text(kind))
    };
    let done: Result<String, String> =
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(error.to_string()));
    let key = done.map_err(|error| Problem::new(Kind::Broken, error))?;
    tracing::info!(kind = kind.name(), "an account key was replaced");
    Ok(json!({ kind.name(): key }))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DefinitionBody {
    id: Option<String>,
    role_name: String,
    data_actions: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AssignmentBody {
    id: Option<String>,
    principal_id: String,
    role_definition_id: String,
    scope: String,
}

async fn define(admin: &Admin, body: &[u8]) -> Result<Value, Problem> {
    let body: DefinitionBody = parse(body)?;
    let id = body.id.unwrap_or_else(|| admin.store.env().guid());
    let role = Definition::new(&id, &body.role_name, body.data_actions).map_err(refusal)?;
    admin.store.define_role(role).await.map(|roles| shown(&roles)).map_err(refusal)
}

async fn assign(admin: &Admin, body: &[u8]) -> Result<Value, Problem> {
    let body: AssignmentBody = parse(body)?;
    let id = body.id.unwrap_or_else(|| admin.store.env().guid());
    let scope = Scope::parse(&body.scope).ok_or_else(|| {
        let detail = format!("the scope '{}' is not like /, /dbs/D or /dbs/D/colls/C", body.scope);
        Problem::new(Kind::Invalid, detail)
    })?;
    let given = Assignment::new(&id, &body.principal_id, &body.role_definition_id, scope);
    let given = given.map_err(refusal)?;
    admin.store.assign_role(given).await.map(|roles| shown(&roles)).map_err(refusal)
}

fn shown(roles: &Roles) -> Value {
    let definitions = roles.definitions().map(|role| {
        let kind = if role.is_built_in() { "BuiltInRole" } else { "CustomRole" };
        json!({ "id": role.id(), "roleName": role.name(), "type": kind, "dataActions": role.data_actions() })
    });
    let assignments = roles.assignments().map(|given| {
        json!({ "id": given.id(), "principalId": given.principal(), "roleDefinitionId": given.role(),
            "scope": given.scope().to_string() })
    });
    json!({ "definitions": definitions.collect::<Vec<_>>(), "assignments": assignments.collect::<Vec<_>>() })
}

fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Problem> {
    serde_json::from_slice(body)
        .map_err(|error| Problem::new(Kind::Invalid, format!("the body is not understood: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_where_nobody_reads_along() {
        let (here, there) = ([127, 0, 0, 1].into(), [192, 0, 2, 1].into());
        assert!(is_private("http", here, false) && is_private("https", there, false));
        assert!(!is_private("http", there, false));
        assert!(!is_private("http", here, true) && !is_private("https", there, true));
    }
}
