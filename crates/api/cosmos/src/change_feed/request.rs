//! The headers of a change feed request.
//!
//! ```text
//! A-IM                Incremental Feed: latest versions | Full-Fidelity Feed: all versions and deletes
//! If-None-Match       absent: from the beginning | *: from now | "<lsn>": after that commit
//! If-Modified-Since   from that second on; comes again with every later page
//! x-orrery-pre-images true: a replace in the feed of all versions shows what it replaced, whatever the container's policy is
//! wire format         absent: bare items, unless all versions are asked for | 2021-09-15: envelopes
//! ```
//!
//! A position is the bare number of a commit, because one SDK accepts only digits.

use crate::failure::Failure;
use crate::header;
use crate::request::Request;
use http::header::{IF_MODIFIED_SINCE, IF_NONE_MATCH};
use orrery_core::{Lsn, Timestamp};
use orrery_document_store::ChangesStart;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeFeedRequest {
    pub feed: Feed,
    pub start: ChangesStart,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feed {
    Latest { shape: Shape, since: Option<Timestamp> },
    AllVersions { pre_images: PreImages },
}

/// When a replace includes the replaced version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreImages {
    /// If the container's policy asks for it.
    ByPolicy,
    /// Always, for our own tools: a migration learns from it where an item was before.
    Always,
}

/// The format of an item in the latest-version feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Bare,
    Envelope,
}

const WIRE_FORMAT: &str = "2021-09-15";

impl ChangeFeedRequest {
    pub fn read(request: &Request) -> Result<Self, Failure> {
        let mode = request.header_or_refuse(&header::A_IM)?.unwrap_or_default();
        let start = start(request.header_or_refuse(&IF_NONE_MATCH)?.unwrap_or_default())?;
        let since = request.header_or_refuse(&IF_MODIFIED_SINCE)?.filter(|text| !text.is_empty());
        let since = since.map(moment).transpose()?;
        let shape = shape(request.header_or_refuse(&header::CHANGE_FEED_WIRE_FORMAT)?.unwrap_or_default())?;
        match mode.to_ascii_lowercase().as_str() {
            "incremental feed" => Ok(Self { feed: Feed::Latest { shape, since }, start }),
            "full-fidelity feed" if since.is_some() || start == ChangesStart::Beginning => {
                Err(Failure::bad_request(
                    "The all-versions-and-deletes change feed cannot begin at the beginning or at a time. Begin now, with If-None-Match: *, or with the etag of an earlier page.",
                ))
            }
            "full-fidelity feed" => {
                let is_always = request.is_true(&header::PRE_IMAGES);
                let pre_images = if is_always { PreImages::Always } else { PreImages::ByPolicy };
                Ok(Self { feed: Feed::AllVersions { pre_images }, start })
            }
            _ => Err(unknown(header::A_IM.as_str(), mode, "Incremental Feed or Full-Fidelity Feed")),
        }
    }
}

/// Quoted, as sent by the server, or bare.
fn start(text: &str) -> Result<ChangesStart, Failure> {
    match text.trim_matches(['"', '\'']) {
        "" => Ok(ChangesStart::Beginning),
        "*" => Ok(ChangesStart::Now),
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse().map(|lsn| ChangesStart::After(Lsn(lsn))).map_err(|_| no_place(text))
        }
        _ => Err(no_place(text)),
    }
}

fn no_place(text: &str) -> Failure {
    unknown("If-None-Match", text, "the etag of the last page, or * to begin now")
}

fn moment(text: &str) -> Result<Timestamp, Failure> {
    Timestamp::parse_http(text)
        .ok_or_else(|| unknown("If-Modified-Since", text, "a date such as 'Sun, 15 Nov 2026 01:02:43 GMT'"))
}

fn shape(version: &str) -> Result<Shape, Failure> {
    match version {
        "" => Ok(Shape::Bare),
        WIRE_FORMAT => Ok(Shape::Envelope),
        other => Err(unknown(header::CHANGE_FEED_WIRE_FORMAT.as_str(), other, WIRE_FORMAT)),
    }
}

fn unknown(header: &str, text: &str, wanted: &str) -> Failure {
    let shown: String = text.chars().take(64).collect();
    Failure::bad_request(format!("The header {header} has the value '{shown}'; send {wanted}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_digits_in_quotes_or_without() {
        for text in ["\"42\"", "42", "'42'", "\"00042\""] {
            assert_eq!(start(text), Ok(ChangesStart::After(Lsn(42))), "{text}");
        }
        assert_eq!(start("*"), Ok(ChangesStart::Now));
        assert_eq!(start("\"*\""), Ok(ChangesStart::Now));
        assert_eq!(start(""), Ok(ChangesStart::Beginning));
        assert_eq!(start("0"), Ok(ChangesStart::After(Lsn(0))));
    }

    #[test]
    fn anything_else_is_a_bad_request() {
        for text in ["x", "-1", "+1", "1.5", "1,2", "W/\"1\"", "99999999999999999999", "４２"] {
            assert_eq!(start(text).expect_err(text).status, 400);
        }
    }
}
