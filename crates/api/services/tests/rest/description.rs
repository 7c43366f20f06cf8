//! The description says everything that there is, and nothing else.

use crate::world::{As, World};
use http::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;

async fn description(world: &World) -> Value {
    let answer = world.get(&As::Nobody, "/v1/openapi.json").await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    answer.body
}

fn operations(api: &Value) -> Vec<(String, String, Value)> {
    let paths = api["paths"].as_object().unwrap().iter();
    paths
        .flat_map(|(path, verbs)| {
            let verbs = verbs.as_object().unwrap().iter();
            verbs.map(|(verb, operation)| (path.clone(), verb.clone(), operation.clone())).collect::<Vec<_>>()
        })
        .collect()
}

#[tokio::test]
async fn it_has_the_form_of_openapi() {
    let api = description(&World::new()).await;
    assert_eq!(api["openapi"], "3.1.0");
    assert!(api["info"]["title"].is_string() && api["info"]["version"].is_string());
    let schemes = api["components"]["securitySchemes"].as_object().unwrap();
    let (mut ids, verbs) = (BTreeSet::new(), ["get", "post", "put", "patch", "delete"]);
    for (path, verb, operation) in operations(&api) {
        assert!(verbs.contains(&verb.as_str()), "{verb} {path}");
        assert!(
            ids.insert(operation["operationId"].as_str().unwrap().to_owned()),
            "{verb} {path}: its id is taken"
        );
        assert!(operation["summary"].as_str().is_some_and(|text| !text.is_empty()));
        let declared: BTreeSet<&str> = operation["parameters"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|parameter| parameter["in"] == "path")
            .map(|parameter| parameter["name"].as_str().unwrap())
            .collect();
        let named: BTreeSet<&str> =
            path.split('/').filter_map(|piece| piece.strip_prefix('{')?.strip_suffix('}')).collect();
        assert_eq!(declared, named, "{verb} {path}");
        for scheme in operation["security"].as_array().unwrap() {
            assert!(scheme.as_object().unwrap().keys().all(|name| schemes.contains_key(name)));
        }
        assert!(operation["responses"]["default"]["content"]["application/problem+json"].is_object());
        assert!(operation["responses"].as_object().unwrap().keys().any(|status| status.starts_with('2')));
    }
}

#[tokio::test]
async fn every_operation_that_it_names_is_there_and_every_other_verb_is_not() {
    let world = World::new();
    let api = description(&world).await;
    let all = operations(&api);
    assert!(all.len() >= 23, "{}", all.len());
    for (path, _, _) in &all {
        let filled = path.replace("{user}", "u").replace("{id}", "i").replace("{device}", "d");
        for verb in [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            let is_named =
                all.iter().any(|(known, name, _)| known == path && verb.as_str().eq_ignore_ascii_case(name));
            let answer = world.call(&As::Nobody, verb.clone(), &filled, &[], "").await;
            assert_eq!(answer.status == 405, !is_named, "{verb} {path}: {answer:?}");
            if !is_named {
                assert!(answer.header("allow").split(", ").all(|allowed| {
                    all.iter().any(|(known, name, _)| known == path && allowed.eq_ignore_ascii_case(name))
                }));
            }
        }
    }
}

#[tokio::test]
async fn its_references_lead_somewhere_and_its_schemas_are_schemas() {
    let api = description(&World::new()).await;
    let mut references = Vec::new();
    collect(&api, &mut references);
    assert!(references.len() > 20);
    for reference in &references {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(api.pointer(pointer).is_some(), "{reference}");
    }
    for (name, _) in api["components"]["schemas"].as_object().unwrap() {
        let mut whole = api.clone();
        whole["$ref"] = json!(format!("#/components/schemas/{name}"));
        jsonschema::draft202012::new(&whole).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|value| collect(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| collect(value, found)),
        _ => {}
    }
}

/// What the service answers is what the description says that it does.
#[tokio::test]
async fn answers_are_as_described() {
    let world = World::new();
    let api = description(&world).await;
    let check = |schema: &str, value: &Value| {
        let mut whole = api.clone();
        whole["$ref"] = json!(format!("#/components/schemas/{schema}"));
        let validator = jsonschema::draft202012::new(&whole).unwrap();
        let errors: Vec<String> = validator.iter_errors(value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{schema}: {errors:?} in {value}");
    };
    let id = world.notify("ann", "p").await;
    let ann = As::User("ann", &[]);
    check("Event", &world.get(&crate::world::ADMIN, &format!("/v1/notifications/events/{id}")).await.body);
    check("Notification", &world.get(&ann, "/v1/users/ann/notifications").await.body["items"][0]);
    check("UnreadCount", &world.get(&ann, "/v1/users/ann/notifications/unread-count").await.body);
    check("Preferences", &world.get(&ann, "/v1/users/ann/preferences").await.body);
    let device = json!({ "deviceId": "d", "platform": "apns", "pushToken": "t" });
    check("Device", &world.post(&ann, "/v1/users/ann/devices", &device).await.body);
    check("Problem", &world.get(&ann, "/v1/users/ben/devices").await.body);
    // An array of them, as the table has it.
    let jobs = &api["paths"]["/v1/notifications/jobs"]["get"]["responses"]["200"]["content"];
    assert_eq!(jobs["application/json"]["schema"]["type"], "array");
    world.notifications.run_jobs().await.unwrap();
    world.env.advance(std::time::Duration::from_secs(3_600));
    world.notifications.run_jobs().await.unwrap();
    let jobs = world.get(&crate::world::ADMIN, "/v1/notifications/jobs").await.body;
    assert!(jobs.as_array().unwrap().iter().any(|job| !job["runs"].as_array().unwrap().is_empty()), "{jobs}");
    jobs.as_array().unwrap().iter().for_each(|job| check("Job", job));
}

#[tokio::test]
async fn the_page_needs_nothing_from_outside() {
    let answer = World::new().get(&As::Nobody, "/v1/docs").await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "text/html; charset=utf-8"));
    let page = answer.body.as_str().unwrap();
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains(" src="));
    assert!(answer.header("content-security-policy").starts_with("default-src 'self'"));
    // Every kind of problem that the description knows is explained.
    let api = description(&World::new()).await;
    let kinds = api["components"]["schemas"]["Problem"]["properties"]["type"]["enum"].as_array().unwrap();
    for kind in kinds.iter().filter(|kind| **kind != "about:blank") {
        let anchor = kind.as_str().unwrap().strip_prefix("/v1/docs#").unwrap();
        assert!(page.contains(&format!("id=\"{anchor}\"")), "{anchor}");
    }
}
