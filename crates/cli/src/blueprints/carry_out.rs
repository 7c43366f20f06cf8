//! Taking the steps of a plan, one request after another.
//!
//! Each step is well by itself, so whatever breaks it off leaves something that the next apply completes. A create that
//! finds the resource there, or a replace that finds another version, means that somebody else is at work: then the server
//! is looked at anew, and the plan with it, a few times.

use super::server::Server;
use crate::client::Call;
use crate::limits;
use http::StatusCode;
use orrery_blueprint::{Blueprint, Change, Environment, Plan, Step, StorageAccount, Subject, Verdict, plan};
use orrery_documents::definition::{ContainerDefinition, Throughput};
use orrery_protocol::ascii_json;
use serde_json::{Map, Value, json};

/// How a request went that somebody else may have overtaken.
pub enum Sent {
    Done,
    Overtaken,
}

/// Example items, entities and messages: inserted, or there before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fixtures {
    pub inserted: usize,
    pub there: usize,
}

/// Makes the server as the blueprint says; `tell` hears of each step that was taken. The plan is the first one.
pub async fn apply(
    server: &mut Server,
    blueprint: &Blueprint,
    environment: Environment,
    mut tell: impl FnMut(&Step),
) -> Result<Plan, String> {
    let mut first = None;
    for _ in 0..limits::BLUEPRINT_ROUNDS_MAX {
        let planned = plan(blueprint, environment, &server.observe(blueprint).await?);
        let is_again = first.is_some();
        first.get_or_insert_with(|| planned.clone());
        if planned.is_refused() {
            return Ok(planned);
        }
        if round(server, &planned, is_again, &mut tell).await? {
            return Ok(first.unwrap_or(planned));
        }
    }
    Err(format!(
        "somebody else keeps changing what '{}' declares; try again when they are done",
        blueprint.name
    ))
}

/// Whether all steps were taken. What was told of in an earlier round is not told again.
async fn round(
    server: &mut Server,
    plan: &Plan,
    is_again: bool,
    tell: &mut impl FnMut(&Step),
) -> Result<bool, String> {
    for step in &plan.steps {
        if let Sent::Overtaken = take(server, step).await? {
            return Ok(false);
        }
        if !is_again || step.verdict != Verdict::Nothing {
            tell(step);
        }
    }
    Ok(true)
}

async fn take(server: &mut Server, step: &Step) -> Result<Sent, String> {
    let subject = &step.subject;
    match &step.verdict {
        Verdict::Nothing | Verdict::Refused(_) => return Ok(Sent::Done),
        _ => {}
    }
    match subject {
        Subject::Database { database } => {
            take_at(server, Place { database, container: "" }, &step.verdict).await
        }
        Subject::Container { database, container } => {
            take_at(server, Place { database, container }, &step.verdict).await
        }
        Subject::Account { .. } | Subject::Table { .. } | Subject::Queue { .. } => {
            server.storage()?.take(subject, &step.verdict).await
        }
    }
}

/// A database, or one of its containers.
#[derive(Clone, Copy)]
struct Place<'a> {
    database: &'a str,
    container: &'a str,
}

async fn take_at(server: &mut Server, place: Place<'_>, verdict: &Verdict) -> Result<Sent, String> {
    match verdict {
        Verdict::CreateDatabase { throughput } => {
            let body = Map::from_iter([("id".to_owned(), json!(place.database))]);
            send(server, with(Call::post(&["dbs"], &body), *throughput)).await
        }
        Verdict::CreateContainer { body, throughput, schema } => {
            let call = Call::post(&["dbs", place.database, "colls"], body);
            let sent = send(server, with(call, *throughput)).await?;
            if let (Sent::Done, Some(schema)) = (&sent, schema) {
                put_schema(server, place, schema).await?;
            }
            Ok(sent)
        }
        Verdict::Change(changes) => {
            for change in changes {
                if let Sent::Overtaken = make(server, place, change).await? {
                    return Ok(Sent::Overtaken);
                }
            }
            Ok(Sent::Done)
        }
        Verdict::CreateAccount
        | Verdict::CreateTable { .. }
        | Verdict::CreateQueue { .. }
        | Verdict::Nothing
        | Verdict::Refused(_) => Ok(Sent::Done),
    }
}

async fn make(server: &mut Server, place: Place<'_>, change: &Change) -> Result<Sent, String> {
    match change {
        Change::Definition { body, etag, .. } => {
            let path = ["dbs", place.database, "colls", place.container];
            send(server, Call::put(&path, body).header("if-match", etag.clone())).await
        }
        Change::Throughput { offer, to, .. } => {
            let mut body = Map::from_iter([("content".to_owned(), to.to_offer_content())]);
            body.insert("id".to_owned(), json!(offer));
            body.insert("offerVersion".to_owned(), json!("V2"));
            send(server, Call::put(&["offers", offer], &body)).await
        }
        Change::Schema { body } => put_schema(server, place, body).await.map(|()| Sent::Done),
        // Of tables and queues alone.
        Change::Metadata { .. } | Change::AccessPolicies { .. } => Ok(Sent::Done),
    }
}

async fn put_schema(server: &mut Server, place: Place<'_>, body: &Value) -> Result<(), String> {
    server.put_schema(place.database, place.container, body).await
}

async fn send(server: &Server, call: Call) -> Result<Sent, String> {
    let answer = server.call(&call).await?;
    match answer.status {
        StatusCode::CONFLICT | StatusCode::PRECONDITION_FAILED => Ok(Sent::Overtaken),
        status if status.is_success() => Ok(Sent::Done),
        _ => Err(format!("{}: {}", call.uri(), answer.refusal())),
    }
}

fn with(call: Call, throughput: Option<Throughput>) -> Call {
    match throughput {
        None => call,
        Some(Throughput::Manual(units)) => call.header("x-ms-offer-throughput", units.to_string()),
        Some(Throughput::Autoscale { max, .. }) => {
            call.header("x-ms-cosmos-offer-autopilot-settings", json!({"maxThroughput": max}).to_string())
        }
    }
}

/// Inserts the example items and entities that are not there; one that is stays as it is.
pub async fn insert_fixtures(server: &mut Server, blueprint: &Blueprint) -> Result<Fixtures, String> {
    let mut fixtures = Fixtures::default();
    for container in &blueprint.containers {
        let name = container.definition.name().to_string();
        for item in &container.fixtures {
            let key = partition_key(&container.definition, item);
            let call = Call::post(&["dbs", blueprint.database_name(), "colls", &name, "docs"], item);
            let answer = server.call(&call.header("x-ms-documentdb-partitionkey", key)).await?;
            match answer.status {
                StatusCode::CONFLICT => fixtures.there += 1,
                status if status.is_success() => fixtures.inserted += 1,
                _ => {
                    let id = item.get("id").and_then(Value::as_str).unwrap_or_default();
                    return Err(format!(
                        "the example item '{id}' of '{name}' is not taken: {}",
                        answer.refusal()
                    ));
                }
            }
        }
    }
    if blueprint.storage.iter().any(StorageAccount::has_fixtures) {
        server.storage()?.insert_fixtures(&blueprint.storage, &mut fixtures).await?;
    }
    Ok(fixtures)
}

/// The header's text: an array in ASCII, with an empty object for what the item has not.
fn partition_key(definition: &ContainerDefinition, item: &Map<String, Value>) -> String {
    let part = |path: &orrery_documents::definition::PropertyPath| {
        let mut names = path.segments().iter();
        let first = names.next().and_then(|name| item.get(name));
        names.fold(first, |found, name| found?.get(name)).cloned().unwrap_or_else(|| json!({}))
    };
    let parts: Vec<Value> = definition.partition_key().paths().iter().map(part).collect();
    ascii_json(&Value::Array(parts).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_partition_key_of_an_item_is_read_along_its_paths() {
        let definition = |paths: Value, kind: &str| {
            let body = json!({"id": "c", "partitionKey": {"paths": paths, "kind": kind, "version": 2}});
            ContainerDefinition::parse(body.as_object().expect("an object").clone()).expect("a definition")
        };
        let item = json!({"id": "a", "user": {"id": "é"}, "n": 1});
        let item = item.as_object().expect("an object");
        assert_eq!(partition_key(&definition(json!(["/user/id"]), "Hash"), item), "[\"\\u00e9\"]");
        assert_eq!(partition_key(&definition(json!(["/n", "/none/x"]), "MultiHash"), item), "[1,{}]");
    }
}
