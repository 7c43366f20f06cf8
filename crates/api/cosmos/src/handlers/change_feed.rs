//! The change feed of a container, a range, or a partition (wire guide §18).
//!
//! The etag of a page is the start of the next one. 304 means that nothing is new; a page that scanned much and found
//! nothing in its scope is an empty 200 with an advanced etag.

use super::item_feed::{place, scope};
use crate::change_feed::body;
use crate::change_feed::request::{ChangeFeedRequest, Feed};
use crate::failure::Failure;
use crate::header;
use crate::reply::Reply;
use crate::request::Request;
use crate::service::Cosmos;
use http::StatusCode;
use http::header::ETAG;
use orrery_api_common::percent;
use orrery_document_store::{ChangesPage, ChangesRequest, Encoded};
use orrery_documents::catalog::Container;
use orrery_documents::changes::Version;
use orrery_documents::item::ItemRow;
use std::sync::Arc;

pub async fn list(cosmos: &Cosmos, request: &Request, container: &Arc<Container>) -> Result<Reply, Failure> {
    let ChangeFeedRequest { feed, start } = ChangeFeedRequest::read(request)?;
    let (scope, limits) = (scope(request, container)?, request.page_limits()?);
    let since = match feed {
        Feed::Latest { since, .. } => since,
        Feed::AllVersions { .. } => None,
    };
    let changes = ChangesRequest { scope: scope.clone(), start, since, limits, priority: request.priority() };
    let page = match feed {
        Feed::Latest { shape, .. } => {
            let encode = move |container: &Container, items: &[ItemRow]| {
                encoded(body::latest(container, items, shape))
            };
            cosmos.store().changes(container, &changes, encode).await?
        }
        Feed::AllVersions { pre_images } => {
            let encode = move |container: &Container, versions: &[Version]| {
                encoded(body::versions(container, versions, pre_images))
            };
            cosmos.store().all_versions(container, &changes, encode).await?
        }
    };
    let (place, lsn) = (place(cosmos, container, &scope, page.lsn), page.lsn);
    Ok(reply(container, page).headers(place).header(header::LSN, lsn.0))
}

fn encoded(body: Vec<u8>) -> Encoded<Vec<u8>> {
    Encoded { bytes: body.len(), body }
}

fn reply(container: &Container, page: ChangesPage<Vec<u8>>) -> Reply {
    let is_news = page.count > 0 || page.has_more;
    let status = if is_news { StatusCode::OK } else { StatusCode::NOT_MODIFIED };
    let reply = Reply::new(status, page.charge)
        .header(ETAG, format!("\"{}\"", page.after))
        .header(header::ITEM_COUNT, page.count.to_string())
        .header(header::ALT_CONTENT_PATH, percent::encode_uri(container.path()))
        .header(header::CONTENT_PATH, container.rid_text());
    if is_news { reply.json(page.body) } else { reply }
}
