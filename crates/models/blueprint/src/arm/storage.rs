//! Reads storage accounts, their tables and their queues.

use super::resources::Resource;
use super::scope::Scope;
use crate::node::{Fault, Node, fault};
use crate::storage::{Accounts, GivenPolicy, StorageQueue, StorageTable, names, policies};
use orrery_catalog::storage::{ServiceKind, SignedIdentifiers};

/// The type of an account, in lower case; those of its resources begin with it.
pub(super) const ACCOUNTS: &str = "microsoft.storage/storageaccounts";

/// `kind` is what follows [`ACCOUNTS`] in the type. Services in between and other kinds declare nothing.
pub(super) fn add(
    kind: &str,
    found: &Resource<'_>,
    scope: &Scope<'_>,
    accounts: &mut Accounts,
) -> Result<(), Fault> {
    let Resource { node, names, .. } = *found;
    let at = node.get("name").map_or(node.at, |name| name.at);
    let parts: Vec<&str> = names.split('/').collect();
    match (kind, parts.as_slice()) {
        ("", [account]) => accounts.declare(at, account, None),
        ("/tableservices/tables", [account, "default", own]) => {
            accounts.add_table(at, account, table(own, found, scope)?)
        }
        ("/queueservices/queues", [account, "default", own]) => {
            accounts.add_queue(at, account, queue(own, found, scope)?)
        }
        ("/tableservices/tables" | "/queueservices/queues", _) => {
            fault(at, format!("'{names}' must be account/default/name"))
        }
        _ => Ok(()),
    }
}

fn table(own: &str, found: &Resource<'_>, scope: &Scope<'_>) -> Result<StorageTable, Fault> {
    let name = names::table(found.node.at, own)?;
    let policies = access(found.properties, ServiceKind::Table, scope)?;
    Ok(StorageTable { name, about: None, columns: Vec::new(), policies, entities: Vec::new() })
}

fn queue(own: &str, found: &Resource<'_>, scope: &Scope<'_>) -> Result<StorageQueue, Fault> {
    let name = names::queue(found.node.at, own)?;
    let metadata = match found.properties.get("metadata") {
        None => None,
        Some(node) => Some(names::metadata(&scope.value(node)?)?),
    };
    let policies = access(found.properties, ServiceKind::Queue, scope)?;
    Ok(StorageQueue { name, about: None, metadata, policies, messages: Vec::new() })
}

/// `signedIdentifiers`, a list of `{id, accessPolicy: {startTime, expiryTime, permission}}`.
fn access(
    properties: &Node,
    service: ServiceKind,
    scope: &Scope<'_>,
) -> Result<Option<SignedIdentifiers>, Fault> {
    let Some(list) = properties.get("signedIdentifiers") else { return Ok(None) };
    let list = scope.value(list)?;
    let one = |node: &Node| {
        let Some(id) = node.get("id") else { return fault(node.at, "an access policy has no 'id'; add it") };
        let member = |name: &str| node.get("accessPolicy").and_then(|policy| policy.get(name)).cloned();
        Ok(GivenPolicy {
            at: node.at,
            id: id.expect_text("'id'")?.to_owned(),
            start: member("startTime"),
            expiry: member("expiryTime"),
            permissions: member("permission"),
        })
    };
    let given =
        list.expect_list("'signedIdentifiers'")?.iter().map(one).collect::<Result<Vec<_>, Fault>>()?;
    policies(list.at, service, given).map(Some)
}
