//! Content on its way in: the body of a request goes to the store piece by piece, as it arrives (wire guide §8.3, §8.6).
//!
//! A client that goes away, a length that is wrong and a hash that does not match leave nothing behind: the writer of the
//! store is dropped unfinished.

use crate::call::Call;
use crate::errors::Failure;
use crate::header;
use crate::properties::{crc64, md5};
use http::StatusCode;
use http::header::CONTENT_LENGTH;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use orrery_api_common::{BodyError, discard_body};
use orrery_api_storage::{StorageError, StorageRequest};
use orrery_blob_store::{BlobStore, ContentWriter, ExpectedHashes, Uploaded};
use orrery_core::limits::BODY_SECONDS_MAX;
use std::time::Duration;
use tokio::time::timeout;

const CONTENT_MD5: http::HeaderName = http::HeaderName::from_static("content-md5");

/// Receives the whole body, which has at most so many bytes.
pub async fn receive(store: &BlobStore, call: &mut Call, bytes_max: u64) -> Result<Uploaded, Failure> {
    let expected = expected(&call.request)?;
    let announced = content_length(&call.request)?;
    if announced.is_some_and(|length| length > bytes_max) {
        return Err(too_large(bytes_max));
    }
    let mut writer = store.upload(bytes_max);
    if let Some(body) = call.take_body() {
        fill(&mut writer, body).await?;
    }
    if announced.is_some_and(|length| length != writer.length()) {
        return Err(StorageError::invalid_input("The body is not as long as its Content-Length.").into());
    }
    Ok(writer.finish(expected).await?)
}

/// What the client says its body hashes to: one of two hashes, and not both.
pub fn expected(request: &StorageRequest) -> Result<ExpectedHashes, Failure> {
    refuse_structured_body(request)?;
    let hashes =
        ExpectedHashes { md5: md5(request, &CONTENT_MD5)?, crc64: crc64(request, &header::CONTENT_CRC64)? };
    if hashes.md5.is_some() && hashes.crc64.is_some() {
        let message = "A request has the MD5 or the CRC64 of its body, and not both.";
        return Err(StorageError::new(StatusCode::BAD_REQUEST, "Md5AndCrc64BothSpecified", message).into());
    }
    Ok(hashes)
}

/// Content in frames would be stored with its frames, so it is refused, both ways.
pub fn refuse_structured_body(request: &StorageRequest) -> Result<(), Failure> {
    let Some(value) = request.header(header::STRUCTURED_BODY) else { return Ok(()) };
    let message = "One of the HTTP headers specified in the request is not supported.";
    Err(StorageError::new(StatusCode::BAD_REQUEST, "UnsupportedHeader", message)
        .with("HeaderName", header::STRUCTURED_BODY.as_str())
        .with("HeaderValue", value)
        .into())
}

fn content_length(request: &StorageRequest) -> Result<Option<u64>, Failure> {
    let Some(text) = request.header(CONTENT_LENGTH) else { return Ok(None) };
    let refused = |_| StorageError::invalid_header("Content-Length", text).into();
    text.parse().map(Some).map_err(refused)
}

fn too_large(bytes_max: u64) -> Failure {
    StorageError::body_too_large(usize::try_from(bytes_max).unwrap_or(usize::MAX)).into()
}

async fn fill(writer: &mut ContentWriter, mut body: Incoming) -> Result<(), Failure> {
    let patience = Duration::from_secs(BODY_SECONDS_MAX);
    loop {
        let Ok(frame) = timeout(patience, body.frame()).await else {
            return Err(BodyError::TooSlow.into());
        };
        let Some(frame) = frame else { return Ok(()) };
        let frame = frame.map_err(BodyError::Broken)?;
        let Ok(data) = frame.into_data() else { continue };
        if let Err(error) = writer.write(data).await {
            discard_body(body).await;
            return Err(error.into());
        }
    }
}
