//! The source of a copy: a blob of this server under any of its names, or any other address (wire guide §8.11).
//!
//! A blob of this server is copied without a byte going over the wire. What is elsewhere is read window by window, each with
//! the ETag of the first, so that a source that changes meanwhile is noticed and memory stays flat. Redirects are not followed.

use crate::call::Call;
use crate::errors::{Failure, copy_source};
use crate::header;
use crate::operation::{OnBlob, Operation};
use crate::parameters::selector;
use crate::service::{Blobs, operation_of};
use bytes::Bytes;
use http::header::{
    AUTHORIZATION, CONTENT_RANGE, ETAG, HOST, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH,
    IF_UNMODIFIED_SINCE, RANGE,
};
use http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode, Uri};
use orrery_api_storage::{Caller, Need, StorageError, StorageRequest};
use orrery_blob_store::ContentWriter;
use orrery_blob_store::model::operations::RangeRequest;
use orrery_blob_store::model::{Address, BlobName, ContainerId, Selector};
use orrery_catalog::storage::{BlobContainerName, ServiceKind};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// Sends a GET and gives the answer, whatever its status; the error is a sentence. Wired by whoever has an HTTP client.
pub type Fetch = Arc<dyn Fn(Request<Bytes>) -> Fetched + Send + Sync>;
pub type Fetched = Pin<Box<dyn Future<Output = Result<http::Response<Bytes>, String>> + Send>>;

/// What one request reads of a source that is elsewhere.
const WINDOW_BYTES: u64 = 4 * 1024 * 1024;
/// The header of a source may be so long, as in the service.
const SOURCE_CHARS_MAX: usize = 2 * 1024;

pub enum Source {
    Here { address: Address, selector: Selector },
    Elsewhere(Elsewhere),
}

pub struct Elsewhere {
    uri: Uri,
    /// Authorization and conditions.
    headers: HeaderMap,
}

/// What a source that is elsewhere says of itself.
#[derive(Debug, Default)]
pub struct Described {
    pub headers: HeaderMap,
    pub length: u64,
}

/// The address as the caller gave it.
pub fn url(request: &StorageRequest) -> Result<String, Failure> {
    let name = &header::COPY_SOURCE;
    let text = request.header(name).ok_or_else(|| StorageError::missing_header(name.as_str()))?;
    if text.len() > SOURCE_CHARS_MAX {
        return Err(StorageError::invalid_header(name.as_str(), text).into());
    }
    Ok(text.to_owned())
}

/// Where it is, after the caller was found to be allowed to read it.
pub async fn resolve(blobs: &Blobs, call: &Call) -> Result<Source, Failure> {
    let text = url(&call.request)?;
    let refused = || StorageError::invalid_header(header::COPY_SOURCE.as_str(), &text);
    let uri: Uri = text.parse().map_err(|_| refused())?;
    if uri.authority().is_none() || !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(refused().into());
    }
    if let Some(request) = of_this_server(blobs, call, &uri) {
        return here(blobs, call, request).await.map_err(|Failure(error)| Failure(copy_source(error)));
    }
    Ok(Source::Elsewhere(Elsewhere { headers: headers(&call.request), uri }))
}

/// A GET of the source as this server would see it, if it is one of its blobs. A container that is here is meant, by whatever
/// name of this machine; but another port of this machine is another server.
fn of_this_server(blobs: &Blobs, call: &Call, uri: &Uri) -> Option<StorageRequest> {
    let mut request = Request::builder().method("GET").uri(uri.clone()).body(()).ok()?;
    let authority = uri.authority()?.as_str();
    request.headers_mut().insert(HOST, HeaderValue::from_str(authority).ok()?);
    if let Some(authorization) = call.request.head.headers.get(header::COPY_SOURCE_AUTHORIZATION) {
        request.headers_mut().insert(AUTHORIZATION, authorization.clone());
    }
    let ours = call.request.header(HOST).map(str::to_owned);
    let ours = ours.or_else(|| call.request.head.uri.authority().map(|ours| ours.as_str().to_owned()))?;
    if is_other_port_of_loopback(authority, &ours) {
        return None;
    }
    let (head, ()) = request.into_parts();
    let mut envelope = call.request.envelope.clone();
    let version = envelope.version;
    let mut request =
        blobs.storage.read(ServiceKind::Blob, head, call.request.peer.clone(), &mut envelope).ok()?;
    request.envelope.version = version;
    let Ok(Operation::Blob { container, .. }) = operation_of(&request) else { return None };
    let name = BlobContainerName::parse(&container).ok()?;
    let id = ContainerId { account: request.account.clone(), name };
    let is_same_name = authority.eq_ignore_ascii_case(&ours);
    (is_same_name || blobs.store.container(&id).is_ok()).then_some(request)
}

fn is_other_port_of_loopback(authority: &str, ours: &str) -> bool {
    let split = |text: &str| {
        let (host, port) = text.rsplit_once(':').unwrap_or((text, ""));
        (host.to_ascii_lowercase(), port.to_owned())
    };
    let ((host, port), (_, our_port)) = (split(authority), split(ours));
    let is_loopback = matches!(host.as_str(), "localhost" | "127.0.0.1" | "[::1]");
    is_loopback && port != our_port
}

/// The account's own key and tokens open its blobs; anybody else shows something for the source, too.
async fn here(blobs: &Blobs, call: &Call, request: StorageRequest) -> Result<Source, Failure> {
    let operation = operation_of(&request)?;
    let Operation::Blob { container, name, .. } = &operation else {
        return Err(StorageError::invalid_uri().into());
    };
    let read = Operation::Blob { container: container.clone(), name: name.clone(), does: OnBlob::Get };
    let need: Need<'_> = read.need(None);
    let shows_something = request.query("sig").is_some() || request.head.headers.contains_key(AUTHORIZATION);
    let grant = call.grant.as_ref().expect("the request was authorized");
    let is_same_account = request.account == call.request.account;
    match &grant.caller {
        Caller::Key if is_same_account && !shows_something => {}
        Caller::Token { .. } if is_same_account && !shows_something => grant.permit(&need)?,
        _ => {
            let rules = blobs.rules(&request.account, &read);
            let moment = crate::parameters::moment(&request);
            let need = read.need(crate::parameters::as_moment(moment.as_ref()));
            blobs.storage.authorize(&request, &need, &rules).await?;
        }
    }
    let id = ContainerId { account: request.account.clone(), name: BlobContainerName::parse(container)? };
    let address = id.blob(BlobName::parse(name)?);
    Ok(Source::Here { address, selector: selector(&request)? })
}

/// The headers that a source elsewhere is asked with.
fn headers(request: &StorageRequest) -> HeaderMap {
    let passed: [(HeaderName, HeaderName); 5] = [
        (header::COPY_SOURCE_AUTHORIZATION, AUTHORIZATION),
        (header::SOURCE_IF_MATCH, IF_MATCH),
        (header::SOURCE_IF_NONE_MATCH, IF_NONE_MATCH),
        (header::SOURCE_IF_MODIFIED_SINCE, IF_MODIFIED_SINCE),
        (header::SOURCE_IF_UNMODIFIED_SINCE, IF_UNMODIFIED_SINCE),
    ];
    let mut headers = HeaderMap::new();
    for (given, asked) in passed {
        if let Some(value) = request.head.headers.get(given) {
            headers.insert(asked, value.clone());
        }
    }
    if let Ok(version) = HeaderValue::from_str(request.version().as_str()) {
        headers.insert(orrery_api_storage::header::VERSION, version);
    }
    headers
}

impl Elsewhere {
    /// Reads the source, or a range of it, to its end.
    pub async fn read(
        &self,
        fetch: &Fetch,
        range: Option<RangeRequest>,
        writer: &mut ContentWriter,
    ) -> Result<Described, Failure> {
        let first = range.map_or(0, |range| range.start);
        let last = range.and_then(|range| range.last);
        let mut described: Option<Described> = None;
        let mut at = first;
        loop {
            let window_end = (at + WINDOW_BYTES - 1).min(last.unwrap_or(u64::MAX));
            let etag = described.as_ref().and_then(|described| described.headers.get(ETAG)).cloned();
            let answer = self.get(fetch, Some((at, window_end)), etag).await?;
            let total = match answer.status() {
                StatusCode::OK if at == 0 => None,
                StatusCode::PARTIAL_CONTENT => Some(total(answer.headers())?),
                StatusCode::RANGE_NOT_SATISFIABLE if at == 0 && described.is_none() => {
                    // Empty, so that no range of it is there.
                    let whole = self.get(fetch, None, None).await?;
                    if whole.status() != StatusCode::OK {
                        return Err(refused(&whole));
                    }
                    writer.write(whole.body().clone()).await?;
                    let length = writer.length();
                    return Ok(Described { headers: whole.headers().clone(), length });
                }
                _ => return Err(refused(&answer)),
            };
            let (parts, body) = answer.into_parts();
            let read = body.len() as u64;
            writer.write(body).await?;
            at += read;
            let described = described.get_or_insert_with(|| Described { headers: parts.headers, length: 0 });
            described.length = writer.length();
            let is_done = total.is_none_or(|total| at >= total) || last.is_some_and(|last| at > last);
            if is_done || read == 0 {
                return Ok(std::mem::take(described));
            }
        }
    }

    async fn get(
        &self,
        fetch: &Fetch,
        range: Option<(u64, u64)>,
        etag: Option<HeaderValue>,
    ) -> Result<http::Response<Bytes>, Failure> {
        let mut request =
            Request::builder().method("GET").uri(self.uri.clone()).body(Bytes::new()).map_err(|_| {
                Failure::from(StorageError::invalid_header(
                    header::COPY_SOURCE.as_str(),
                    &self.uri.to_string(),
                ))
            })?;
        *request.headers_mut() = self.headers.clone();
        if let Some((first, last)) = range {
            let text = format!("bytes={first}-{last}");
            request.headers_mut().insert(RANGE, HeaderValue::from_str(&text).expect("digits are ASCII"));
        }
        if let Some(etag) = etag {
            request.headers_mut().insert(IF_MATCH, etag);
        }
        fetch(request).await.map_err(|why| {
            let error = StorageError::new(StatusCode::NOT_FOUND, "ResourceNotFound", why);
            Failure(copy_source(error))
        })
    }
}

fn total(headers: &HeaderMap) -> Result<u64, Failure> {
    let text = headers.get(CONTENT_RANGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let total = text.rsplit_once('/').and_then(|(_, total)| total.parse().ok());
    total.ok_or_else(|| {
        let why = "The source answers a range without its length.";
        Failure(copy_source(StorageError::new(StatusCode::BAD_GATEWAY, "InternalError", why)))
    })
}

/// The source's own refusal, as the caller hears it.
fn refused(answer: &http::Response<Bytes>) -> Failure {
    let status = match answer.status() {
        StatusCode::NOT_MODIFIED | StatusCode::PRECONDITION_FAILED => {
            let message = "The source condition specified using HTTP conditional header(s) is not met.";
            return Failure(StorageError::new(
                StatusCode::PRECONDITION_FAILED,
                "SourceConditionNotMet",
                message,
            ));
        }
        status if status.is_client_error() => status,
        _ => StatusCode::BAD_GATEWAY,
    };
    let message = format!("The source answered {}.", answer.status().as_u16());
    Failure(copy_source(StorageError::new(status, "ResourceNotFound", message)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_port_of_this_machine_is_another_server() {
        let check = |source: &str, ours: &str, expected: bool| {
            assert_eq!(is_other_port_of_loopback(source, ours), expected, "{source} {ours}");
        };
        check("127.0.0.1:9000", "localhost:10000", true);
        check("localhost:10000", "127.0.0.1:10000", false);
        check("azurite:9000", "localhost:10000", false);
        check("[::1]:1", "[::1]:2", true);
    }

    #[test]
    fn a_range_says_how_long_the_whole_is() {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_RANGE, HeaderValue::from_static("bytes 0-3/10"));
        assert_eq!(total(&headers), Ok(10));
        headers.insert(CONTENT_RANGE, HeaderValue::from_static("bytes 0-3/*"));
        assert!(total(&headers).is_err());
    }
}
