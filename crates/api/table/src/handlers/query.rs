//! A page of the entities of a table.

use super::entities;
use crate::call::Call;
use crate::continuation;
use crate::encode::Addressed;
use crate::errors::Failure;
use crate::head::Head;
use crate::json;
use crate::limits::PAGES_PER_CORE_MAX;
use crate::options::QueryOptions;
use crate::reply::Reply;
use bytes::Bytes;
use http::HeaderName;
use orrery_api_storage::{Bound, Grant, StorageError};
use orrery_table_store::{Error, TableHandle, TableStore};
use orrery_tables::{KeyBounds, Position, Query};
use std::num::NonZero;
use std::sync::LazyLock;
use tokio::sync::Semaphore;

const NEXT_PARTITION_KEY: HeaderName = HeaderName::from_static("x-ms-continuation-nextpartitionkey");
const NEXT_ROW_KEY: HeaderName = HeaderName::from_static("x-ms-continuation-nextrowkey");

/// Pages that are read at once; each has several megabytes in its hands, and the disk and the cores are the same for all.
static TURNS: LazyLock<Semaphore> = LazyLock::new(|| {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    Semaphore::new(cores * PAGES_PER_CORE_MAX)
});

pub async fn run(
    store: &TableStore,
    call: &Call,
    head: &Head,
    table: &str,
    options: QueryOptions,
    grant: &Grant,
) -> Result<Reply, Failure> {
    let table = entities::table(store, call, table)?;
    let query =
        Query { from: options.position(), filter: options.filter, top: options.top, bounds: bounds(grant) };
    let page = Page {
        store: store.clone(),
        table,
        query,
        head: *head,
        select: options.select,
        base_url: call.base_url.clone(),
        account: call.account().as_str().to_owned(),
    };
    let turn = TURNS.acquire().await.map_err(|_| StorageError::internal())?;
    // A page may look at many rows.
    let read = tokio::task::spawn_blocking(move || {
        let page = page.read();
        drop(turn);
        page
    });
    let (body, next) = read.await.map_err(|_| StorageError::internal())??;
    let reply = Reply::json(head.level, body);
    Ok(match next {
        Some(next) => continued(reply, &next),
        None => reply,
    })
}

/// What the thread that reads the page needs.
struct Page {
    store: TableStore,
    table: TableHandle,
    query: Query,
    head: Head,
    select: Option<Vec<String>>,
    base_url: String,
    account: String,
}

impl Page {
    fn read(self) -> Result<(Bytes, Option<Position>), Error> {
        let page = self.store.query(&self.table, &self.query)?;
        let table = self.table.name.as_str();
        let addressed = Addressed { base_url: &self.base_url, account: &self.account, table };
        let answer = addressed.answer(&self.head, self.select.as_deref());
        Ok((json::entities(&answer, table, &page.entities), page.next))
    }
}

fn continued(reply: Reply, next: &Position) -> Reply {
    let reply = reply.header(NEXT_PARTITION_KEY, &continuation::write(&next.partition_key));
    match &next.row_key {
        Some(row_key) => reply.header(NEXT_ROW_KEY, &continuation::write(row_key)),
        None => reply,
    }
}

/// The part of the table that a signature is for; entities outside it are as good as not there.
fn bounds(grant: &Grant) -> KeyBounds {
    let position = |bound: &Bound| Position {
        partition_key: bound.partition_key.clone(),
        row_key: bound.row_key.clone(),
    };
    let range = grant.table_range();
    KeyBounds {
        start: range.and_then(|range| range.start.as_ref()).map(position),
        end: range.and_then(|range| range.end.as_ref()).map(position),
    }
}
