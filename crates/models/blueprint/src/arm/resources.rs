//! Walks the resources of a template; reads those of Cosmos DB's SQL API, and passes those of storage on.

use super::scope::Scope;
use super::{Gathered, storage};
use crate::account::Account;
use crate::container;
use crate::limits;
use crate::node::{Data, Fault, Node, fault};
use orrery_documents::definition::Throughput;
use serde_json::Value;
use std::collections::BTreeMap;

/// All resources below `resources` of a template.
pub(super) fn gather(template: &Node, scope: &Scope<'_>, gathered: &mut Gathered) -> Result<(), Fault> {
    let mut late = Vec::new();
    below(template, scope, None, gathered, &mut late)?;
    // A separate throughput resource may precede its owner.
    for settings in late {
        let names: Vec<&str> = settings.names.split('/').collect();
        match names.as_slice() {
            [_, database, "default"] => {
                gathered.account.set_throughput(settings.at, database, None, settings.throughput)?
            }
            [_, database, container, "default"] => {
                gathered.account.set_throughput(
                    settings.at,
                    database,
                    Some(container),
                    settings.throughput,
                )?;
            }
            _ => {
                return fault(
                    settings.at,
                    "throughput settings are named default, below what they belong to",
                );
            }
        }
    }
    Ok(())
}

/// A resource with its full name, `account/…/own`.
#[derive(Clone, Copy)]
pub(super) struct Resource<'t> {
    pub node: &'t Node,
    pub properties: &'t Node,
    pub names: &'t str,
    is_existing: bool,
}

struct Settings {
    at: crate::node::Location,
    names: String,
    throughput: Throughput,
}

/// The enclosing resource.
struct Owner {
    kind: String,
    names: String,
}

fn below<'t>(
    node: &'t Node,
    scope: &Scope<'t>,
    owner: Option<&Owner>,
    gathered: &mut Gathered,
    late: &mut Vec<Settings>,
) -> Result<(), Fault> {
    let Some(resources) = node.get("resources") else { return Ok(()) };
    scope.budget().deeper(resources.at, || match &resources.data {
        Data::List(list) => list.iter().try_for_each(|one| turns(one, scope, owner, gathered, late)),
        // Templates with symbolic names use an object.
        Data::Map(members) => {
            members.iter().try_for_each(|one| turns(&one.value, scope, owner, gathered, late))
        }
        _ => fault(resources.at, "'resources' must be a list or an object"),
    })
}

/// Reads the resource, once for each iteration of its copy loop.
fn turns<'t>(
    node: &'t Node,
    scope: &Scope<'t>,
    owner: Option<&Owner>,
    gathered: &mut Gathered,
    late: &mut Vec<Settings>,
) -> Result<(), Fault> {
    let Some(copy) = node.get("copy") else { return resource(node, scope, owner, gathered, late) };
    let Some(count) = copy.get("count") else { return fault(copy.at, "a copy loop has a 'count'") };
    let count = scope.value(count)?.expect_integer("the count of a copy loop")?;
    if count > limits::BLUEPRINT_CONTAINERS_MAX as i64 {
        return fault(copy.at, format!("a copy loop has at most {} turns", limits::BLUEPRINT_CONTAINERS_MAX));
    }
    let name = copy.get("name").and_then(Node::as_text).unwrap_or_default();
    (0..count)
        .try_for_each(|iteration| resource(node, &scope.iteration(name, iteration), owner, gathered, late))
}

fn resource<'t>(
    node: &'t Node,
    scope: &Scope<'t>,
    owner: Option<&Owner>,
    gathered: &mut Gathered,
    late: &mut Vec<Settings>,
) -> Result<(), Fault> {
    let Some(kind) = node.get("type").and_then(Node::as_text) else {
        return fault(node.at, "a resource has a 'type'");
    };
    let kind = match owner {
        Some(owner) if !kind.contains('.') => format!("{}/{kind}", owner.kind),
        _ => kind.to_owned(),
    };
    let lower = kind.to_ascii_lowercase();
    if lower == "microsoft.resources/deployments" {
        return if is_wanted(node, scope)? { deployment(node, scope, gathered) } else { Ok(()) };
    }
    let is_cosmos = lower.starts_with("microsoft.documentdb/databaseaccounts");
    let in_storage = lower.strip_prefix(storage::ACCOUNTS);
    if !(is_cosmos || in_storage.is_some()) || !is_wanted(node, scope)? {
        return Ok(());
    }
    let own = match node.get("name") {
        Some(name) => scope.value(name),
        None => return fault(node.at, "a resource has a 'name'"),
    };
    // Templates have storage accounts for other reasons, too; its resources name it themselves.
    if in_storage == Some("") && own.is_err() && node.get("resources").is_none() {
        return Ok(());
    }
    let own = own?;
    let own = own.expect_text("the name of a resource")?;
    let names = match owner {
        Some(owner) if !own.contains('/') => format!("{}/{own}", owner.names),
        _ => own.to_owned(),
    };
    let empty = Node::new(node.at, Data::Map(Vec::new()));
    let properties = node.get("properties").unwrap_or(&empty);
    let is_existing = node.get("existing").is_some_and(|existing| existing.data == Data::Bool(true));
    let found = Resource { node, properties, names: &names, is_existing };
    match in_storage {
        Some(_) if is_existing => {}
        Some(kind) => storage::add(kind, &found, scope, &mut gathered.storage)?,
        None => cosmos(&lower, &found, scope, &mut gathered.account, late)?,
    }
    below(node, scope, Some(&Owner { kind, names }), gathered, late)
}

/// A resource of Cosmos DB, by its type.
fn cosmos(
    kind: &str,
    found: &Resource<'_>,
    scope: &Scope<'_>,
    account: &mut Account,
    late: &mut Vec<Settings>,
) -> Result<(), Fault> {
    let Resource { node, properties, names, is_existing } = *found;
    match kind.trim_start_matches("microsoft.documentdb/databaseaccounts") {
        "" => account.is_serverless |= is_serverless(properties, scope)?,
        _ if is_existing => {}
        "/sqldatabases" => {
            let name = id(properties, scope)?.unwrap_or_else(|| last(names).to_owned());
            account.add_database(node.at, &name, options(properties, scope)?)?;
        }
        "/sqldatabases/containers" => add_container(node, properties, names, scope, account)?,
        "/sqldatabases/throughputsettings" | "/sqldatabases/containers/throughputsettings" => {
            if let Some(throughput) = settings(properties, scope)? {
                late.push(Settings { at: node.at, names: names.to_owned(), throughput });
            }
        }
        _ => {}
    }
    Ok(())
}

fn is_wanted(node: &Node, scope: &Scope<'_>) -> Result<bool, Fault> {
    match node.get("condition") {
        None => Ok(true),
        Some(condition) => scope.value(condition)?.expect_bool("'condition'"),
    }
}

/// A nested template: the compiled form of a Bicep module.
fn deployment<'t>(node: &'t Node, scope: &Scope<'t>, gathered: &mut Gathered) -> Result<(), Fault> {
    let Some(properties) = node.get("properties") else { return Ok(()) };
    let Some(template) = properties.get("template") else {
        return fault(node.at, "a deployment that links to another file is not followed; give that file too");
    };
    let evaluation = properties.get("expressionEvaluationOptions").and_then(|options| options.get("scope"));
    if !evaluation.and_then(Node::as_text).is_some_and(|scope| scope.eq_ignore_ascii_case("inner")) {
        return scope.budget().deeper(node.at, || gather(template, scope, gathered));
    }
    let mut given = BTreeMap::new();
    if let Some(parameters) = properties.get("parameters") {
        for member in parameters.expect_map("'parameters'")? {
            // A value unknown here is an error only if something needs it.
            if let Some(Ok(value)) = member.value.get("value").map(|value| scope.value(value)) {
                given.insert(member.name.clone(), value);
            }
        }
    }
    scope.budget().deeper(node.at, || gather(template, &scope.inner(template, given), gathered))
}

fn add_container(
    node: &Node,
    properties: &Node,
    names: &str,
    scope: &Scope<'_>,
    account: &mut Account,
) -> Result<(), Fault> {
    let parts: Vec<&str> = names.split('/').collect();
    let [.., database, own] = parts.as_slice() else {
        return fault(node.at, "a container is named account/database/container");
    };
    let Some(resource) = properties.get("resource") else {
        return fault(node.at, format!("the container '{own}' has no 'properties.resource'"));
    };
    let resource = scope.value(resource)?;
    let mut body = resource.expect_object("'properties.resource'")?;
    body.retain(|_, value| !value.is_null());
    body.entry("id").or_insert_with(|| Value::from(*own));
    // The Azure portal exports these members, which describe the creation and not the resource.
    for name in ["createMode", "restoreParameters", "_rid", "_ts", "_etag"] {
        body.shift_remove(name);
    }
    account.add_container(resource.at, database, body, options(properties, scope)?)
}

fn id(properties: &Node, scope: &Scope<'_>) -> Result<Option<String>, Fault> {
    let id = properties.get("resource").and_then(|resource| resource.get("id"));
    id.map(|id| Ok(scope.value(id)?.expect_text("'id'")?.to_owned())).transpose()
}

/// The `options` of a database or container.
fn options(properties: &Node, scope: &Scope<'_>) -> Result<Option<Throughput>, Fault> {
    let Some(options) = properties.get("options") else { return Ok(None) };
    let options = scope.value(options)?;
    let autoscale = options.get("autoscaleSettings").and_then(|settings| settings.get("maxThroughput"));
    units(&options, autoscale.or(options.get("autoscaleMaxThroughput")))
}

fn settings(properties: &Node, scope: &Scope<'_>) -> Result<Option<Throughput>, Fault> {
    let Some(resource) = properties.get("resource") else { return Ok(None) };
    let resource = scope.value(resource)?;
    units(&resource, resource.get("autoscaleSettings").and_then(|settings| settings.get("maxThroughput")))
}

fn units(owner: &Node, autoscale: Option<&Node>) -> Result<Option<Throughput>, Fault> {
    let integer = |node: Option<&Node>| node.map(|node| node.expect_integer("throughput")).transpose();
    container::throughput(owner.at, integer(owner.get("throughput"))?, integer(autoscale)?)
}

fn is_serverless(properties: &Node, scope: &Scope<'_>) -> Result<bool, Fault> {
    if properties
        .get("capacityMode")
        .and_then(Node::as_text)
        .is_some_and(|mode| mode.eq_ignore_ascii_case("serverless"))
    {
        return Ok(true);
    }
    let Some(capabilities) = properties.get("capabilities") else { return Ok(false) };
    let capabilities = scope.value(capabilities)?;
    let mut names = capabilities.expect_list("'capabilities'")?.iter().filter_map(|one| one.get("name"));
    Ok(names.any(|name| name.as_text() == Some("EnableServerless")))
}

fn last(names: &str) -> &str {
    names.rsplit('/').next().unwrap_or_default()
}
