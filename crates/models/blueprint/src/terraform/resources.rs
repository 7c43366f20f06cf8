//! Reads the three supported resources of Cosmos DB, attribute by attribute.

use super::module::{Declared, Module};
use super::scope::{Scope, turns};
use crate::account::Account;
use crate::container;
use crate::node::{Data, Fault, Node, fault};
use hcl_edit::structure::{Block, Body};
use orrery_documents::definition::Throughput;
use serde_json::{Map, Value, json};

pub(super) fn gather<'m>(module: &'m Module<'m>) -> Result<Account, Fault> {
    let mut account = Account::default();
    for declared in module.resources("azurerm_cosmosdb_account") {
        account.is_serverless |= is_serverless(&Scope::new(module, declared.file), declared)?;
    }
    for declared in module.resources("azurerm_cosmosdb_sql_database") {
        for (scope, _) in turns(module, declared)? {
            let name = required(&scope, declared, "name")?;
            let throughput = throughput(&scope, declared)?;
            account.add_database(declared.at(), name.expect_text("'name'")?, throughput)?;
        }
    }
    for declared in module.resources("azurerm_cosmosdb_sql_container") {
        for (scope, _) in turns(module, declared)? {
            add_container(&scope, declared, &mut account)?;
        }
    }
    Ok(account)
}

fn is_serverless(scope: &Scope<'_>, declared: Declared<'_>) -> Result<bool, Fault> {
    for block in declared.block.body.get_blocks("capabilities") {
        if optional(scope, &block.body, "name")?
            .is_some_and(|name| name.as_text() == Some("EnableServerless"))
        {
            return Ok(true);
        }
    }
    Ok(false)
}

fn add_container(scope: &Scope<'_>, declared: Declared<'_>, account: &mut Account) -> Result<(), Fault> {
    refuse_dynamic(scope, &declared.block.body)?;
    let body = &declared.block.body;
    let database = required(scope, declared, "database_name")?;
    let mut made = Map::new();
    made.insert("id".into(), required(scope, declared, "name")?.expect_text("'name'")?.into());
    made.insert("partitionKey".into(), partition_key(scope, declared)?);
    for (name, member) in [("default_ttl", "defaultTtl"), ("analytical_storage_ttl", "analyticalStorageTtl")]
    {
        if let Some(ttl) = optional(scope, body, name)? {
            made.insert(member.into(), ttl.expect_integer(name)?.into());
        }
    }
    let keys = body.get_blocks("unique_key").map(|block| {
        let paths = optional(scope, &block.body, "paths")?;
        Ok(json!({"paths": paths.map(|paths| paths.to_value())}))
    });
    let keys = keys.collect::<Result<Vec<_>, Fault>>()?;
    if !keys.is_empty() {
        made.insert("uniqueKeyPolicy".into(), json!({"uniqueKeys": keys}));
    }
    if let Some(block) = body.get_blocks("indexing_policy").next() {
        made.insert("indexingPolicy".into(), indexing_policy(scope, block)?);
    }
    if let Some(block) = body.get_blocks("conflict_resolution_policy").next() {
        made.insert("conflictResolutionPolicy".into(), conflicts(scope, block)?);
    }
    let throughput = throughput(scope, declared)?;
    account.add_container(declared.at(), database.expect_text("'database_name'")?, made, throughput)
}

/// The old attribute and the new list.
fn partition_key(scope: &Scope<'_>, declared: Declared<'_>) -> Result<Value, Fault> {
    let body = &declared.block.body;
    let paths =
        match (optional(scope, body, "partition_key_paths")?, optional(scope, body, "partition_key_path")?) {
            (Some(paths), None) => paths.to_value(),
            (None, Some(path)) => json!([path.expect_text("'partition_key_path'")?]),
            (Some(_), Some(_)) => {
                return fault(
                    declared.at(),
                    "there is partition_key_path and partition_key_paths; keep one of them",
                );
            }
            (None, None) => {
                return fault(declared.at(), "the container has no 'partition_key_paths'; add it");
            }
        };
    let mut key = Map::from_iter([("paths".to_owned(), paths.clone())]);
    let several = paths.as_array().is_some_and(|paths| paths.len() > 1);
    let kind = optional(scope, body, "partition_key_kind")?.map(|kind| kind.to_value());
    key.insert("kind".into(), kind.unwrap_or_else(|| json!(if several { "MultiHash" } else { "Hash" })));
    let version = optional(scope, body, "partition_key_version")?;
    let version = version.map(|version| version.expect_integer("'partition_key_version'")).transpose()?;
    key.insert("version".into(), version.unwrap_or(2).into());
    Ok(Value::Object(key))
}

fn indexing_policy(scope: &Scope<'_>, block: &Block) -> Result<Value, Fault> {
    refuse_dynamic(scope, &block.body)?;
    let body = &block.body;
    let mode = optional(scope, body, "indexing_mode")?.map_or(json!("consistent"), |mode| mode.to_value());
    let is_off = mode.as_str().is_some_and(|mode| mode.eq_ignore_ascii_case("none"));
    let mut policy = Map::from_iter([
        ("indexingMode".to_owned(), mode),
        ("automatic".to_owned(), json!(!is_off)),
        ("includedPaths".to_owned(), paths(scope, body, "included_path")?),
        ("excludedPaths".to_owned(), paths(scope, body, "excluded_path")?),
    ]);
    let composites = body.get_blocks("composite_index").map(|block| {
        let parts = block.body.get_blocks("index").map(|part| {
            let member = |name: &str| optional(scope, &part.body, name);
            let order = member("order")?.map_or("ascending".to_owned(), |order| {
                order.as_text().unwrap_or_default().to_ascii_lowercase()
            });
            Ok(json!({"path": member("path")?.map(|path| path.to_value()), "order": order}))
        });
        Ok(Value::Array(parts.collect::<Result<_, Fault>>()?))
    });
    let composites = composites.collect::<Result<Vec<_>, Fault>>()?;
    if !composites.is_empty() {
        policy.insert("compositeIndexes".into(), Value::Array(composites));
    }
    if body.has_blocks("spatial_index") {
        policy.insert("spatialIndexes".into(), spatial(scope, body)?);
    }
    Ok(Value::Object(policy))
}

fn paths(scope: &Scope<'_>, body: &Body, name: &str) -> Result<Value, Fault> {
    let entries = body.get_blocks(name).map(|block| {
        let path = optional(scope, &block.body, "path")?;
        Ok(json!({"path": path.map(|path| path.to_value())}))
    });
    Ok(Value::Array(entries.collect::<Result<_, Fault>>()?))
}

/// Terraform lists only paths; the types are then all of them.
fn spatial(scope: &Scope<'_>, body: &Body) -> Result<Value, Fault> {
    let Value::Array(mut entries) = paths(scope, body, "spatial_index")? else { return Ok(json!([])) };
    for entry in &mut entries {
        entry["types"] = json!(["Point", "LineString", "Polygon", "MultiPolygon"]);
    }
    Ok(Value::Array(entries))
}

fn conflicts(scope: &Scope<'_>, block: &Block) -> Result<Value, Fault> {
    let mut policy = Map::new();
    for (name, member) in [
        ("mode", "mode"),
        ("conflict_resolution_path", "conflictResolutionPath"),
        ("conflict_resolution_procedure", "conflictResolutionProcedure"),
    ] {
        if let Some(value) = optional(scope, &block.body, name)? {
            policy.insert(member.into(), value.to_value());
        }
    }
    Ok(Value::Object(policy))
}

fn throughput(scope: &Scope<'_>, declared: Declared<'_>) -> Result<Option<Throughput>, Fault> {
    let body = &declared.block.body;
    let integer = |node: Option<Node>| node.map(|node| node.expect_integer("throughput")).transpose();
    let manual = integer(optional(scope, body, "throughput")?)?;
    let autoscale = match body.get_blocks("autoscale_settings").next() {
        None => None,
        Some(block) => integer(optional(scope, &block.body, "max_throughput")?)?,
    };
    container::throughput(declared.at(), manual, autoscale)
}

pub(super) fn required(scope: &Scope<'_>, declared: Declared<'_>, name: &str) -> Result<Node, Fault> {
    match optional(scope, &declared.block.body, name)? {
        Some(value) => Ok(value),
        None => fault(declared.at(), format!("the resource has no '{name}'; add it")),
    }
}

/// `null` counts as absent.
pub(super) fn optional(scope: &Scope<'_>, body: &Body, name: &str) -> Result<Option<Node>, Fault> {
    let Some(attribute) = body.get_attribute(name) else { return Ok(None) };
    Ok(Some(scope.value(&attribute.value)?).filter(|value| value.data != Data::Null))
}

pub(super) fn refuse_dynamic(scope: &Scope<'_>, body: &Body) -> Result<(), Fault> {
    match body.get_blocks("dynamic").next() {
        None => Ok(()),
        Some(block) => {
            fault(scope.file.place(block), "dynamic blocks are not evaluated here; write them out")
        }
    }
}
