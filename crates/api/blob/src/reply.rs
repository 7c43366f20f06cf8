//! Answers of this service, without the standard headers, which are put on them at the end.

use crate::answer::Answer;
use crate::header;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, ETAG, LAST_MODIFIED};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use orrery_blob_store::model::BlobETag;
use orrery_core::{Ticks, Timestamp};

pub fn empty(status: StatusCode) -> Response<Answer> {
    let mut response = Response::new(Answer::empty());
    *response.status_mut() = status;
    response
}

pub fn xml(status: StatusCode, document: Bytes) -> Response<Answer> {
    let mut response = empty(status);
    *response.body_mut() = Answer::whole(document);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/xml"));
    response
}

/// The answer to a change: the ETag and Last-Modified of the state that is current now.
pub fn changed(status: StatusCode, modified: Ticks, version: Option<Ticks>) -> Response<Answer> {
    let mut response = empty(status);
    insert_state(&mut response, modified);
    if let Some(version) = version {
        insert(&mut response, header::VERSION_ID, &version.to_string());
    }
    response
}

/// The same, of content that was written.
pub fn written(status: StatusCode, modified: Ticks, version: Option<Ticks>) -> Response<Answer> {
    let mut response = changed(status, modified, version);
    insert(&mut response, header::REQUEST_SERVER_ENCRYPTED, "true");
    response
}

pub fn insert_state(response: &mut Response<Answer>, modified: Ticks) {
    insert(response, ETAG, &BlobETag::new(modified).quoted());
    insert(response, LAST_MODIFIED, &date(modified));
}

/// What a client gave as the value of a header is one; anything else this service says is ASCII.
pub fn insert(response: &mut Response<Answer>, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
        response.headers_mut().insert(name, value);
    }
}

/// As headers have dates.
pub fn date(at: Ticks) -> String {
    Timestamp::from_seconds(at.seconds()).to_http()
}
