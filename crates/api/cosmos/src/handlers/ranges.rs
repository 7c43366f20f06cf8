//! The partition key ranges of a container (wire guide §12).
//!
//! The incremental feed must end in 304 once the caller has the newest version: two SDKs loop until it does.

use crate::failure::Failure;
use crate::reply::Reply;
use crate::request::Request;
use crate::{encode, header};
use http::StatusCode;
use http::header::{ETAG, IF_NONE_MATCH};
use orrery_documents::catalog::Container;
use orrery_documents::charge::Charge;
use serde_json::Value;

pub fn list(request: &Request, container: &Container) -> Result<Reply, Failure> {
    let current = container.ranges().version();
    let is_incremental =
        request.header(&header::A_IM).is_some_and(|mode| mode.eq_ignore_ascii_case("incremental feed"));
    let known = request.header(&IF_NONE_MATCH).filter(|_| is_incremental).and_then(version);
    if known == Some(current) {
        return Ok(Reply::new(StatusCode::NOT_MODIFIED, Charge::metadata()).header(ETAG, tag(current)));
    }
    // A future version belongs to an earlier container of the same name; its holder gets everything.
    let known = known.filter(|known| *known < current);
    let newer = |since: u32| known.is_none_or(|known| since > known);
    let leaves = container.ranges().leaves().iter().filter(|range| newer(range.since));
    let ranges: Vec<Value> = leaves.map(|range| encode::range(container, range)).collect();
    let count = ranges.len();
    let feed = encode::feed(container.rid_text(), "PartitionKeyRanges", ranges);
    Ok(Reply::new(StatusCode::OK, Charge::metadata())
        .header(ETAG, tag(current))
        .header(header::ITEM_COUNT, count.to_string())
        .value(&feed))
}

fn tag(version: u32) -> String {
    format!("\"{version}\"")
}

fn version(tag: &str) -> Option<u32> {
    tag.trim_matches('"').parse().ok()
}
