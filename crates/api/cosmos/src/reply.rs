//! A response being built.

use crate::failure::Failure;
use crate::header;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, ETAG};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use orrery_api_common::{Body, body_of_two};
use orrery_core::{ETag, Guid};
use orrery_documents::charge::Charge;
use std::borrow::Cow;
use std::time::Duration;

/// The maximum number of headers in a response about an item, so that its map never grows.
const HEADERS: usize = 16;

pub struct Reply {
    status: StatusCode,
    charge: Charge,
    headers: HeaderMap,
    body: (Bytes, Bytes),
}

/// Milliseconds with three decimals, from whole microseconds: every response has them, and a float takes longer to
/// print.
fn milliseconds(took: Duration) -> String {
    let micros = took.as_micros();
    format!("{}.{:03}", micros / 1000, micros % 1000)
}

impl Reply {
    pub fn new(status: StatusCode, charge: Charge) -> Self {
        let mut headers = HeaderMap::with_capacity(HEADERS);
        headers.insert(header::REQUEST_CHARGE, charge.to_string().to_value());
        Self { status, charge, headers, body: Default::default() }
    }

    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The charge reported to the client.
    pub fn charge(&self) -> Charge {
        self.charge
    }

    /// Prepared headers.
    pub fn headers(mut self, headers: impl IntoIterator<Item = (HeaderName, HeaderValue)>) -> Self {
        for (name, value) in headers {
            self.headers.insert(name, value);
        }
        self
    }

    pub fn header(mut self, name: HeaderName, value: impl ToValue) -> Self {
        self.headers.insert(name, value.to_value());
        self
    }

    pub fn etag(self, tag: ETag) -> Self {
        self.header(ETAG, ["\"", Guid::new(tag.as_u128()).as_str(), "\""].concat())
    }

    /// Schema violations of written items.
    pub fn warnings(self, count: u64) -> Self {
        if count == 0 { self } else { self.header(header::SCHEMA_WARNINGS, count) }
    }

    pub fn json(self, body: impl Into<Bytes>) -> Self {
        self.json_in_two(body.into(), Bytes::new())
    }

    pub fn json_in_two(mut self, first: Bytes, second: Bytes) -> Self {
        self.body = (first, second);
        self.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        self
    }

    pub fn value(self, body: &serde_json::Value) -> Self {
        self.json(body.to_string())
    }

    /// The response, with its duration.
    pub fn finish(mut self, activity_id: &str, took: Duration) -> Response<Body> {
        self.headers.insert(header::REQUEST_DURATION_MS, milliseconds(took).to_value());
        self.headers.insert(header::ACTIVITY_ID, activity_id.to_value());
        self.headers.insert(header::SERVICE_VERSION, HeaderValue::from_static("version=2.14.0.0"));
        let mut response = Response::new(body_of_two(self.body.0, self.body.1));
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }

    pub fn failed(failure: &Failure, activity_id: &str) -> Self {
        let message = format!("{}\r\nActivityId: {activity_id}", failure.clipped_message());
        let mut body = serde_json::json!({ "code": failure.code, "message": message });
        if let Some(info) = &failure.info {
            body["additionalErrorInfo"] = info.0.as_str().into();
        }
        let mut reply = Self::new(failure.status, failure.charge())
            .header(header::SUBSTATUS, failure.substatus)
            .value(&body);
        if let Some(wait) = failure.retry_after_ms {
            reply = reply.header(header::RETRY_AFTER_MS, wait);
        }
        reply.headers(failure.place.iter().cloned())
    }
}

/// A valid header value. Values are ASCII; other characters (in an echoed id) are replaced rather than refused.
pub trait ToValue {
    fn to_value(self) -> HeaderValue;
}

impl ToValue for HeaderValue {
    fn to_value(self) -> HeaderValue {
        self
    }
}

impl ToValue for String {
    fn to_value(self) -> HeaderValue {
        HeaderValue::from_maybe_shared(Bytes::from(self)).unwrap_or_else(|_| HeaderValue::from_static("?"))
    }
}

impl ToValue for &str {
    fn to_value(self) -> HeaderValue {
        HeaderValue::from_str(self).unwrap_or_else(|_| HeaderValue::from_static("?"))
    }
}

impl ToValue for Cow<'_, str> {
    fn to_value(self) -> HeaderValue {
        (&*self).to_value()
    }
}

impl ToValue for u64 {
    fn to_value(self) -> HeaderValue {
        HeaderValue::from(self)
    }
}

impl ToValue for u32 {
    fn to_value(self) -> HeaderValue {
        HeaderValue::from(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_in_milliseconds_to_the_microsecond() {
        assert_eq!(milliseconds(Duration::from_nanos(45_678)), "0.045");
        assert_eq!(milliseconds(Duration::from_micros(1_002_003)), "1002.003");
    }
}
