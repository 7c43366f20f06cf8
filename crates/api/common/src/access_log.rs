//! The request log: one line for each request that was answered, at the target `requests`.
//!
//! It is off unless the target is enabled, and then costs nothing. Paths are told without their query strings, and headers not
//! at all, so no key or token gets into it.

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
    /// None if nobody wants to read it.
    pub(crate) fn begin<B>(port: &'static str, request: &Request<B>) -> Option<Self> {
        enabled!(target: REQUESTS, Level::INFO).then(|| Self {
            port,
            method: request.method().clone(),
            path: request.uri().path().to_owned(),
            begun: Instant::now(),
        })
    }

    /// The head of the answer is there; its body may still be on its way.
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
