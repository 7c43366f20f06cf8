//! The request log: one line per answered request, at the target `requests`.
//!
//! It is off, at no cost, unless the target is enabled. Paths are logged without query strings, and headers not at all,
//! so it contains no key or token.

use http::{HeaderName, Method, Request, Response};
use std::time::Instant;
use tracing::{Level, enabled, info};

/// The target to enable for it.
pub const REQUESTS: &str = "requests";

const SUBSTATUS: HeaderName = HeaderName::from_static("x-ms-substatus");
const CHARGE: HeaderName = HeaderName::from_static("x-ms-request-charge");
const ACTIVITY_ID: HeaderName = HeaderName::from_static("x-ms-activity-id");

/// A request that is being answered.
pub(crate) struct Entry {
    port: &'static str,
    method: Method,
    path: String,
    begun: Instant,
}

impl Entry {
    /// `None` if the log is off.
    pub(crate) fn begin<B>(port: &'static str, request: &Request<B>) -> Option<Self> {
        enabled!(target: REQUESTS, Level::INFO).then(|| Self {
            port,
            method: request.method().clone(),
            path: request.uri().path().to_owned(),
            begun: Instant::now(),
        })
    }

    /// The head of the response is complete; its body may still be in flight.
    pub(crate) fn end<B>(self, response: &Response<B>) {
        let text = |name: &HeaderName| response.headers().get(name).and_then(|value| value.to_str().ok());
        let number = |name: &HeaderName| text(name).and_then(|text| text.parse::<f64>().ok());
        let substatus =
            text(&SUBSTATUS).and_then(|text| text.parse::<u32>().ok()).filter(|number| *number > 0);
        let ms = (self.begun.elapsed().as_secs_f64() * 1e6).round() / 1e3;
        info!(
            target: REQUESTS,
            port = self.port,
            method = self.method.as_str(),
            path = self.path,
            status = response.status().as_u16(),
            substatus,
            ru = number(&CHARGE),
            ms,
            activity_id = text(&ACTIVITY_ID),
            "request"
        );
    }
}
