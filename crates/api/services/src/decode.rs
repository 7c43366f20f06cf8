//! Decodes a request's head and body into the request that a handler gets: path, query string,
//! conditions.

use crate::limits;
use crate::table::InPath;
use bytes::Bytes;
use http::HeaderMap;
use http::header::{HeaderName, IF_MATCH};
use http::request::Parts;
use orrery_api_common::percent;
use orrery_api_common::problem::Problem;
use orrery_kit::service::Request;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The request for the handler.
pub fn request(head: &Parts, path: InPath, body: Bytes) -> Result<Request, Problem> {
    Ok(Request {
        path,
        query: query(head.uri.query().unwrap_or_default())?,
        body,
        if_match: if_match(&head.headers)?,
        idempotency_key: text(&head.headers, &IDEMPOTENCY_KEY, limits::SERVICE_KEY_BYTES_MAX)?,
        last_event_id: text(&head.headers, &LAST_EVENT_ID, limits::SERVICE_CURSOR_BYTES_MAX)?,
    })
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

/// A single etag; `*` counts as none.
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
