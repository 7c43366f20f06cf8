//! Writing the answer to `$batch`, in the bytes that SDKs take apart with string functions.
//!
//! The names of the boundaries, the spelling of the headers and the single line of an error are looked for by clients as
//! they stand here; change none of them.

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

/// The spelling of headers inside parts. Of these, clients look for `ETag`.
const SPELLING: [(&str, &str); 9] = [
    ("x-content-type-options", "X-Content-Type-Options"),
    ("cache-control", "Cache-Control"),
    ("preference-applied", "Preference-Applied"),
    ("dataserviceversion", "DataServiceVersion"),
    ("content-type", "Content-Type"),
    ("location", "Location"),
    ("dataserviceid", "DataServiceId"),
    ("etag", "ETag"),
    ("x-ms-error-code", "x-ms-error-code"),
];

/// The answer to one request in a batch.
pub struct Part<'a> {
    pub status: StatusCode,
    pub content_id: Option<&'a str>,
    pub headers: &'a HeaderMap,
    pub body: &'a [u8],
}

/// Answers to a changeset, one after the other.
pub struct ChangesetWriter {
    out: Vec<u8>,
    batch: String,
    changeset: String,
}

impl ChangesetWriter {
    /// The two ids tell this answer's boundaries from any text in it.
    pub fn new(batch_id: &str, changeset_id: &str) -> Self {
        let (batch, changeset) = (batch_boundary(batch_id), format!("changesetresponse_{changeset_id}"));
        let mut out = Vec::new();
        push(&mut out, &["--", &batch, "\r\n"]);
        push(&mut out, &["Content-Type: multipart/mixed; boundary=", &changeset, "\r\n\r\n"]);
        Self { out, batch, changeset }
    }

    pub fn push(&mut self, part: &Part<'_>) {
        push(&mut self.out, &["--", &self.changeset, "\r\n"]);
        write_part(&mut self.out, part);
    }

    /// The content type of the whole answer, and its body.
    pub fn finish(mut self) -> (String, Bytes) {
        push(&mut self.out, &["--", &self.changeset, "--\r\n--", &self.batch, "--\r\n"]);
        (content_type(&self.batch), self.out.into())
    }
}

/// The answer to a request that stood in the batch directly.
pub fn write_single(batch_id: &str, part: &Part<'_>) -> (String, Bytes) {
    let batch = batch_boundary(batch_id);
    let mut out = Vec::new();
    push(&mut out, &["--", &batch, "\r\n"]);
    write_part(&mut out, part);
    push(&mut out, &["--", &batch, "--\r\n"]);
    (content_type(&batch), out.into())
}

fn batch_boundary(id: &str) -> String {
    format!("batchresponse_{id}")
}

fn content_type(boundary: &str) -> String {
    format!("multipart/mixed; boundary={boundary}")
}

fn write_part(out: &mut Vec<u8>, part: &Part<'_>) {
    push(out, &["Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"]);
    let reason = part.status.canonical_reason().unwrap_or("Unknown");
    push(out, &["HTTP/1.1 ", part.status.as_str(), " ", reason, "\r\n"]);
    if let Some(id) = part.content_id {
        push(out, &["Content-ID: ", id, "\r\n"]);
    }
    for (name, spelling) in SPELLING {
        let Some(value) = part.headers.get(name) else { continue };
        push(out, &[spelling, ": "]);
        out.extend_from_slice(value.as_bytes());
        push(out, &["\r\n"]);
    }
    push(out, &["\r\n"]);
    out.extend_from_slice(part.body);
    push(out, &["\r\n"]);
}

fn push(out: &mut Vec<u8>, pieces: &[&str]) {
    for piece in pieces {
        out.extend_from_slice(piece.as_bytes());
    }
}
