//! The examples of the tours.

use crate::asking::{ask, ended, start_awake, with_key};
use crate::fake::{Fake, device};
use crate::server::Server;
use crate::tour::{Step, Tour, assert_told, logged};
use orrery_testing_client::{Client, ContainerPath, EMULATOR_KEY, Method, OwnedReply, Request};
use serde_json::{Value, json};

const SHOW_STEPS: [&str; 2] = ["--log", "tour=trace"];

/// Runs `example` and returns the steps that the server took meanwhile. It logs a step before it goes on, so all those before
/// an answer are there.
async fn steps_of<T>(server: &Server, example: impl Future<Output = T>) -> (T, Vec<Step>) {
    let before = server.errors().len();
    let outcome = example.await;
    (outcome, logged(&server.errors()[before..]))
}

async fn make_planets(client: &mut Client) -> ContainerPath {
    let path = ContainerPath::new("observatory", "planets");
    assert_eq!(client.create_database("observatory").await.unwrap().status, 201);
    let by_system = json!({"partitionKey": {"paths": ["/system"], "kind": "Hash", "version": 2}});
    assert_eq!(client.create_container(&path, &by_system).await.unwrap().status, 201);
    path
}

#[test]
fn a_tour_goes_through_few_files() {
    Tour::all().iter().for_each(Tour::assert_short);
}

#[tokio::test]
async fn a_write_takes_the_steps_of_its_tour() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &SHOW_STEPS);
    let path = make_planets(&mut server.client()).await;
    let venus = r#"{"id":"venus","system":"sol","moons":0}"#;
    let (reply, steps) = steps_of(&server, server.call(EMULATOR_KEY, &path.create("sol", venus))).await;
    assert_eq!(reply.status, 201);
    Tour::read("write").assert_walked(&steps);
    assert_told(&steps);
    server.stop();
}

fn most_moons(path: &ContainerPath, continuation: Option<&str>) -> Request {
    let text = r#"SELECT p.id, p.moons FROM planets p WHERE p.system = "sol" AND p.moons > @least ORDER BY p.moons DESC"#;
    let query = json!({"query": text, "parameters": [{"name": "@least", "value": 10}]});
    Request::new(Method::Post, path.items())
        .header("content-type", "application/query+json")
        .header("x-ms-documentdb-isquery", "True")
        .header("x-ms-max-item-count", "2")
        .header_if("x-ms-continuation", continuation)
        .body(query.to_string())
}

fn ids(reply: &OwnedReply) -> Vec<Value> {
    let page = reply.json().unwrap();
    page["Documents"].as_array().unwrap().iter().map(|row| row["id"].clone()).collect()
}

#[tokio::test]
async fn two_pages_of_a_query_take_the_steps_of_its_tour() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &SHOW_STEPS);
    let mut client = server.client();
    let path = make_planets(&mut client).await;
    for (id, moons) in [("venus", 0), ("mars", 2), ("jupiter", 97), ("saturn", 274), ("uranus", 28)] {
        let item = json!({"id": id, "system": "sol", "moons": moons});
        assert_eq!(client.create_item(&path, "sol", &item).await.unwrap().status, 201);
    }
    let both = async {
        let first = client.call(&most_moons(&path, None)).await.unwrap();
        let token = first.header("x-ms-continuation").unwrap().to_owned();
        let second = client.call(&most_moons(&path, Some(&token))).await.unwrap();
        (first, second)
    };
    let ((first, second), steps) = steps_of(&server, both).await;
    assert_eq!((ids(&first), ids(&second)), (vec![json!("saturn"), json!("jupiter")], vec![json!("uranus")]));
    Tour::read("query").assert_walked(&steps);
    assert_told(&steps);
    server.stop();
}

#[tokio::test]
async fn a_notification_takes_the_steps_of_its_tour() {
    let fake = Fake::start();
    let config = fake.config();
    let here = tempfile::tempdir().unwrap();
    let flags = [&SHOW_STEPS[..], &["--push-config", config.to_str().unwrap()]].concat();
    let server = start_awake(&here.path().join("data"), &flags);
    let registered = with_key(&server, "POST", "/v1/users/ann/devices", &device("phone", "fcm")).await;
    assert_eq!(registered.status, 201, "{}", registered.body);
    let like = json!({"userId": "ann", "eventType": "POST_LIKE", "dedupeKey": "like:post-7",
        "payload": {"targetId": "post-7", "targetType": "post", "actorName": "Ben"}});
    let headers = [("x-api-key", EMULATOR_KEY), ("idempotency-key", "1")];
    let pushed = async {
        let sent = ask(&server, "POST", "/v1/notifications/events", &headers, &like.to_string()).await;
        assert_eq!(sent.status, 202, "{}", sent.body);
        ended(&server, sent.body[0]["id"].as_str().unwrap(), "ann").await
    };
    let (event, steps) = steps_of(&server, pushed).await;
    assert_eq!((&event["status"], fake.taken().await.len()), (&json!("COMPLETED"), 1), "{event}");
    Tour::read("notification").assert_walked(&steps);
    assert_told(&steps);
    server.stop();
}
