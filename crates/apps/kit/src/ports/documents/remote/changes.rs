//! The change feed: latest versions, in order within each partition, every range in turn.
//!
//! A cursor holds the etag of each part. A call asks each part at most once, beginning with the one that has
//! waited longest, and ends when it has enough; a part that responds 304 has no changes.

use super::Remote;
use super::call::{RequestBuilder, RetryBudget, Sees, send};
use super::parts::Parts;
use super::query::{Feed, scoped, within};
use crate::idempotency::hash;
use crate::limits;
use crate::ports::documents::{Changes, Cursor, StoreError};
use http::Method;
use http::header::{ETAG, IF_NONE_MATCH};
use orrery_client::Call;
use orrery_core::limits::PAGE_ITEMS_DEFAULT;
use serde_json::Value;

pub async fn page(
    remote: &Remote,
    container: &str,
    partition: Option<&str>,
    since: Option<&Cursor>,
    items_max: usize,
) -> Result<Changes, StoreError> {
    let of = feed(container, partition);
    let parts = match since {
        None => Parts::all(None),
        Some(cursor) => Parts::read(&of, &cursor.0)?,
    };
    read(remote, container, partition, parts, items_max).await
}

/// Asks each part for changes from now on; the response has a position and no items.
pub async fn end(remote: &Remote, container: &str, partition: Option<&str>) -> Result<Cursor, StoreError> {
    let parts = Parts::all(Some(FROM_NOW_ON));
    let found = read(remote, container, partition, parts, 0).await?;
    Ok(found.next)
}

const FROM_NOW_ON: &str = "*";

async fn read(
    remote: &Remote,
    container: &str,
    partition: Option<&str>,
    mut parts: Parts,
    items_max: usize,
) -> Result<Changes, StoreError> {
    let of = feed(container, partition);
    let wanted = if items_max == 0 { PAGE_ITEMS_DEFAULT } else { items_max };
    let (mut items, mut has_more, mut visited, mut moves) = (Vec::new(), false, 0, 0);
    let mut patience = RetryBudget::new(remote);
    while visited < parts.0.len() {
        if items.len() >= wanted {
            has_more = true;
            break;
        }
        let within = within(remote, container, partition, &mut parts).await?;
        let mut ask = RequestBuilder::of(Call::items(Method::GET, &remote.inner.database, container))
            .header("a-im", "Incremental Feed")
            .header("x-ms-max-item-count", (wanted - items.len()).to_string())
            .session(container, Sees::Before);
        if let Some(etag) = parts.0.front().and_then(|part| part.token.as_deref()) {
            ask = ask.header(IF_NONE_MATCH.as_str(), etag);
        }
        ask = match (partition, &within) {
            (Some(partition), _) => ask.partition(partition),
            (None, Some(within)) => scoped(ask, within),
            (None, None) => ask,
        };
        let answer = send(remote, &ask, &mut patience).await?;
        if answer.is_gone() && partition.is_none() && moves < limits::SERVICE_STORE_MOVES_MAX {
            moves += 1;
            remote.inner.ranges.forget(container);
            continue;
        }
        if !answer.is_success() && answer.status() != 304 {
            return Err(answer.refusal());
        }
        if let Some(mut part) = parts.0.pop_front() {
            part.token = answer.header(ETAG.as_str()).map(str::to_owned).or(part.token);
            parts.0.push_back(part);
        }
        visited += 1;
        if answer.is_success() {
            has_more = true;
            items.extend(answer.json::<Feed>()?.rows.into_iter().map(without_lsn));
        }
    }
    Ok(Changes { items, next: Cursor(parts.write(&of)?), has_more })
}

/// Removes the feed's additions to an item, so that it equals the result of a read.
fn without_lsn(mut item: Value) -> Value {
    if let Value::Object(members) = &mut item {
        members.shift_remove("_lsn");
    }
    item
}

/// A hash of the feed's parameters, so that a cursor is not used for another feed.
fn feed(container: &str, partition: Option<&str>) -> String {
    let scope = if partition.is_some() { "partition" } else { "all" };
    let partition = partition.unwrap_or_default();
    let name = hash(&[b"changes", container.as_bytes(), scope.as_bytes(), partition.as_bytes()]);
    name.chars().take(32).collect()
}
