//! Queries over databases, containers, offers and subresources, in the format of their feeds.

use crate::failure::Failure;
use crate::header;
use crate::reply::Reply;
use crate::request::Request;
use crate::service::Cosmos;
use http::StatusCode;
use orrery_document_store::{QuerySpec, ResourceList, ResourceRequest};
use orrery_documents::charge::Charge;
use orrery_query::execute::{Collection, Page};
use serde_json::Value;

/// The response of a resource feed to a query: rows under the feed's own name.
pub async fn query(
    cosmos: &Cosmos,
    request: &mut Request,
    owner_rid: &str,
    name: &str,
    resources: Vec<Value>,
) -> Result<Reply, Failure> {
    query_over(cosmos, request, owner_rid, name, ResourceList::new(&resources)).await
}

/// Variant for any collection whose positions are ids.
pub async fn query_over(
    cosmos: &Cosmos,
    request: &mut Request,
    owner_rid: &str,
    name: &str,
    resources: impl Collection + Send + 'static,
) -> Result<Reply, Failure> {
    let spec = QuerySpec::parse(&request.body().await?)?;
    let token = request.header_or_refuse(&header::CONTINUATION)?.filter(|token| !token.is_empty());
    let asked = ResourceRequest {
        spec,
        list: format!("{owner_rid}/{name}"),
        continuation: token.map(str::to_owned),
        limits: request.page_limits()?,
    };
    let found = cosmos.store().query_resources(asked, resources).await?;
    let reply = reply(owner_rid, name, &found.page);
    Ok(match found.continuation {
        None => reply,
        Some(token) => reply.header(header::CONTINUATION, token),
    })
}

fn reply(owner_rid: &str, name: &str, page: &Page) -> Reply {
    let mut text = format!("{{\"_rid\":{},\"{name}\":[", Value::from(owner_rid)).into_bytes();
    text.extend_from_slice(&page.rows);
    text.extend_from_slice(format!("],\"_count\":{}}}", page.count).as_bytes());
    Reply::new(StatusCode::OK, Charge::metadata())
        .header(header::ITEM_COUNT, page.count.to_string())
        .json(text)
}
