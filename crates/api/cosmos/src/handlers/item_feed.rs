//! Pages of items: the read feed (wire guide §16).

use crate::failure::Failure;
use crate::partition_key::{self, Scope};
use crate::query::cross_partition::QueryTarget;
use crate::query::pages::{Begin, Pages, Received};
use crate::reply::{Reply, ToValue};
use crate::request::Request;
use crate::service::Cosmos;
use crate::{encode, header, session};
use http::{HeaderName, HeaderValue, StatusCode};
use orrery_api_common::percent;
use orrery_core::Lsn;
use orrery_documents::catalog::Container;
use orrery_documents::charge::{Charge, ReadWork};
use orrery_documents::item::{self, Page};
use orrery_keys::Epk;
use std::sync::Arc;

pub async fn list(cosmos: &Cosmos, request: &Request, container: &Arc<Container>) -> Result<Reply, Failure> {
    if request.head.headers.contains_key(header::A_IM) {
        return super::change_feed::list(cosmos, request, container).await;
    }
    page(cosmos, request, container).await
}

async fn page(cosmos: &Cosmos, request: &Request, container: &Arc<Container>) -> Result<Reply, Failure> {
    let (scope, target) = (scope(request, container)?, QueryTarget::of(cosmos, request, container)?);
    let token = request.header_or_refuse(&header::CONTINUATION)?.filter(|token| !token.is_empty());
    let token = token.map(Received::parse).transpose()?;
    let seal = cosmos.tokens().of_feed(container.number());
    let pages = Pages { container, scope: &scope, named: None, seal };
    let Begin { scope, resume, is_by_range } = pages.begin(token.as_ref(), target.is_by_range())?;
    let (snapshot, now, limits) =
        (cosmos.store().snapshot(), cosmos.store().env().now(), request.page_limits()?);
    let place = place(cosmos, container, &scope, snapshot.lsn());
    let read = {
        let (container, scope) = (container.clone(), scope.clone());
        move || item::read_feed(&*snapshot, &container, &scope, resume.as_deref(), limits, now)
    };
    let page = orrery_document_store::on_a_thread(read).await??;
    let next = match is_by_range {
        false => page.more_after.as_deref().map(|key| pages.seal.seal(key)),
        true => pages.next(token.is_some(), &scope, page.more_after.as_deref()),
    };
    let reply = page_reply(container, &page).headers(place);
    Ok(match next {
        None => reply,
        Some(token) => reply.header(header::CONTINUATION, token),
    })
}

fn page_reply(container: &Container, page: &Page) -> Reply {
    let body = encode::item_feed(container, &page.items);
    let charge = Charge::feed(&ReadWork {
        documents_read: page.looked_at as u64,
        bytes_read: page.scanned as u64,
        rows: page.items.len() as u64,
        bytes_out: body.len() as u64,
        ..ReadWork::default()
    });
    Reply::new(StatusCode::OK, charge)
        .header(header::ITEM_COUNT, page.items.len().to_string())
        .header(header::ALT_CONTENT_PATH, percent::encode_uri(container.path()))
        .header(header::CONTENT_PATH, container.rid_text())
        .json(body)
}

/// Partition key, else range, else bounds, else everything; bounds narrow a range (wire guide §17.1).
pub(crate) fn scope(request: &Request, container: &Container) -> Result<Scope, Failure> {
    if let Some(key) = request.header_or_refuse(&header::PARTITION_KEY)?
        && partition_key::names_some(container, key)?
    {
        return partition_key::feed(container, key);
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

/// What a page says of its place: the session tokens of all ranges that it covers, and the first of them by its id.
pub(super) fn place(
    cosmos: &Cosmos,
    container: &Container,
    scope: &Scope,
    seen: Lsn,
) -> [(HeaderName, HeaderValue); 2] {
    let ranges = session::covered(scope, container);
    [
        (header::SESSION_TOKEN, session::tokens(cosmos, container, ranges, seen).to_value()),
        (header::PARTITION_KEY_RANGE_ID, ranges[0].id.to_value()),
    ]
}
