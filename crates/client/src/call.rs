//! One request to the Cosmos DB endpoint: which resource, by its names as they are, and what is said of it.

use crate::account::Account;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::{Method, Request};
use orrery_core::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

/// Asks a server of ours to merge the ranges itself; others do not know it and ignore it.
pub const CROSS_PARTITION: &str = "x-orrery-cross-partition";
/// The physical partition that a request is for.
pub const RANGE: &str = "x-ms-documentdb-partitionkeyrangeid";
/// Without it a query that names no partition is refused.
pub const ENABLE_CROSS_PARTITION: &str = "x-ms-documentdb-query-enablecrosspartition";
pub const PARTITION_KEY: &str = "x-ms-documentdb-partitionkey";
/// What stays readable inside one segment of a path.
pub const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

const PROTOCOL_VERSION: &str = "2020-07-15";
const AGENT: &str = concat!("orrery/", env!("CARGO_PKG_VERSION"));

#[derive(Clone)]
pub struct Call {
    pub verb: Method,
    /// What is asked for, each part as it is.
    pub path: Vec<String>,
    pub headers: Vec<(&'static str, String)>,
    pub body: Bytes,
}

impl Call {
    pub fn new(verb: Method, path: &[&str]) -> Self {
        let path = path.iter().map(|part| (*part).to_owned()).collect();
        Self { verb, path, headers: Vec::new(), body: Bytes::new() }
    }

    pub fn get(path: &[&str]) -> Self {
        Self::new(Method::GET, path)
    }

    pub fn post(path: &[&str], body: &Map<String, Value>) -> Self {
        Self::new(Method::POST, path).body(serde_json::to_vec(body).unwrap_or_default())
    }

    pub fn put(path: &[&str], body: &Map<String, Value>) -> Self {
        Self { verb: Method::PUT, ..Self::post(path, body) }
    }

    /// On the items of a container: the feed, a write of a new one, several writes.
    pub fn items(verb: Method, database: &str, container: &str) -> Self {
        Self::new(verb, &["dbs", database, "colls", container, "docs"])
    }

    /// On one item.
    pub fn item(verb: Method, database: &str, container: &str, id: &str) -> Self {
        Self::new(verb, &["dbs", database, "colls", container, "docs", id])
    }

    /// One page of a query, within one partition or range if a header names it; the body says which query.
    pub fn page_of_query(database: &str, container: &str, body: impl Into<Bytes>) -> Self {
        Self::query_body(database, container, body).header("x-ms-documentdb-isquery", "True")
    }

    /// One page of a query over all partitions, merged by the server if it is one of ours.
    pub fn query(database: &str, container: &str, body: impl Into<Bytes>) -> Self {
        Self::page_of_query(database, container, body)
            .header(ENABLE_CROSS_PARTITION, "True")
            .header(CROSS_PARTITION, "direct")
    }

    /// What a client that merges ranges itself has to do for a query.
    pub fn query_plan(database: &str, container: &str, body: impl Into<Bytes>, features: &str) -> Self {
        Self::query_body(database, container, body)
            .header("x-ms-cosmos-is-query-plan-request", "True")
            .header("x-ms-cosmos-query-version", "1.4")
            .header("x-ms-cosmos-supported-query-features", features)
    }

    fn query_body(database: &str, container: &str, body: impl Into<Bytes>) -> Self {
        Self::items(Method::POST, database, container)
            .header(CONTENT_TYPE.as_str(), "application/query+json")
            .body(body)
    }

    /// The physical partitions of a container.
    pub fn ranges(database: &str, container: &str) -> Self {
        Self::get(&["dbs", database, "colls", container, "pkranges"])
    }

    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// If there is something to say.
    pub fn header_if(mut self, name: &'static str, value: Option<impl Into<String>>) -> Self {
        self.headers.extend(value.map(|value| (name, value.into())));
        self
    }

    /// Within the partition of this key, an array in ASCII.
    pub fn partition(self, key: impl Into<String>) -> Self {
        self.header(PARTITION_KEY, key)
    }

    /// At a continuation, if there is one.
    pub fn after(self, continuation: Option<impl Into<String>>) -> Self {
        self.header_if("x-ms-continuation", continuation)
    }

    pub fn body(self, body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), ..self }
    }

    /// Whether it is for one physical partition, which may be gone.
    pub fn names_a_range(&self) -> bool {
        self.headers.iter().any(|(name, _)| *name == RANGE)
    }

    /// The path as it travels.
    pub fn uri(&self) -> String {
        if self.path.is_empty() {
            return "/".to_owned();
        }
        self.path.iter().map(|part| format!("/{}", segment(part))).collect()
    }

    /// Signed for a moment.
    pub fn request(&self, account: &Account, now: Timestamp) -> Result<Request<Bytes>, String> {
        let date = now.to_http();
        let signed = account.credential().authorization(self.verb.as_str(), &self.path.join("/"), &date);
        let mut request = Request::builder()
            .method(&self.verb)
            .uri(self.uri())
            .header(AUTHORIZATION, signed)
            .header("x-ms-date", date)
            .header("x-ms-version", PROTOCOL_VERSION)
            .header(USER_AGENT, AGENT)
            .header(ACCEPT, "application/json");
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        if !self.body.is_empty() && self.headers.iter().all(|(name, _)| *name != CONTENT_TYPE.as_str()) {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let request = request.body(self.body.clone());
        request.map_err(|error| format!("the request cannot be written: {error}"))
    }
}

/// A name inside a path.
pub fn segment(name: &str) -> String {
    utf8_percent_encode(name, SEGMENT).to_string()
}
