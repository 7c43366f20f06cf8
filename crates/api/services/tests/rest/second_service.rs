//! A second service needs no edit in the API: its routes answer, it is described, its checks count, and its idempotency
//! records are its own.

use crate::world::{ADMIN, As, World};
use http::{Method, StatusCode};
use orrery_kit::ports::documents::{Documents, Write};
use orrery_kit::service::{
    Alias, Check, Endpoint, Request, Response, Route, Service, ServiceError, Shape, Stores, Verdict, Who,
};
use orrery_kit::{PARTITION, service_container};
use serde_json::{Value, json};
use std::sync::Arc;

const OWN: &str = "counters_service";

/// Counts by name, in its own container.
#[derive(Clone)]
struct Counters(Arc<Stores>);

impl Counters {
    fn new(documents: Documents) -> Self {
        Self(Arc::new(Stores::new(documents, vec![service_container(OWN)], OWN)))
    }

    async fn count(&self, name: &str) -> Result<u64, ServiceError> {
        let found = self.0.documents().read(OWN, name, "count").await?;
        Ok(found.and_then(|item| item.value["count"].as_u64()).unwrap_or_default())
    }
}

async fn show(counters: Counters, request: Request) -> Result<Response, ServiceError> {
    Ok(Response::ok(json!({ "count": counters.count(request.path("name")).await? })))
}

/// Not idempotent by itself: only the record of its key keeps a repeat from counting twice.
async fn add(counters: Counters, request: Request) -> Result<Response, ServiceError> {
    let name = request.path("name");
    let by = request.json()?["by"].as_u64().ok_or_else(|| ServiceError::invalid("by", "it is a number"))?;
    let count = counters.count(name).await? + by;
    let item = json!({ "id": "count", PARTITION: name, "count": count });
    counters.0.documents().write(OWN, name, Write::Upsert { item, if_match: None }).await?;
    Ok(Response::with_status(StatusCode::CREATED, json!({ "count": count })))
}

impl Service for Counters {
    fn name(&self) -> &'static str {
        "counters"
    }

    fn routes(&self) -> Vec<Endpoint> {
        let count = Shape::Named("Count");
        vec![
            Route::get("/v1/counters/{name}", "getCount", "How far a counter is", Who::Role("read"))
                .returns(200, count)
                .to(self, show),
            Route::post("/v1/counters/{name}/add", "addToCount", "Count on", Who::Role("write"))
                .with_body(Shape::Object)
                .returns(201, count)
                .idempotent()
                .to(self, add),
        ]
    }

    fn schemas(&self) -> Vec<(&'static str, Value)> {
        vec![("Count", json!({ "type": "object", "properties": { "count": { "type": "integer" } } }))]
    }

    fn aliases(&self) -> Vec<Alias> {
        vec![Alias { prefix: "/api/count", path: "/v1/counters" }]
    }

    fn stores(&self) -> &Stores {
        &self.0
    }

    fn health(&self) -> Vec<Check> {
        vec![Check::new("counting", Verdict::Bad, "a wheel is stuck")]
    }
}

fn world() -> World {
    World::with_another(|documents| Arc::new(Counters::new(documents)))
}

async fn add_with_key(world: &World, key: &str, by: u64) -> (u16, Value) {
    let body = json!({ "by": by }).to_string();
    let answer =
        world.call(&ADMIN, Method::POST, "/v1/counters/c/add", &[("idempotency-key", key)], &body).await;
    (answer.status, answer.body)
}

#[tokio::test]
async fn its_routes_answer_to_those_who_may_call() {
    let world = world();
    assert_eq!(world.get(&ADMIN, "/v1/counters/c").await.body, json!({ "count": 0 }));
    assert_eq!(world.post(&ADMIN, "/v1/counters/c/add", &json!({ "by": 2 })).await.status, 201);
    for (who, status) in [
        (As::User("ann", &["counters.read"]), 200),
        (As::User("ann", &["counters.admin"]), 200),
        (As::User("ann", &["notifications.admin"]), 403),
        (As::Nobody, 401),
    ] {
        for path in ["/v1/counters/c", "/api/count/c"] {
            assert_eq!(world.get(&who, path).await.status, status, "{who:?} {path}");
        }
    }
    let invalid = world.post(&ADMIN, "/v1/counters/c/add", &json!({})).await;
    assert_eq!((invalid.status, &invalid.body["member"]), (400, &json!("by")));
    assert_eq!(world.get(&ADMIN, "/v1/counters").await.status, 404);
    assert_eq!(world.post(&ADMIN, "/v1/counters/c", &Value::Null).await.status, 405);
    assert!(world.api.has("/v1/counters") && world.api.has("/api/count/c") && !world.api.has("/v1/clock"));
    // The first one is not disturbed.
    assert_eq!(world.get(&ADMIN, "/v1/notifications/stats").await.status, 200);
}

#[tokio::test]
async fn it_is_in_the_description() {
    let description = world().get(&As::Nobody, "/v1/openapi.json").await.body;
    let operation = &description["paths"]["/v1/counters/{name}/add"]["post"];
    assert_eq!((&operation["operationId"], &operation["tags"]), (&json!("addToCount"), &json!(["counters"])));
    assert!(operation["parameters"].as_array().unwrap().iter().any(|one| one["name"] == "Idempotency-Key"));
    assert_eq!(description["components"]["schemas"]["Count"]["type"], "object");
    assert!(description["paths"]["/v1/notifications/events"]["post"].is_object());
}

#[tokio::test]
async fn its_checks_count_for_readiness() {
    let readiness = world().api.readiness();
    assert!(readiness.is_degraded);
    let line = json!({ "about": "counting", "verdict": "bad", "sentence": "a wheel is stuck" });
    assert_eq!(
        readiness.services["counters"],
        json!({ "checks": [line], "troubles": ["a wheel is stuck"], "missing": [] })
    );
    assert_eq!(readiness.services["notifications"]["troubles"], json!([]));
    assert!(!World::new().api.readiness().is_degraded);
}

#[tokio::test]
async fn a_repeated_key_returns_the_first_response_from_its_own_records() {
    let world = world();
    let first = add_with_key(&world, "k", 3).await;
    assert_eq!(first, (201, json!({ "count": 3 })));
    assert_eq!(add_with_key(&world, "k", 3).await, first);
    assert_eq!(add_with_key(&world, "k", 4).await.0, 422);
    assert_eq!(add_with_key(&world, "l", 3).await.1, json!({ "count": 6 }));
    let records = world.documents.changes(OWN, None, None, 100).await.unwrap().items;
    assert_eq!(records.iter().filter(|item| item["kind"] == "idempotency").count(), 2);
    // The same key of the other service is another key, in another container.
    let event = crate::world::event("ann", "p").to_string();
    let path = "/v1/notifications/events";
    let sent = world.call(&ADMIN, Method::POST, path, &[("idempotency-key", "k")], &event).await;
    assert_eq!(sent.status, 202, "{sent:?}");
    assert_eq!(world.documents.changes(OWN, None, None, 100).await.unwrap().items.len(), 3);
}
