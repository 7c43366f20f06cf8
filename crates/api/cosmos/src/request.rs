//! A request as the handlers see it: its validated head, and its body on demand.

use crate::authorize::Operation;
use crate::failure::Failure;
use crate::header;
use crate::limits;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, IF_MATCH, IF_NONE_MATCH};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderName, Method};
use hyper::body::Incoming;
use orrery_api_common::{BodyHold, Peer, read_body_held};
use orrery_core::ETag;
use orrery_core::limits::{PAGE_BYTES_MAX, PAGE_ITEMS_DEFAULT};
use orrery_document_store::Priority;
use orrery_documents::definition::Throughput;
use orrery_documents::item::{Preconditions, TagMatch};
use orrery_query::execute::Limits;

/// The first version of the protocol in which every container has a partition key.
const PARTITION_KEYS_SINCE: &str = "2018-12-31";

pub struct Request {
    pub head: Parts,
    pub peer: Peer,
    /// Its operation, once authorized, and the number of its container, once found.
    pub operation: Option<Operation>,
    pub container: Option<u32>,
    body: Option<Incoming>,
    arrived: Option<Bytes>,
    /// The body's reservation in the memory budget for bodies, until the response.
    hold: BodyHold,
}

/// What a POST to a feed asks for, in order of precedence (wire guide §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Post {
    QueryPlan,
    Query,
    Batch,
    Upsert,
    Create,
}

impl Request {
    pub fn new(request: http::Request<Incoming>, peer: Peer) -> Self {
        let (head, body) = request.into_parts();
        Self {
            head,
            peer,
            operation: None,
            container: None,
            body: Some(body),
            arrived: None,
            hold: BodyHold::default(),
        }
    }

    pub fn method(&self) -> &Method {
        &self.head.method
    }

    /// Whether the client uses a protocol version in which containers need no partition key.
    pub fn is_before_partition_keys(&self) -> bool {
        self.header(&header::VERSION)
            .is_some_and(|version| version.len() == 10 && version < PARTITION_KEYS_SINCE)
    }

    /// The host and port that the client connected to: HTTP/2's authority or HTTP/1.1's Host, if valid.
    pub fn dialled(&self) -> String {
        let authority = self.head.uri.authority().cloned();
        let host = || self.header(&HOST)?.parse::<Authority>().ok();
        authority.or_else(host).map_or_else(|| "localhost".to_owned(), |authority| authority.to_string())
    }

    /// The URL under which the client addressed the resource.
    pub fn url(&self) -> String {
        format!("{}://{}{}", self.peer.scheme, self.dialled(), self.head.uri.path())
    }

    /// A header's text; a non-ASCII one counts as absent.
    pub fn header(&self, name: &HeaderName) -> Option<&str> {
        self.head.headers.get(name)?.to_str().ok().map(str::trim)
    }

    /// A header that must not be ignored: without it the request would mean something else.
    pub fn header_or_refuse(&self, name: &HeaderName) -> Result<Option<&str>, Failure> {
        let Some(value) = self.head.headers.get(name) else { return Ok(None) };
        let text = value.to_str().map(|text| Some(text.trim()));
        text.map_err(|_| {
            Failure::bad_request(format!("The header {name} is not ASCII text; escape what is not."))
        })
    }

    /// `true`, `True` and `TRUE` are all sent.
    pub fn priority(&self) -> Priority {
        let is_low = |level: &str| level.eq_ignore_ascii_case("low");
        if self.header(&header::PRIORITY_LEVEL).is_some_and(is_low) { Priority::Low } else { Priority::High }
    }

    pub fn is_true(&self, name: &HeaderName) -> bool {
        self.header(name).is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }

    pub fn post(&self) -> Post {
        let is_query_body =
            || self.header(&CONTENT_TYPE).is_some_and(|kind| kind.starts_with("application/query+json"));
        if self.is_true(&header::IS_QUERY_PLAN) {
            Post::QueryPlan
        } else if self.is_true(&header::IS_QUERY) || is_query_body() {
            Post::Query
        } else if self.is_true(&header::IS_BATCH) {
            Post::Batch
        } else if self.is_true(&header::IS_UPSERT) {
            Post::Upsert
        } else {
            Post::Create
        }
    }

    pub fn wants_minimal(&self) -> bool {
        self.head.headers.get_all(header::PREFER).iter().any(|value| value.as_bytes() == b"return=minimal")
    }

    pub fn preconditions(&self) -> Preconditions {
        let tag = |name| match self.head.headers.get(name)?.to_str().map(str::trim) {
            Ok("*") => Some(TagMatch::Any),
            Ok(text) => Some(TagMatch::Tag(ETag::parse(text))),
            // No version has such a tag; dropping the condition would overwrite what it protects.
            Err(_) => Some(TagMatch::Tag(None)),
        };
        Preconditions { if_match: tag(IF_MATCH), if_none_match: tag(IF_NONE_MATCH) }
    }

    pub fn throughput(&self) -> Result<Option<Throughput>, Failure> {
        let manual = self.header(&header::OFFER_THROUGHPUT);
        Ok(Throughput::from_headers(manual, self.header(&header::AUTOPILOT_SETTINGS))?)
    }

    /// `-1` and `0` leave the page size to the server.
    pub fn page_limits(&self) -> Result<Limits, Failure> {
        let items = match self.header_or_refuse(&header::MAX_ITEM_COUNT)?.filter(|text| !text.is_empty()) {
            None => PAGE_ITEMS_DEFAULT,
            Some(text) => match text.parse::<i64>() {
                Ok(-1 | 0) => PAGE_ITEMS_DEFAULT,
                Ok(count @ 1..) => count as usize,
                _ => {
                    let message = format!(
                        "The header x-ms-max-item-count has the value '{text}'; it must be -1 or a positive number."
                    );
                    return Err(Failure::bad_request(message));
                }
            },
        };
        Ok(Limits { items, bytes: PAGE_BYTES_MAX })
    }

    /// Waits for the whole body first, so that later lookups are not a minute old when used.
    pub async fn arrive(&mut self) -> Result<(), Failure> {
        if let Some(body) = self.body.take() {
            let (arrived, hold) = read_body_held(body, limits::BODY_BYTES_MAX).await?;
            (self.arrived, self.hold) = (Some(arrived), hold);
        }
        Ok(())
    }

    /// The whole body.
    pub async fn body(&mut self) -> Result<Bytes, Failure> {
        self.arrive().await?;
        Ok(self.arrived.clone().unwrap_or_default())
    }

    /// The body as a JSON object, for resources other than items.
    pub async fn json_object(&mut self) -> Result<serde_json::Map<String, serde_json::Value>, Failure> {
        let body = self.body().await?;
        orrery_value::scan_object(&body)
            .map_err(|error| Failure::bad_request(format!("The body is not a JSON object: {error}.")))?;
        serde_json::from_slice(&body)
            .map_err(|error| Failure::bad_request(format!("The body is not a JSON object: {error}.")))
    }

    /// Discards an unread body, so that the connection can be reused.
    pub fn unread_body(&mut self) -> Option<Incoming> {
        self.body.take()
    }
}
