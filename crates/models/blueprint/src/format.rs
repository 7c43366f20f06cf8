//! The native format: converts the tree of a YAML file to a blueprint. [docs/blueprints.md] describes every
//! member.
//!
//! [docs/blueprints.md]: ../../../../docs/blueprints.md

use crate::blueprint::{Blueprint, Capacity, CapacityTarget, Container, Environment};
use crate::container;
use crate::limits;
use crate::node::{Data, Fault, Fields, Node, fault};
use crate::query::{NamedQuery, Parameter, ParameterType};
use crate::storage;
use orrery_core::DatabaseName;
use orrery_core::limits::NAME_CHARS_MAX;
use serde_json::{Map, Value, json};

pub(crate) fn read(root: &Node) -> Result<Blueprint, Fault> {
    let mut fields = Fields::of("a blueprint", root)?;
    let name = fields.required("blueprint")?;
    let database = fields.take("database");
    let storage = fields.take("storage");
    let mut blueprint = Blueprint {
        name: identifier(name, "the name of a blueprint")?,
        about: text(fields.take("about"), "'about'")?,
        database: database.map(database_name).transpose()?,
        capacity: capacity(fields.take("environments"))?,
        containers: Vec::new(),
        queries: Vec::new(),
        storage: storage.map(storage::yaml::read).transpose()?.unwrap_or_default(),
        notes: Vec::new(),
    };
    // What is in a database, or the database itself, is optional beside storage only.
    if blueprint.storage.is_empty() && blueprint.database.is_none() {
        fields.required("database")?;
    }
    let containers = match blueprint.database {
        None => fields.take("containers"),
        Some(_) if !blueprint.storage.is_empty() => fields.take("containers"),
        Some(_) => Some(fields.required("containers")?),
    };
    if let (None, Some(containers)) = (&blueprint.database, containers) {
        return fault(
            containers.at,
            "containers are in a database, and the blueprint has no 'database'; add it",
        );
    }
    let containers = containers.map(|list| bounded(list, "'containers'", limits::BLUEPRINT_CONTAINERS_MAX));
    for node in containers.transpose()?.unwrap_or_default() {
        let made = read_container(node, &mut blueprint.notes)?;
        if blueprint.container(made.definition.name().as_str()).is_some() {
            return fault(node.at, format!("the container '{}' is here twice", made.definition.name()));
        }
        blueprint.containers.push(made);
    }
    if let Some(queries) = fields.take("queries") {
        let members = queries.expect_map("'queries'")?;
        if members.len() > limits::BLUEPRINT_QUERIES_MAX {
            return fault(
                queries.at,
                format!("there are more than {} queries", limits::BLUEPRINT_QUERIES_MAX),
            );
        }
        for member in members {
            let name = identifier(&Node::text(member.at, member.name.clone()), "the name of a query")?;
            let query = read_query(name, &member.value, &blueprint)?;
            blueprint.queries.push(query);
        }
    }
    fields.take("requirements");
    fields.finish()?;
    Ok(blueprint)
}

fn database_name(node: &Node) -> Result<DatabaseName, Fault> {
    DatabaseName::parse(node.expect_text("'database'")?)
        .map_err(|error| Fault { at: node.at, reason: error.to_string() })
}

fn read_container(node: &Node, notes: &mut Vec<String>) -> Result<Container, Fault> {
    let mut fields = Fields::of("a container", node)?;
    let mut body = Map::new();
    body.insert("id".into(), fields.required("id")?.expect_text("'id'")?.into());
    let about = text(fields.take("about"), "'about'")?;
    body.insert("partitionKey".into(), partition_key(fields.required("partitionKey")?)?);
    if let Some(ttl) = fields.take("defaultTtl") {
        body.insert("defaultTtl".into(), ttl.expect_integer("'defaultTtl'")?.into());
    }
    if let Some(keys) = fields.take("uniqueKeys") {
        body.insert("uniqueKeyPolicy".into(), unique_keys(keys)?);
    }
    // In the service's JSON form.
    for name in PASSED_ON {
        if let Some(given) = fields.take(name) {
            body.insert(name.to_owned(), given.to_value());
        }
    }
    let capacity = capacity(fields.take("environments"))?;
    let schema = schema(&mut fields)?;
    let fixtures = match fields.take("fixtures") {
        None => Vec::new(),
        Some(list) => bounded(list, "'fixtures'", limits::BLUEPRINT_FIXTURES_MAX)?
            .iter()
            .map(fixture)
            .collect::<Result<_, _>>()?,
    };
    fields.take("requirements");
    fields.finish()?;
    let made = container::define(node.at, body)?;
    notes.extend(made.notes);
    Ok(Container {
        about,
        definition: made.definition,
        has_policy: made.has_policy,
        capacity,
        schema,
        fixtures,
    })
}

const PASSED_ON: [&str; 7] = [
    "indexingPolicy",
    "analyticalStorageTtl",
    "conflictResolutionPolicy",
    "computedProperties",
    "vectorEmbeddingPolicy",
    "fullTextPolicy",
    "changeFeedPolicy",
];

/// `/a`, or a list of paths for a hierarchical key.
fn partition_key(node: &Node) -> Result<Value, Fault> {
    match &node.data {
        Data::Text(path) => Ok(json!({"paths": [path], "kind": "Hash", "version": 2})),
        Data::List(paths) => {
            let texts = paths.iter().map(|path| path.expect_text("a path of a partition key"));
            let texts = texts.collect::<Result<Vec<_>, _>>()?;
            let kind = if texts.len() > 1 { "MultiHash" } else { "Hash" };
            Ok(json!({"paths": texts, "kind": kind, "version": 2}))
        }
        _ => fault(node.at, "'partitionKey' must be a path like /userId, or a list of paths"),
    }
}

/// The paths of each key; a single path may be given without a list.
fn unique_keys(node: &Node) -> Result<Value, Fault> {
    let keys = node.expect_list("'uniqueKeys'")?.iter().map(|key| match &key.data {
        Data::Text(path) => Ok(json!({"paths": [path]})),
        _ => {
            key.expect_list("a unique key")?;
            Ok(json!({"paths": key.to_value()}))
        }
    });
    Ok(json!({"uniqueKeys": keys.collect::<Result<Vec<_>, Fault>>()?}))
}

fn capacity(node: Option<&Node>) -> Result<Capacity, Fault> {
    let mut capacity = Capacity::default();
    let Some(node) = node else { return Ok(capacity) };
    for member in node.expect_map("'environments'")? {
        let environment: Environment =
            member.name.parse().map_err(|reason| Fault { at: member.at, reason })?;
        capacity.set(environment, wanted(&member.value)?);
    }
    Ok(capacity)
}

fn wanted(node: &Node) -> Result<CapacityTarget, Fault> {
    if node.as_text() == Some("serverless") {
        return Ok(CapacityTarget::Serverless);
    }
    let like = "throughput is serverless, {manual: 400} or {autoscale: 4000}";
    if !matches!(node.data, Data::Map(_)) {
        return fault(node.at, like);
    }
    let mut fields = Fields::of("throughput", node)?;
    let units = |given: Option<&Node>| given.map(|node| node.expect_integer("throughput")).transpose();
    let (manual, autoscale) = (units(fields.take("manual"))?, units(fields.take("autoscale"))?);
    fields.finish()?;
    match container::throughput(node.at, manual, autoscale)? {
        Some(throughput) => Ok(CapacityTarget::Provisioned(throughput)),
        None => fault(node.at, like),
    }
}

fn schema(fields: &mut Fields<'_>) -> Result<Option<Value>, Fault> {
    let validation = fields.take("validation");
    let (one, several) = (fields.take("schema"), fields.take("schemas"));
    let mode = match validation.map(|node| (node, node.as_text())) {
        None => "off",
        Some((_, Some(mode @ ("off" | "warn" | "enforce")))) => mode,
        Some((node, _)) => return fault(node.at, "'validation' is off, warn or enforce"),
    };
    let mut body = Map::from_iter([("validation".to_owned(), json!(mode))]);
    match (one, several) {
        (None, None) => match validation {
            Some(node) if mode != "off" => {
                return fault(node.at, "there is nothing to validate by; add 'schema' or 'schemas'");
            }
            _ => return Ok(None),
        },
        (Some(_), Some(both)) => return fault(both.at, "there is 'schema' and 'schemas'; keep one of them"),
        (Some(one), None) => {
            one.expect_map("'schema'")?;
            body.insert("schema".into(), one.to_value());
        }
        (None, Some(several)) => {
            let mut members = Fields::of("'schemas'", several)?;
            members.required("member")?.expect_text("'member'")?;
            members.required("of")?.expect_map("'of'")?;
            members.finish()?;
            body.insert("schemas".into(), several.to_value());
        }
    }
    Ok(Some(Value::Object(body)))
}

fn fixture(node: &Node) -> Result<Map<String, Value>, Fault> {
    let item = node.expect_object("an example item")?;
    if !item.get("id").is_some_and(Value::is_string) {
        return fault(node.at, "an example item needs an 'id' of text, so that it is inserted once");
    }
    Ok(item)
}

fn read_query(name: String, node: &Node, blueprint: &Blueprint) -> Result<NamedQuery, Fault> {
    let mut fields = Fields::of("a query", node)?;
    let about = text(fields.take("about"), "'about'")?;
    let container = fields.required("container")?;
    let container_name = container.expect_text("'container'")?.to_owned();
    if blueprint.container(&container_name).is_none() {
        return fault(container.at, format!("the blueprint has no container '{container_name}'"));
    }
    let sql = fields.required("sql")?.expect_text("'sql'")?.trim().to_owned();
    let mut parameters = Vec::new();
    if let Some(given) = fields.take("parameters") {
        for member in given.expect_map("'parameters'")? {
            parameters.push(parameter(member.name.trim_start_matches('@'), &member.value)?);
        }
    }
    let partition_key = match fields.take("partitionKey") {
        None => Vec::new(),
        Some(node) => names(node, &parameters)?,
    };
    let index = fields.take("index").map(index).transpose()?;
    let rows = fields.take("rows").map(|node| node.expect_integer("'rows'")).transpose()?;
    fields.take("requirements");
    fields.finish()?;
    let rows = rows.and_then(|rows| u64::try_from(rows).ok());
    Ok(NamedQuery { name, about, container: container_name, sql, parameters, partition_key, index, rows })
}

fn parameter(name: &str, node: &Node) -> Result<Parameter, Fault> {
    let mut fields = Fields::of("a parameter", node)?;
    let kind = match fields.take("type") {
        None => ParameterType::Any,
        Some(node) => {
            let text = node.expect_text("'type'")?;
            text.parse().map_err(|reason| Fault { at: node.at, reason })?
        }
    };
    let example = fields.take("example").map(Node::to_value);
    let about = text(fields.take("about"), "'about'")?;
    fields.finish()?;
    Ok(Parameter { name: name.to_owned(), kind, example, about })
}

/// The parameter or parameters that form the partition key.
fn names(node: &Node, parameters: &[Parameter]) -> Result<Vec<String>, Fault> {
    let nodes = match &node.data {
        Data::List(list) => list.as_slice(),
        _ => std::slice::from_ref(node),
    };
    let name = |node: &Node| {
        let name = node.expect_text("'partitionKey' of a query")?.trim_start_matches('@').to_owned();
        if parameters.iter().any(|parameter| parameter.name == name) {
            return Ok(name);
        }
        fault(node.at, format!("the query has no parameter '{name}' that could be its partition key"))
    };
    nodes.iter().map(name).collect()
}

fn index(node: &Node) -> Result<Vec<Vec<String>>, Fault> {
    let part = |part: &Node| part.expect_text("a part of an index, like /a ASC").map(str::to_owned);
    let one = |one: &Node| one.expect_list("an index")?.iter().map(part).collect();
    node.expect_list("'index'")?.iter().map(one).collect()
}

pub(crate) fn text(node: Option<&Node>, what: &str) -> Result<Option<String>, Fault> {
    node.map(|node| node.expect_text(what).map(|text| text.trim().to_owned())).transpose()
}

/// Names of blueprints and queries occur in paths and on command lines.
fn identifier(node: &Node, what: &str) -> Result<String, Fault> {
    let text = node.expect_text(what)?;
    let is_plain = text.chars().all(|one| one.is_ascii_alphanumeric() || matches!(one, '-' | '_' | '.'));
    if text.is_empty() || !is_plain || text.len() > NAME_CHARS_MAX {
        return fault(
            node.at,
            format!("{what} is made of letters, digits, '-', '_' and '.', and '{text}' is not"),
        );
    }
    Ok(text.to_owned())
}

pub(crate) fn bounded<'n>(node: &'n Node, what: &str, max: usize) -> Result<&'n [Node], Fault> {
    let list = node.expect_list(what)?;
    if list.len() > max {
        return fault(node.at, format!("{what} has more than {max} entries"));
    }
    Ok(list)
}
