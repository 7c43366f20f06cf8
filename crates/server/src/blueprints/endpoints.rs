//! `/v1/blueprints` of the services port: which there are, what is in them, and their named queries.
//!
//! Rows of queries are items, so they are for administrators (`caller`).

use super::at_start::own_account;
use crate::services::{Problem, Services};
use http::request::Parts;
use http::{Method, StatusCode};
use orrery_blueprint::{Blueprint, Container, NamedQuery};
use orrery_cli::blueprints::{Named, Page, ask_named};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const ROOT: &str = "/v1/blueprints";
/// What is not a parameter of the query: where to go on, and how many rows a page has.
const CONTINUATION: &str = "$continuation";
const TOP: &str = "$top";

pub fn has(path: &str) -> bool {
    path.strip_prefix(ROOT).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

pub async fn handle(services: &Services, head: &Parts) -> Result<Value, Problem> {
    if head.method != Method::GET {
        return Err((StatusCode::METHOD_NOT_ALLOWED, "the verb is not allowed here".to_owned()));
    }
    let path = head.uri.path();
    let segments: Vec<&str> = path.split('/').skip(3).filter(|segment| !segment.is_empty()).collect();
    match segments.as_slice() {
        [] => Ok(json!({"blueprints": services.blueprints.all.iter().map(listed).collect::<Vec<_>>()})),
        [blueprint] => Ok(shown(find(services, blueprint)?)),
        [blueprint, "queries"] => {
            let queries = find(services, blueprint)?.queries.iter().map(NamedQuery::shown);
            Ok(json!({"queries": queries.collect::<Vec<_>>()}))
        }
        [blueprint, "queries", query] => {
            ask(services, find(services, blueprint)?, query, head.uri.query()).await
        }
        _ => Err((StatusCode::NOT_FOUND, format!("there is nothing at {path}"))),
    }
}

fn find<'s>(services: &'s Services, name: &str) -> Result<&'s Blueprint, Problem> {
    services.blueprints.find(name).ok_or_else(|| {
        let names: Vec<&str> = services.blueprints.all.iter().map(|one| one.name.as_str()).collect();
        (StatusCode::NOT_FOUND, format!("there is no blueprint '{name}'; there are {}", names.join(", ")))
    })
}

async fn ask(
    services: &Services,
    blueprint: &Blueprint,
    name: &str,
    query: Option<&str>,
) -> Result<Value, Problem> {
    let found =
        blueprint.query(name).ok_or_else(|| (StatusCode::NOT_FOUND, blueprint.unknown_query(name)))?;
    let mut given = pairs(query.unwrap_or_default())?;
    let (continuation, top) = (given.remove(CONTINUATION), given.remove(TOP));
    let filled =
        Named::new(blueprint, found, &given).map_err(|sentence| (StatusCode::BAD_REQUEST, sentence))?;
    let account = own_account(services, services.blueprints.own);
    let account = account.map_err(|sentence| (StatusCode::INTERNAL_SERVER_ERROR, sentence))?;
    let page = Page { continuation: continuation.as_deref(), rows_max: top.as_deref() };
    let mut answer = ask_named(&account, services.store.env().now(), &filled, &page).await?;
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
            decoded.map_err(|_| (StatusCode::BAD_REQUEST, "the parameters are not UTF-8".to_owned()))
        };
        let name = decoded(name)?;
        if found.insert(name.clone(), decoded(value)?).is_some() {
            return Err((StatusCode::BAD_REQUEST, format!("the parameter '{name}' is given twice")));
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
        "database": blueprint.database.as_str(),
        "containers": containers.collect::<Vec<_>>(),
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
        "database": blueprint.database.as_str(),
        "containers": blueprint.containers.iter().map(container).collect::<Vec<_>>(),
        "queries": blueprint.queries.iter().map(NamedQuery::shown).collect::<Vec<_>>(),
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
        assert!(pairs("a=1&a=2").is_err_and(|(_, sentence)| sentence.contains("'a' is given twice")));
        assert!(pairs("a=%FF").is_err());
    }

    #[test]
    fn only_paths_below_the_root_are_ours() {
        assert!(has("/v1/blueprints") && has("/v1/blueprints/b/queries/q"));
        assert!(!has("/v1/blueprintsx") && !has("/v1"));
    }
}
