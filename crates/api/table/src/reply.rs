//! An answer being built: what every answer of this service says, and what answers about entities and tables say besides.

use crate::address;
use crate::head::{Head, Preference};
use crate::json::Level;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, LOCATION, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use orrery_api_common::{Body, body};
use orrery_tables::{Ticks, etag};

const DATA_SERVICE_ID: HeaderName = HeaderName::from_static("dataserviceid");
const DATA_SERVICE_VERSION: HeaderName = HeaderName::from_static("dataserviceversion");
const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Reply {
    pub fn new(status: StatusCode) -> Self {
        let mut headers = HeaderMap::with_capacity(16);
        put_standard(&mut headers);
        Self { status, headers, body: Bytes::new() }
    }

    /// A body of the given type.
    pub fn with_body(status: StatusCode, content_type: &str, body: Bytes) -> Self {
        let mut reply = Self::new(status).header(CONTENT_TYPE, content_type);
        reply.body = body;
        reply
    }

    pub fn json(level: Level, body: Bytes) -> Self {
        Self::with_body(StatusCode::OK, level.content_type(), body)
    }

    pub fn xml(body: Bytes) -> Self {
        Self::with_body(StatusCode::OK, "application/xml", body)
    }

    /// Something was created at a place, and is told as the client prefers.
    pub fn created(head: &Head, place: &str, show: impl FnOnce() -> Bytes) -> Self {
        let reply = match head.preference {
            Some(Preference::NoContent) => Self::new(StatusCode::NO_CONTENT),
            Some(Preference::Content) | None => {
                Self::with_body(StatusCode::CREATED, head.level.content_type(), show())
            }
        };
        let reply = reply.header(LOCATION, place).header(DATA_SERVICE_ID, place);
        match head.preference {
            Some(preference) => reply.header(PREFERENCE_APPLIED, preference.name()),
            None => reply,
        }
    }

    /// The value is ASCII.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: &str) -> Self {
        let value = HeaderValue::from_str(value).expect("what this service says in headers is ASCII");
        self.headers.insert(name, value);
        self
    }

    #[must_use]
    pub fn etag(self, at: Ticks) -> Self {
        self.header(ETAG, &etag(at))
    }

    pub fn finish(self) -> Response<Body> {
        let mut response = Response::new(body(self.body));
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}

/// What every answer of this service says.
pub fn put_standard(headers: &mut HeaderMap) {
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(DATA_SERVICE_VERSION, HeaderValue::from_static("3.0;"));
}

/// The URL of an entity.
pub fn entity_url(base_url: &str, table: &str, partition_key: &str, row_key: &str) -> String {
    [base_url, "/", &address::entity(table, partition_key, row_key)].concat()
}

/// The URL of a table as an entry of the list of tables.
pub fn table_url(base_url: &str, table: &str) -> String {
    [base_url, "/", &address::entry(table)].concat()
}
