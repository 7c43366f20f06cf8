//! Requests inside a request: what `$batch` carries, read as SDKs write it and answered as they read it.
//!
//! ```text
//!   --batch_…                                        --batchresponse_…
//!   Content-Type: multipart/mixed; boundary=…        Content-Type: multipart/mixed; boundary=…
//!
//!   --changeset_…                                    --changesetresponse_…
//!   Content-Type: application/http        ──▶        Content-Type: application/http
//!
//!   POST http://…/runs HTTP/1.1                      HTTP/1.1 204 No Content
//!   Accept: application/json                         ETag: W/"…"
//!
//!   {"PartitionKey": …}
//!   --changeset_…--                                  --changesetresponse_…--
//!   --batch_…--                                      --batchresponse_…--
//! ```
//!
//! Reading is lenient wherever SDKs differ (line ends, blank lines, case of names) and strict about the frame: a body
//! that lost its end is refused, so that half a batch is never run.

mod read;
mod write;

pub use read::{Batch, Inner, MultipartError, boundary, read};
pub use write::{ChangesetWriter, Part, write_single};

#[cfg(test)]
mod cases;
