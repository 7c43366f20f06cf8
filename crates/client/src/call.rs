//! One request to the Cosmos DB endpoint: the resource by its unencoded names, headers and body.

use crate::account::Account;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::{Method, Request};
use orrery_core::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

/// Asks an Orrery to merge the ranges itself; other servers ignore it.
pub const CROSS_PARTITION: &str = "x-orrery-cross-partition";
/// The physical partition that a request is for.
pub const RANGE: &str = "x-ms-documentdb-partitionkeyrangeid";
/// Without this header a query that names no partition is refused.
pub const ENABLE_CROSS_PARTITION: &str = "x-ms-documentdb-query-enablecrosspartition";
pub const PARTITION_KEY: &str = "x-ms-documentdb-partitionkey";
/// The characters that stay unencoded in a segment of a path.
pub const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

const PROTOCOL_VERSION: &str = "2020-07-15";
const AGENT: &str = concat!("orrery/", env!("CARGO_PKG_VERSION"));

#[derive(Clone)]
pub struct Call {
    pub verb: Method,
    /// The path's segments, unencoded.
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

    /// A request to the items of a container: the feed, a create, several writes.
    pub fn items(verb: Method, database: &str, container: &str) -> Self {
        Self::new(verb, &["dbs", database, "colls", container, "docs"])
    }

    /// A request to one item.
    pub fn item(verb: Method, database: &str, container: &str, id: &str) -> Self {
        Self::new(verb, &["dbs", database, "colls", container, "docs", id])
    }

    /// One page of a query, within a partition or range if a header names one; the body is the query.
    pub fn page_of_query(database: &str, container: &str, body: impl Into<Bytes>) -> Self {
        Self::query_body(database, container, body).header("x-ms-documentdb-isquery", "True")
    }

    /// One page of a query over all partitions, merged by the server if it is an Orrery.
    pub fn query(database: &str, container: &str, body: impl Into<Bytes>) -> Self {
        Self::page_of_query(database, container, body)
            .header(ENABLE_CROSS_PARTITION, "True")
            .header(CROSS_PARTITION, "direct")
    }

    /// The plan of a query for a client that merges ranges itself.
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

    /// Adds a header, if there is a value.
    pub fn header_if(mut self, name: &'static str, value: Option<impl Into<String>>) -> Self {
        self.headers.extend(value.map(|value| (name, value.into())));
        self
    }

    /// Restricts the request to the partition of this key, a JSON array in ASCII.
    pub fn partition(self, key: impl Into<String>) -> Self {
        self.header(PARTITION_KEY, key)
    }

    /// Adds a continuation, if there is one.
    pub fn after(self, continuation: Option<impl Into<String>>) -> Self {
        self.header_if("x-ms-continuation", continuation)
    }

    pub fn body(self, body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), ..self }
    }

    /// Whether the request names a physical partition, which may be gone.
    pub fn names_a_range(&self) -> bool {
        self.headers.iter().any(|(name, _)| *name == RANGE)
    }

    /// The encoded path.
    pub fn uri(&self) -> String {
        if self.path.is_empty() {
            return "/".to_owned();
        }
        self.path.iter().map(|part| format!("/{}", segment(part))).collect()
    }

    /// The request, signed with this date.
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

/// A name, encoded as a segment of a path.
pub fn segment(name: &str) -> String {
    utf8_percent_encode(name, SEGMENT).to_string()
}
