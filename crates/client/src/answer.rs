//! Responses of a server and their parsing.

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use orrery_value::{raw, utf8};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use std::time::Duration;

pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Answer {
    pub fn new(response: Response<Bytes>) -> Self {
        let (head, body) = response.into_parts();
        Self { status: head.status, headers: head.headers, body }
    }

    /// A non-empty header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok().filter(|value| !value.is_empty())
    }

    fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.header(name)?.parse().ok()
    }

    pub fn continuation(&self) -> Option<String> {
        self.header("x-ms-continuation").map(str::to_owned)
    }

    pub fn substatus(&self) -> u32 {
        self.number("x-ms-substatus").unwrap_or_default()
    }

    /// Request units.
    pub fn charge(&self) -> f64 {
        self.number("x-ms-request-charge").unwrap_or_default()
    }

    /// The retry delay that the server asks for.
    pub fn retry_after(&self) -> Option<Duration> {
        self.number("x-ms-retry-after-ms").map(Duration::from_millis)
    }

    /// The server's reason for the refusal.
    pub fn refusal(&self) -> String {
        let body: Json = serde_json::from_slice(&self.body).unwrap_or_default();
        let said = body["message"].as_str().or(body["detail"].as_str()).unwrap_or_default();
        let said = said.split("\r\nActivityId:").next().unwrap_or_default();
        let status = self.status;
        if said.is_empty() {
            format!("the server answers {status}")
        } else {
            format!("the server answers {status}: {said}")
        }
    }

    /// The body of a success, else the refusal.
    pub fn json(&self) -> Result<Json, String> {
        if !self.status.is_success() {
            return Err(self.refusal());
        }
        self.parse().map_err(|_| not_understood())
    }

    /// The body, whatever the status.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.body)
    }
}

/// The response, if its status is one of these.
pub fn allowed(answer: Answer, statuses: &[u16]) -> Result<Answer, String> {
    if statuses.contains(&answer.status.as_u16()) { Ok(answer) } else { Err(answer.refusal()) }
}

/// The elements of `{"Documents":[…],"_count":n}`. Each is parsed by itself, since the envelope may exceed the depth
/// limit of JSON; the count verifies the parsing of the envelope.
pub fn elements(answer: &Answer) -> Result<Vec<&str>, String> {
    let text = utf8(&answer.body).map_err(|_| not_understood())?;
    let count: usize =
        raw::member(text, "_count").and_then(|count| count.trim().parse().ok()).ok_or_else(not_understood)?;
    let found: Vec<&str> =
        raw::elements(raw::member(text, "Documents").ok_or_else(not_understood)?).collect();
    if found.len() == count { Ok(found) } else { Err(not_understood()) }
}

pub fn not_understood() -> String {
    "the server's answer is not understood".to_owned()
}
