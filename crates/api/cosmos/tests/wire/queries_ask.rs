//! A query to a container, and the pages that answer it.

use crate::call::Call;
use crate::world::World;
use orrery_testing_client::OwnedReply;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub const CONTINUATION: &str = "x-ms-continuation";
pub const RANGE: &str = "x-ms-documentdb-partitionkeyrangeid";
pub const START: &str = "x-ms-start-epk";
pub const END: &str = "x-ms-end-epk";
const PAGES_MAX: usize = 200;

/// A query with all that it is sent with, but for a continuation.
#[derive(Clone)]
pub struct Ask {
    path: String,
    body: Value,
    headers: Vec<(&'static str, String)>,
}

pub struct Page {
    pub rows: Vec<Value>,
    pub next: Option<String>,
    pub reply: OwnedReply,
}

impl Ask {
    /// A query over the items of a container of `d`.
    pub fn of(container: &str, query: &str) -> Self {
        Self::at(&format!("dbs/d/colls/{container}/docs"), query)
    }

    /// A query over whatever is listed there.
    pub fn at(path: &str, query: &str) -> Self {
        Self { path: path.to_owned(), body: json!({ "query": query }), headers: Vec::new() }
    }

    pub fn parameters(self, parameters: Value) -> Self {
        self.member("parameters", parameters)
    }

    pub fn member(mut self, name: &str, value: Value) -> Self {
        self.body[name] = value;
        self
    }

    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// At most so many rows a page.
    pub fn by(self, items: usize) -> Self {
        self.header("x-ms-max-item-count", items.to_string())
    }

    pub fn partition(self, key: &str) -> Self {
        self.header("x-ms-documentdb-partitionkey", key)
    }

    pub fn range(self, id: &str) -> Self {
        self.header(RANGE, id)
    }

    pub fn between(self, start: &str, end: &str) -> Self {
        self.header(START, start).header(END, end)
    }

    pub fn call(&self) -> Call {
        let call =
            Call::post(&self.path, self.body.to_string()).header("content-type", "application/query+json");
        let call = self.headers.iter().fold(call, |call, (name, value)| call.header(name, value.as_str()));
        call.query().header("x-ms-documentdb-query-enablecrosspartition", "True")
    }

    pub fn from(&self, token: &str) -> Call {
        self.call().header(CONTINUATION, token)
    }

    /// One page, held to what every page of a query owes.
    pub async fn page(&self, world: &World, token: Option<&str>) -> Page {
        let call = token.map_or_else(|| self.call(), |token| self.from(token));
        let reply = world.answered(200, call).await;
        let body = reply.json().unwrap();
        let mut lists = body.as_object().unwrap().iter().filter_map(|(_, value)| value.as_array());
        let rows = lists.next_back().unwrap().clone();
        assert_eq!(body["_count"], rows.len());
        assert_eq!(reply.header("x-ms-item-count"), Some(rows.len().to_string().as_str()));
        assert_eq!(reply.header("etag"), None);
        let next = reply.header(CONTINUATION).map(str::to_owned);
        if let Some(next) = &next {
            assert!(next.len() < 1024 && next.bytes().all(|byte| byte.is_ascii_graphic()), "{next}");
            assert_ne!(Some(next.as_str()), token, "no progress");
        }
        Page { rows, next, reply }
    }

    /// The rows of each page, to the end.
    pub async fn pages(&self, world: &World) -> Vec<Vec<Value>> {
        self.pages_from(world, None).await
    }

    /// The rows of each page after a token.
    pub async fn pages_from(&self, world: &World, token: Option<&str>) -> Vec<Vec<Value>> {
        let (mut pages, mut token) = (Vec::new(), token.map(str::to_owned));
        loop {
            let page = self.page(world, token.as_deref()).await;
            pages.push(page.rows);
            assert!(pages.len() < PAGES_MAX, "{} does not end", self.body);
            match page.next {
                None => return pages,
                next => token = next,
            }
        }
    }

    pub async fn rows(&self, world: &World) -> Vec<Value> {
        self.pages(world).await.concat()
    }

    /// How many items were read for the first page.
    pub async fn retrieved(&self, world: &World) -> usize {
        let page =
            self.clone().header("x-ms-documentdb-populatequerymetrics", "true").page(world, None).await;
        metrics(&page.reply)["retrievedDocumentCount"].parse().unwrap()
    }
}

/// The query metrics of a reply, taken apart as strictly as the strictest client does.
pub fn metrics(reply: &OwnedReply) -> BTreeMap<String, String> {
    let text = reply.header("x-ms-documentdb-query-metrics").unwrap();
    let entries = text.split(';').map(|entry| {
        let parts: Vec<&str> = entry.split('=').collect();
        assert_eq!(parts.len(), 2, "{entry:?} in {text}");
        (parts[0].to_owned(), parts[1].to_owned())
    });
    entries.collect()
}

/// Adds items to a container of `d`.
pub async fn add(world: &World, container: &str, items: impl IntoIterator<Item = Value>) {
    for item in items {
        world.made(Call::post(&format!("dbs/d/colls/{container}/docs"), item.to_string())).await;
    }
}

/// A member of each row.
pub fn each<'a>(rows: &'a [Value], member: &str) -> Vec<&'a Value> {
    rows.iter().map(|row| &row[member]).collect()
}

/// Rows in an order of their own, for answers that have none.
pub fn sorted(mut rows: Vec<Value>) -> Vec<Value> {
    rows.sort_by_key(Value::to_string);
    rows
}

/// Splits a container of `d` that was made with a throughput; its ranges then, as the feed has them.
pub async fn split(world: &World, container: &str) -> Vec<Value> {
    let path = format!("dbs/d/colls/{container}");
    let mut offer = world.offer(&path).await;
    offer["content"]["offerThroughput"] = json!(18_000);
    let offer_path = format!("offers/{}", offer["id"].as_str().unwrap());
    world.answered(200, Call::put(&offer_path, offer.to_string())).await;
    let ranges = world.answered(200, Call::get(&format!("{path}/pkranges"))).await.json().unwrap();
    let ranges = ranges["PartitionKeyRanges"].as_array().unwrap().clone();
    assert!(ranges.len() > 1);
    ranges
}

/// A container of `d` by `/pk` that can be split.
pub async fn splittable(world: &World, container: &str) {
    let body = json!({"id": container, "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}});
    world.made(Call::post("dbs/d/colls", body.to_string()).header("x-ms-offer-throughput", "400")).await;
}
