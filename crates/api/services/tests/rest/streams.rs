//! Live streams: told at once, resumed, ended.

use crate::world::{As, World};
use bytes::Buf as _;
use http::Method;
use http_body_util::BodyExt as _;
use orrery_api_services::ServiceBody;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

const ANN: As = As::User("ann", &[]);
const PATH: &str = "/v1/users/ann/notifications/stream";
/// Longer than anything here takes.
const DEADLINE: Duration = Duration::from_secs(30);

struct Reader {
    body: ServiceBody,
    text: String,
}

impl Reader {
    async fn open(world: &World, last: Option<&str>) -> Self {
        let headers: Vec<(&str, &str)> = last.map(|last| ("last-event-id", last)).into_iter().collect();
        let response = world.open(&ANN, Method::GET, PATH, &headers, "").await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { body: response.into_body(), text: String::new() }
    }

    /// The next event that is no comment, as its fields; none at the end.
    async fn next(&mut self) -> Option<BTreeMap<String, String>> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let fields: BTreeMap<String, String> = event
                    .lines()
                    .filter_map(|line| line.split_once(": "))
                    .filter(|(name, _)| !name.is_empty())
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .collect();
                self.text = rest.to_owned();
                if fields.contains_key("data") {
                    return Some(fields);
                }
                continue;
            }
            let frame = tokio::time::timeout(DEADLINE, self.body.frame()).await.unwrap()?;
            let mut data = frame.unwrap().into_data().unwrap();
            let length = data.remaining();
            let bytes = data.copy_to_bytes(length);
            self.text.push_str(std::str::from_utf8(&bytes).unwrap());
        }
    }
}

fn id_of(event: &BTreeMap<String, String>) -> String {
    let item: Value = serde_json::from_str(&event["data"]).unwrap();
    item["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_stream_has_every_change_and_a_reconnecting_reader_misses_none() {
    let world = World::new();
    world.notify("ann", "before").await;
    let mut reader = Reader::open(&world, None).await;
    let ready = reader.next().await.unwrap();
    assert_eq!(ready["event"], "ready");
    let first = world.notify("ann", "p").await;
    world.notify("ben", "not hers").await;
    let told = reader.next().await.unwrap();
    assert_eq!(
        (told["event"].as_str(), id_of(&told)),
        ("notification", first.clone()),
        "what was before is not told"
    );
    let place = told["id"].clone();
    drop(reader);
    let missed = world.notify("ann", "q").await;
    let mut reader = Reader::open(&world, Some(&place)).await;
    assert_eq!(reader.next().await.unwrap()["event"], "ready");
    assert_eq!(id_of(&reader.next().await.unwrap()), missed);
    // Marking is a change too.
    world.post(&ANN, &format!("/v1/users/ann/notifications/{missed}/read"), &Value::Null).await;
    let marked = reader.next().await.unwrap();
    assert!(marked["data"].contains("\"read\":true") && !marked["data"].contains("_etag"), "{marked:?}");
    // From where the first reader began, everything again.
    let mut again = Reader::open(&world, Some(&ready["id"])).await;
    again.next().await.unwrap();
    assert_eq!(id_of(&again.next().await.unwrap()), first);
}

#[tokio::test]
async fn a_place_that_is_none_is_refused() {
    let world = World::new();
    let answer = world.call(&ANN, Method::GET, PATH, &[("last-event-id", "nonsense")], "").await;
    assert_eq!((answer.status, answer.body["member"].as_str()), (400, Some("Last-Event-ID")), "{answer:?}");
}

#[tokio::test]
async fn streams_end_with_the_server() {
    let world = World::new();
    let mut reader = Reader::open(&world, None).await;
    reader.next().await.unwrap();
    world.stop.stop();
    assert_eq!(reader.next().await, None);
}
