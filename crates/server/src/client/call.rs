//! One request to the Cosmos DB endpoint: which resource, by its names as they are, and what is said of it.

use super::{Account, SEGMENT};
use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use orrery_core::Timestamp;
use percent_encoding::utf8_percent_encode;
use serde_json::{Map, Value};

/// Asks a server of ours to merge the ranges itself; others do not know it and ignore it.
pub const CROSS_PARTITION: &str = "x-orrery-cross-partition";

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

    /// One page of a query; the body says which.
    pub fn query(database: &str, container: &str, body: impl Into<Bytes>) -> Self {
        Self::new(Method::POST, &["dbs", database, "colls", container, "docs"])
            .header("content-type", "application/query+json".to_owned())
            .header("x-ms-documentdb-isquery", "True".to_owned())
            .header("x-ms-documentdb-query-enablecrosspartition", "True".to_owned())
            .header(CROSS_PARTITION, "direct".to_owned())
            .body(body)
    }

    pub fn header(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    /// If there is something to say.
    pub fn header_if(mut self, name: &'static str, value: Option<String>) -> Self {
        self.headers.extend(value.map(|value| (name, value)));
        self
    }

    pub fn body(self, body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), ..self }
    }

    /// The path as it travels.
    pub fn uri(&self) -> String {
        if self.path.is_empty() {
            return "/".to_owned();
        }
        self.path.iter().map(|part| format!("/{}", segment(part))).collect()
    }

    /// Signed for a moment.
    pub fn request(&self, account: &Account, now: Timestamp) -> Result<Request<Full<Bytes>>, String> {
        let mut request = account.request(self.verb.clone(), &self.path.join("/"), &self.uri(), now);
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        if !self.body.is_empty() && self.headers.iter().all(|(name, _)| *name != "content-type") {
            request = request.header("content-type", "application/json");
        }
        let request = request.body(Full::new(self.body.clone()));
        request.map_err(|error| format!("the request cannot be written: {error}"))
    }
}

/// A name inside a path.
pub fn segment(name: &str) -> String {
    utf8_percent_encode(name, SEGMENT).to_string()
}
