//! `/v1/blueprints` of the services port: which there are, what is in them, and their named queries.
//!
//! Rows of queries are items, so they are for administrators (`server`).

use crate::routes::{nothing_at, wrong_verb};
use http::Method;
use http::request::Parts;
use orrery_api_common::problem::{Kind, Problem};
use orrery_blueprint::{
    Blueprint, Container, ExampleEntity, NamedQuery, StorageAccount, StorageQueue, StorageTable,
};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::pin::Pin;

const ROOT: &str = "/v1/blueprints";
/// What is not a parameter of the query: where to go on, and how many rows a page has.
const CONTINUATION: &str = "$continuation";
const TOP: &str = "$top";

/// The blueprints that the server knows, and their queries, which run as any client's do.
pub trait NamedQueries: Send + Sync {
    fn blueprints(&self) -> &[Blueprint];

    /// A page of rows with its charge, the use of indexes and where to go on.
    fn run<'a>(&'a self, request: NamedQueryRequest<'a>) -> NamedQueryAnswer<'a>;
}

pub type NamedQueryAnswer<'a> = Pin<Box<dyn Future<Output = Result<Value, Problem>> + Send + 'a>>;

pub struct NamedQueryRequest<'a> {
    pub blueprint: &'a Blueprint,
    pub query: &'a NamedQuery,
    /// The texts of its parameters, by name.
    pub given: BTreeMap<String, String>,
    pub page: Page,
}

/// Which page, as the caller wrote it.
pub struct Page {
    pub continuation: Option<String>,
    pub rows_max: Option<String>,
}

pub fn has(path: &str) -> bool {
    path.strip_prefix(ROOT).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

pub async fn handle(known: &dyn NamedQueries, head: &Parts) -> Result<Value, Problem> {
    if head.method != Method::GET {
        return Err(wrong_verb());
    }
    let path = head.uri.path();
    let segments: Vec<&str> = path.split('/').skip(3).filter(|segment| !segment.is_empty()).collect();
    match segments.as_slice() {
        [] => Ok(json!({"blueprints": known.blueprints().iter().map(listed).collect::<Vec<_>>()})),
        [blueprint] => Ok(shown(find(known, blueprint)?)),
        [blueprint, "queries"] => {
            let queries = find(known, blueprint)?.queries.iter().map(NamedQuery::shown);
            Ok(json!({"queries": queries.collect::<Vec<_>>()}))
        }
        [blueprint, "queries", query] => ask(known, find(known, blueprint)?, query, head.uri.query()).await,
        _ => Err(nothing_at(path)),
    }
}

fn find<'s>(known: &'s dyn NamedQueries, name: &str) -> Result<&'s Blueprint, Problem> {
    known.blueprints().iter().find(|blueprint| blueprint.name == name).ok_or_else(|| {
        let names: Vec<&str> = known.blueprints().iter().map(|one| one.name.as_str()).collect();
        let detail = format!("there is no blueprint '{name}'; there are {}", names.join(", "));
        Problem::new(Kind::Missing, detail)
    })
}

async fn ask(
    known: &dyn NamedQueries,
    blueprint: &Blueprint,
    name: &str,
    query: Option<&str>,
) -> Result<Value, Problem> {
    let found =
        blueprint.query(name).ok_or_else(|| Problem::new(Kind::Missing, blueprint.unknown_query(name)))?;
    let mut given = pairs(query.unwrap_or_default())?;
    let (continuation, rows_max) = (given.remove(CONTINUATION), given.remove(TOP));
    let page = Page { continuation, rows_max };
    let mut answer = known.run(NamedQueryRequest { blueprint, query: found, given, page }).await?;
    answer["blueprint"] = json!(blueprint.name);
    answer["query"] = json!(found.name);
    Ok(answer)
}

/// `a=1&b=2`, decoded; a name is there once.
fn pairs(query: &str) -> Result<BTreeMap<String, String>, Problem> {
    let mut found = BTreeMap::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let decoded = |text: &str| {
            let text = text.replace('+', " ");
            let decoded = percent_decode_str(&text).decode_utf8().map(|text| text.into_owned());
            decoded.map_err(|_| Problem::new(Kind::Invalid, "the parameters are not UTF-8"))
        };
        let name = decoded(name)?;
        if found.insert(name.clone(), decoded(value)?).is_some() {
            let detail = format!("the parameter '{name}' is given twice");
            return Err(Problem::new(Kind::Invalid, detail));
        }
    }
    Ok(found)
}

fn listed(blueprint: &Blueprint) -> Value {
    let containers = blueprint.containers.iter().map(|container| container.definition.name().as_str());
    let queries = blueprint.queries.iter().map(|query| query.name.as_str());
    json!({
        "name": blueprint.name,
        "about": blueprint.about,
        "database": database(blueprint),
        "containers": containers.collect::<Vec<_>>(),
        "storage": blueprint.storage.iter().map(listed_storage).collect::<Vec<_>>(),
        "queries": queries.collect::<Vec<_>>(),
    })
}

fn shown(blueprint: &Blueprint) -> Value {
    let container = |container: &Container| {
        json!({
            "about": container.about,
            "definition": container.definition.to_json(),
            "schema": container.schema,
            "fixtures": container.fixtures,
        })
    };
    json!({
        "name": blueprint.name,
        "about": blueprint.about,
        "database": database(blueprint),
        "containers": blueprint.containers.iter().map(container).collect::<Vec<_>>(),
        "storage": blueprint.storage.iter().map(shown_storage).collect::<Vec<_>>(),
        "queries": blueprint.queries.iter().map(NamedQuery::shown).collect::<Vec<_>>(),
    })
}

/// `null` for a blueprint of storage alone.
fn database(blueprint: &Blueprint) -> Option<&str> {
    blueprint.database.as_ref().map(|database| database.as_str())
}

fn listed_storage(account: &StorageAccount) -> Value {
    let tables = account.tables.iter().map(|table| table.name.as_str());
    let queues = account.queues.iter().map(|queue| queue.name.as_str());
    json!({
        "account": account.name.as_str(),
        "tables": tables.collect::<Vec<_>>(),
        "queues": queues.collect::<Vec<_>>(),
    })
}

fn shown_storage(account: &StorageAccount) -> Value {
    json!({
        "account": account.name.as_str(),
        "about": account.about,
        "tables": account.tables.iter().map(shown_table).collect::<Vec<_>>(),
        "queues": account.queues.iter().map(shown_queue).collect::<Vec<_>>(),
    })
}

fn shown_table(table: &StorageTable) -> Value {
    let columns = table.columns.iter().map(|(name, edm_type)| (name.clone(), json!(edm_type.name())));
    json!({
        "table": table.name.as_str(),
        "about": table.about,
        "columns": Value::Object(columns.collect()),
        "access": table.policies,
        "entities": table.entities.iter().map(ExampleEntity::to_json).collect::<Vec<_>>(),
    })
}

fn shown_queue(queue: &StorageQueue) -> Value {
    let metadata = queue.metadata.iter().flat_map(|metadata| metadata.iter());
    let metadata = metadata.map(|(name, value)| (name.to_owned(), json!(value)));
    json!({
        "queue": queue.name.as_str(),
        "about": queue.about,
        "metadata": Value::Object(metadata.collect()),
        "access": queue.policies,
        "messages": queue.messages,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded_and_there_once() {
        let found = pairs("now=2026-11-15T00%3A00%3A00Z&name=a+b&$top=3&flag").expect("pairs");
        let expected = [("$top", "3"), ("flag", ""), ("name", "a b"), ("now", "2026-11-15T00:00:00Z")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(found, BTreeMap::from(expected));
        assert!(pairs("a=1&a=2").is_err_and(|problem| problem.detail.contains("'a' is given twice")));
        assert!(pairs("a=%FF").is_err());
    }

    #[test]
    fn only_paths_below_the_root_are_ours() {
        assert!(has("/v1/blueprints") && has("/v1/blueprints/b/queries/q"));
        assert!(!has("/v1/blueprintsx") && !has("/v1"));
    }
}
