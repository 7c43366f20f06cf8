//! The change feed of a container, a range, or a partition (wire guide §18).
//!
//! The etag of a page says where the next one begins. 304 means that nothing is new; a page that looked at much and found
//! nothing for its scope is an empty 200, with an etag that has moved on.

use super::item_feed::{place, scope};
use crate::change_feed::asked::{Asked, Feed, Place};
use crate::change_feed::body;
use crate::failure::Failure;
use crate::header;
use crate::partition_key::Scope;
use crate::reply::Reply;
use crate::request::Request;
use crate::service::Cosmos;
use http::StatusCode;
use http::header::ETAG;
use orrery_api_common::percent;
use orrery_core::{Lsn, Timestamp};
use orrery_document_store::Snapshot;
use orrery_documents::catalog::Container;
use orrery_documents::changes::{self, Changes, NotRetained, Start};
use orrery_documents::charge::{Charge, ReadWork};
use orrery_query::execute::Limits;
use std::sync::Arc;

pub async fn list(cosmos: &Cosmos, request: &Request, container: &Arc<Container>) -> Result<Reply, Failure> {
    let (asked, scope, limits) = (Asked::read(request)?, scope(request, container)?, request.page_limits()?);
    let (snapshot, now) = (cosmos.store().snapshot(), cosmos.store().env().now());
    if let Place::After(after) = asked.place
        && after > snapshot.lsn()
    {
        return Err(from_the_future(after, snapshot.lsn()));
    }
    let (place, lsn) = (place(cosmos, container, &scope, snapshot.lsn()), snapshot.lsn());
    let read = {
        let container = container.clone();
        move || read(&snapshot, &container, &scope, asked, limits, now)
    };
    let page = orrery_document_store::on_a_thread(read).await??;
    Ok(reply(container, page).headers(place).header(header::LSN, lsn.0))
}

/// Going on from there would pass over every change until the numbers have caught up.
fn from_the_future(after: Lsn, newest: Lsn) -> Failure {
    Failure::bad_request(format!(
        "The position {after} of the change feed lies after the newest change, {newest}: it is of another account, or of data that was lost. Begin again."
    ))
}

/// A page, written out.
struct Page {
    body: Vec<u8>,
    count: usize,
    after: Lsn,
    has_more: bool,
    charge: Charge,
}

fn read(
    snapshot: &Snapshot,
    container: &Container,
    scope: &Scope,
    asked: Asked,
    limits: Limits,
    now: Timestamp,
) -> Result<Page, NotRetained> {
    match asked.feed {
        Feed::Latest { shape, since } => {
            let after = match (asked.place, since) {
                (Place::After(after), _) => after,
                (Place::Now, _) => snapshot.lsn(),
                (Place::Beginning, None) => Lsn(0),
                (Place::Beginning, Some(since)) => changes::position_at(snapshot, container.number(), since)?,
            };
            let start = Start { after, since };
            let found = changes::latest(snapshot, container, scope, start, limits, now)?;
            let body = body::latest(container, &found.changes, shape);
            Ok(page(&found, body))
        }
        Feed::AllVersions { pre_images } => {
            let after = match asked.place {
                Place::After(after) => after,
                Place::Now | Place::Beginning => snapshot.lsn(),
            };
            let found = changes::versions(snapshot, container, scope, after, limits, now)?;
            let body = body::versions(container, &found.changes, pre_images);
            Ok(page(&found, body))
        }
    }
}

fn page<T>(found: &Changes<T>, body: Vec<u8>) -> Page {
    let (count, work) = (found.changes.len(), found.work);
    let charge = Charge::feed(&ReadWork {
        documents_read: work.items as u64,
        bytes_read: work.item_bytes as u64,
        entries_read: work.entries as u64,
        rows: count as u64,
        bytes_out: if count == 0 { 0 } else { body.len() as u64 },
        ..ReadWork::default()
    });
    Page { body, count, after: found.after, has_more: found.has_more, charge }
}

fn reply(container: &Container, page: Page) -> Reply {
    let is_news = page.count > 0 || page.has_more;
    let status = if is_news { StatusCode::OK } else { StatusCode::NOT_MODIFIED };
    let reply = Reply::new(status, page.charge)
        .header(ETAG, format!("\"{}\"", page.after))
        .header(header::ITEM_COUNT, page.count.to_string())
        .header(header::ALT_CONTENT_PATH, percent::encode_uri(container.path()))
        .header(header::CONTENT_PATH, container.rid_text());
    if is_news { reply.json(page.body) } else { reply }
}
