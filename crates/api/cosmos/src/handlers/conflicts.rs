//! Conflicts between regions that both accepted writes (wire guide §20). An account with one region has none, so the
//! feed is empty and every read of one is a 404.

use super::{find_container, list_reply};
use crate::encode;
use crate::failure::Failure;
use crate::query::resources;
use crate::reply::Reply;
use crate::request::{Post, Request};
use crate::service::Cosmos;
use http::Method;

const FEED: &str = "Conflicts";

pub async fn on_feed(
    cosmos: &Cosmos,
    request: &mut Request,
    method: &Method,
    database: &str,
    container: &str,
) -> Result<Reply, Failure> {
    let container = find_container(cosmos, request, database, container)?;
    match (method.as_str(), request.post()) {
        ("GET", _) => Ok(list_reply(&encode::feed(container.rid_text(), FEED, Vec::new()), 0)),
        ("POST", Post::Query) => {
            super::item_query::target(cosmos, request, &container)?.check_enabled()?;
            resources::query(cosmos, request, container.rid_text(), FEED, Vec::new()).await
        }
        _ => Err(Failure::method_not_allowed()),
    }
}

pub fn on_conflict(
    cosmos: &Cosmos,
    request: &Request,
    method: &Method,
    database: &str,
    container: &str,
    id: &str,
) -> Result<Reply, Failure> {
    find_container(cosmos, request, database, container)?;
    match *method {
        Method::GET | Method::DELETE => {
            Err(Failure::not_found(format!("Resource Not Found: there is no conflict '{id}'.")))
        }
        _ => Err(Failure::method_not_allowed()),
    }
}
