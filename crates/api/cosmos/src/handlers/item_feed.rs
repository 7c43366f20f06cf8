//! Pages of items: the read feed (wire guide §16).

use super::item_query::{continuation, target};
use crate::failure::Failure;
use crate::reply::{Reply, ToValue};
use crate::request::Request;
use crate::service::Cosmos;
use crate::{encode, header, session};
use http::{HeaderName, HeaderValue, StatusCode};
use orrery_api_common::percent;
use orrery_core::Lsn;
use orrery_document_store::{Encoded, FeedRequest, covered, partition_key};
use orrery_documents::catalog::Container;
use orrery_documents::item::{FeedScope as Scope, ItemRow};
use orrery_keys::Epk;
use std::sync::Arc;

pub async fn list(cosmos: &Cosmos, request: &Request, container: &Arc<Container>) -> Result<Reply, Failure> {
    if request.head.headers.contains_key(header::A_IM) {
        return super::change_feed::list(cosmos, request, container).await;
    }
    page(cosmos, request, container).await
}

async fn page(cosmos: &Cosmos, request: &Request, container: &Arc<Container>) -> Result<Reply, Failure> {
    let feed = FeedRequest {
        scope: scope(request, container)?,
        is_by_range: target(cosmos, request, container)?.is_by_range(),
        continuation: continuation(request)?,
        limits: request.page_limits()?,
        priority: request.priority(),
    };
    let encode = |container: &Container, items: &[ItemRow]| {
        let body = encode::item_feed(container, items);
        Encoded { bytes: body.len(), body }
    };
    let page = cosmos.store().read_feed(container, &feed, encode).await?;
    let reply = Reply::new(StatusCode::OK, page.charge)
        .header(header::ITEM_COUNT, page.count.to_string())
        .header(header::ALT_CONTENT_PATH, percent::encode_uri(container.path()))
        .header(header::CONTENT_PATH, container.rid_text())
        .headers(place(cosmos, container, &page.scope, page.lsn))
        .json(page.body);
    Ok(match page.continuation {
        None => reply,
        Some(token) => reply.header(header::CONTINUATION, token),
    })
}

/// Partition key, else range, else bounds, else the whole container; bounds narrow a range (wire guide §17.1).
pub(crate) fn scope(request: &Request, container: &Container) -> Result<Scope, Failure> {
    orrery_core::tour_step!();
    if let Some(key) = request.header_or_refuse(&header::PARTITION_KEY)?
        && partition_key::names_some(container, key)?
    {
        return Ok(partition_key::feed(container, key)?);
    }
    let (mut min, mut max) = (Epk::start(), Epk::end());
    if let Some(id) = request.header_or_refuse(&header::PARTITION_KEY_RANGE_ID)?.filter(|id| !id.is_empty()) {
        let range = id
            .parse()
            .ok()
            .and_then(|id| container.ranges().get(id))
            .ok_or_else(|| Failure::range_gone(id))?;
        (min, max) = (range.min.clone(), range.max.clone());
    }
    if let Some(start) = bound(request, &header::START_EPK)? {
        min = min.max(start);
    }
    if let Some(end) = bound(request, &header::END_EPK)? {
        max = max.min(end);
    }
    Ok(Scope::Between(min, max))
}

fn bound(request: &Request, name: &http::HeaderName) -> Result<Option<Epk>, Failure> {
    let Some(text) = request.header_or_refuse(name)? else { return Ok(None) };
    let parsed = Epk::parse(text).map(Some);
    parsed.map_err(|error| {
        Failure::bad_request(format!("The header {name} is not an effective partition key: {error}."))
    })
}

/// The location headers of a page: the session tokens of all ranges that it covers, and the id of the first one.
pub(super) fn place(
    cosmos: &Cosmos,
    container: &Container,
    scope: &Scope,
    seen: Lsn,
) -> [(HeaderName, HeaderValue); 2] {
    let ranges = covered(scope, container);
    [
        (header::SESSION_TOKEN, session::tokens(cosmos, container, ranges, seen).to_value()),
        (header::PARTITION_KEY_RANGE_ID, ranges[0].id.to_value()),
    ]
}
