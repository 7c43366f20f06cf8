//! A request as an operation sees it: what its path names, its query string, its body, its conditions.

use crate::problem::Problem;
use crate::route::Named;
use bytes::Bytes;
use http::HeaderMap;
use http::header::{HeaderName, IF_MATCH};
use http::request::Parts;
use orrery_api_common::percent;
use orrery_core::limits;
use serde_json::Value;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

pub struct Asked {
    named: Named,
    query: Vec<(String, String)>,
    body: Bytes,
    /// The tag that what is changed must have.
    pub if_match: Option<String>,
    pub idempotency_key: Option<String>,
    /// Where a stream shall go on.
    pub last_event_id: Option<String>,
}

impl Asked {
    pub fn new(head: &Parts, named: Named, body: Bytes) -> Result<Self, Problem> {
        Ok(Self {
            named,
            query: query(head.uri.query().unwrap_or_default())?,
            body,
            if_match: if_match(&head.headers)?,
            idempotency_key: text(&head.headers, &IDEMPOTENCY_KEY, limits::SERVICE_KEY_BYTES_MAX)?,
            last_event_id: text(&head.headers, &LAST_EVENT_ID, limits::SERVICE_CURSOR_BYTES_MAX)?,
        })
    }

    /// What stands in the path for `{name}`; the table has it, or the operation would not have been found.
    pub fn named(&self, name: &str) -> &str {
        self.named.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text)
    }

    pub fn query(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(known, _)| known == name);
        found.map(|(_, text)| text.as_str()).filter(|text| !text.is_empty())
    }

    /// A query parameter that is on or off.
    pub fn switch(&self, name: &str) -> Result<bool, Problem> {
        match self.query(name) {
            None | Some("false" | "0") => Ok(false),
            Some("true" | "1") => Ok(true),
            Some(_) => Err(Problem::invalid(name, "it is true or false")),
        }
    }

    pub fn number(&self, name: &str, from: usize, to: usize) -> Result<Option<usize>, Problem> {
        let Some(text) = self.query(name) else { return Ok(None) };
        let number = text.parse().ok().filter(|number| (from..=to).contains(number));
        number.map(Some).ok_or_else(|| Problem::invalid(name, format!("it is a number from {from} to {to}")))
    }

    /// The body, which must be JSON.
    pub fn json(&self) -> Result<Value, Problem> {
        if self.body.is_empty() {
            return Err(Problem::invalid("", "the request has no body; send a JSON object"));
        }
        serde_json::from_slice(&self.body)
            .map_err(|error| Problem::invalid("", format!("the body is not JSON: {error}")))
    }

    /// The body, or an empty object where nothing need be said.
    pub fn json_if_any(&self) -> Result<Value, Problem> {
        if self.body.is_empty() { Ok(Value::Object(Default::default())) } else { self.json() }
    }

    pub fn body(&self) -> &[u8] {
        &self.body
    }
}

fn query(text: &str) -> Result<Vec<(String, String)>, Problem> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    let decoded = |text: &str| percent::decode_segment(text).map(|text| text.into_owned());
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let both = decoded(name).and_then(|name| Ok((name, decoded(value)?)));
        both.map_err(|error| Problem::invalid("", format!("the query string: {error}")))
    };
    pairs.map(pair).collect()
}

/// One tag; `*` is none in particular.
fn if_match(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    match text(headers, &IF_MATCH, limits::SERVICE_KEY_BYTES_MAX)?.as_deref() {
        None | Some("*") => Ok(None),
        Some(tag) if tag.contains("\",") => Err(Problem::invalid("If-Match", "give one tag")),
        Some(tag) => Ok(Some(tag.trim_start_matches("W/").to_owned())),
    }
}

fn text(headers: &HeaderMap, name: &HeaderName, bytes_max: usize) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get(name) else { return Ok(None) };
    let text = value.to_str().map(str::trim).unwrap_or_default();
    if text.is_empty() || text.len() > bytes_max {
        let reason = format!("it is visible ASCII, at most {bytes_max} bytes");
        return Err(Problem::invalid(name.as_str(), reason));
    }
    Ok(Some(text.to_owned()))
}
