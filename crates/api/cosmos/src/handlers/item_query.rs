//! Queries over items: pages of rows, the plan for clients that merge ranges, and the explanation of a query
//! (wire guide §17).

use super::item_feed::{place, scope};
use crate::failure::Failure;
use crate::header;
use crate::query::metrics;
use crate::reply::Reply;
use crate::request::Request;
use crate::service::Cosmos;
use bytes::Bytes;
use http::StatusCode;
use orrery_api_common::percent;
use orrery_document_store::{
    Charged as _, CrossPartition, PageRequest, QueryPage, QuerySpec, QueryTarget, Received, partition_key,
};
use orrery_documents::catalog::Container;
use orrery_documents::charge::Charge;
use orrery_query::execute::Page;
use serde_json::json;
use std::sync::Arc;

pub async fn query(
    cosmos: &Cosmos,
    request: &mut Request,
    container: &Arc<Container>,
) -> Result<Reply, Failure> {
    orrery_core::tour_step!();
    if request.is_true(&header::EXPLAIN) {
        return explain(cosmos, request, container).await;
    }
    let query = cosmos.store().plan_cache().read(&request.body().await?)?;
    let page = PageRequest {
        query,
        scope: scope(request, container)?,
        target: target(cosmos, request, container)?,
        continuation: continuation(request)?,
        may_narrow: true,
        limits: request.page_limits()?,
        priority: request.priority(),
    };
    let found = cosmos.store().query(container, page).await?;
    let QueryPage { page, scope, continuation, descends, elapsed_ms, lsn } = found;
    let reply = with_direction(reply(container, &page), descends);
    let reply = reply.headers(place(cosmos, container, &scope, lsn));
    let reply = metrics::add(reply, request, &page, elapsed_ms);
    let reply = match continuation {
        None => reply,
        Some(token) => reply.header(header::CONTINUATION, token),
    };
    let (first, second) = text(container, page);
    Ok(reply.json_in_two(first, second))
}

/// Our own request: the header `x-orrery-explain` on an ordinary query.
async fn explain(
    cosmos: &Cosmos,
    request: &mut Request,
    container: &Arc<Container>,
) -> Result<Reply, Failure> {
    let spec = QuerySpec::parse(&request.body().await?)?;
    let (scope, limits, priority) = (scope(request, container)?, request.page_limits()?, request.priority());
    let explained = cosmos.store().explain(container, spec, scope.clone(), limits, priority).await?;
    let place = place(cosmos, container, &scope, explained.lsn);
    let shown = json!({
        "plan": explained.plan,
        "partitions": explained.partitions,
        "access": explained.access,
    });
    Ok(Reply::new(StatusCode::OK, explained.charge()).headers(place).value(&shown))
}

/// The query-plan endpoint: the plan by which a client runs a query over the container's ranges itself (wire
/// guide §17.5).
pub async fn plan(
    cosmos: &Cosmos,
    request: &mut Request,
    container: &Arc<Container>,
) -> Result<Reply, Failure> {
    let spec = QuerySpec::parse(&request.body().await?)?;
    let features = request.header(&header::SUPPORTED_QUERY_FEATURES).unwrap_or_default().to_owned();
    let answers_alone = mode(cosmos, request) == CrossPartition::Direct;
    let (scope, priority) = (scope(request, container).ok(), request.priority());
    let plan = cosmos.store().client_plan(container, spec, features, answers_alone, scope.as_ref(), priority);
    let plan = plan.await?;
    Ok(Reply::new(StatusCode::OK, plan.charge()).json(plan.0))
}

/// The value of the header [`header::CROSS_PARTITION`] that asks for a complete result.
const DIRECT: &str = "direct";

/// The server's mode, unless the request asks for a direct result.
fn mode(cosmos: &Cosmos, request: &Request) -> CrossPartition {
    let asks = |value: &str| value.eq_ignore_ascii_case(DIRECT);
    let is_asked = request.header(&header::CROSS_PARTITION).is_some_and(asks);
    if is_asked { CrossPartition::Direct } else { cosmos.cross_partition() }
}

/// The partitions that the request names, and what its client can merge.
pub(super) fn target(
    cosmos: &Cosmos,
    request: &Request,
    container: &Container,
) -> Result<QueryTarget, Failure> {
    Ok(QueryTarget {
        mode: mode(cosmos, request),
        is_scoped: is_scoped(request, container)?,
        is_enabled: request.is_true(&header::ENABLE_CROSS_PARTITION),
        features: request.header(&header::SUPPORTED_QUERY_FEATURES).unwrap_or_default().to_owned(),
    })
}

/// An empty key names no partition, except in a container whose partition key was added after its items.
fn is_scoped(request: &Request, container: &Container) -> Result<bool, Failure> {
    if let Some(key) = request.header_or_refuse(&header::PARTITION_KEY)? {
        return Ok(partition_key::names_some(container, key)?);
    }
    let names = [&header::PARTITION_KEY_RANGE_ID, &header::START_EPK, &header::END_EPK];
    Ok(names.iter().any(|name| request.header(name).is_some_and(|value| !value.is_empty())))
}

pub(super) fn continuation(request: &Request) -> Result<Option<Received>, Failure> {
    let token = request.header_or_refuse(&header::CONTINUATION)?.filter(|token| !token.is_empty());
    Ok(token.map(Received::parse).transpose()?)
}

/// Tells clients that resume an ORDER BY the order of equal rows: by resource id, in the direction of the first
/// key.
fn with_direction(reply: Reply, descends: Option<bool>) -> Reply {
    match descends {
        None => reply,
        Some(descends) => {
            let info = format!(r#"{{"reverseRidEnabled":false,"reverseIndexScan":{descends}}}"#);
            reply.header(header::QUERY_EXECUTION_INFO, info)
        }
    }
}

/// The response in two pieces: the rows are not copied.
fn text(container: &Container, page: Page) -> (Bytes, Bytes) {
    let first = format!("{{\"_rid\":\"{}\",\"Documents\":[", container.rid_text());
    let mut second = page.rows;
    second.extend_from_slice(format!("],\"_count\":{}}}", page.count).as_bytes());
    (first.into(), second.into())
}

fn reply(container: &Container, page: &Page) -> Reply {
    Reply::new(StatusCode::OK, Charge::page(page))
        .header(header::ITEM_COUNT, page.count.to_string())
        .header(header::ALT_CONTENT_PATH, percent::encode_uri(container.path()))
        .header(header::CONTENT_PATH, container.rid_text())
}
