//! The change feed: every start, every scope, both modes.

use super::{Outcome, facts};
use crate::check::refused;
use crate::cosmos::{Cosmos, properties};
use azure_data_cosmos::clients::ContainerClient;
use azure_data_cosmos::feed::ContinuationToken;
use azure_data_cosmos::models::{ChangeFeedItem, ChangeFeedOperationType, ThroughputProperties};
use azure_data_cosmos::options::{ChangeFeedMode, ChangeFeedOptions, ChangeFeedStartFrom, MaxItemCountHint};
use azure_data_cosmos::{FeedScope, Result};
use futures::TryStreamExt;
use serde_json::{Value, json};
use std::num::NonZeroU32;

facts! { Running:
    "change_feed.latest" => each_item_comes_once_where_it_was_last_written,
    "change_feed.latest" => from_now_only_what_comes_is_told,
    "change_feed.latest" => a_token_goes_on_where_the_page_ended,
    "change_feed.scopes" => a_partition_key_narrows_the_feed,
    "change_feed.scopes" => feed_ranges_together_have_every_change_once,
    "change_feed.split" => a_feed_that_began_before_the_split_ends_after_it,
    "change_feed.all_versions" => every_version_is_told_and_a_delete_shows_what_it_deleted,
    "change_feed.all_versions" => all_versions_do_not_begin_at_the_beginning,
}

async fn each_item_comes_once_where_it_was_last_written(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    fill(&container, 0..5).await?;
    fill(&container, 1..2).await?;
    container.delete_item("p2", "i02", None).await?;
    let (found, _) = changes(&container, FeedScope::full_container(), BEGINNING, options(), 1).await?;
    assert_eq!(ids(&found), ["i00", "i03", "i04", "i01"]);
    let metadata = found[0].metadata().ok_or("no metadata")?;
    assert!(metadata.lsn().is_some() && metadata.operation_type().is_none());
    Ok(())
}

async fn from_now_only_what_comes_is_told(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    fill(&container, 0..1).await?;
    let everything = FeedScope::full_container;
    let (found, token) = changes(&container, everything(), ChangeFeedStartFrom::Now, options(), 1).await?;
    assert!(found.is_empty());
    fill(&container, 1..2).await?;
    let resumed = options().with_continuation_token(token);
    let (found, _) = changes(&container, everything(), ChangeFeedStartFrom::Now, resumed, 1).await?;
    assert_eq!(ids(&found), ["i01"]);
    Ok(())
}

async fn a_token_goes_on_where_the_page_ended(cosmos: Cosmos) -> Outcome {
    let place = cosmos.place(properties("/pk"), None).await?;
    let container = place.seen_by(&cosmos.client).await?;
    fill(&container, 0..25).await?;
    let feed = container.query_change_feed::<Value>(FeedScope::full_container(), BEGINNING, Some(by(10))).await?;
    futures::pin_mut!(feed);
    let first = feed.try_next().await?.ok_or("no page")?.into_items();
    assert_eq!(first.len(), 10);
    let token = feed.to_continuation_token()?;
    let reader = place.seen_by(&cosmos.open().await?).await?;
    let resumed = by(10).with_continuation_token(token);
    let (rest, _) = changes(&reader, FeedScope::full_container(), BEGINNING, resumed, 1).await?;
    assert_eq!([ids(&first), ids(&rest)].concat(), names(0..25));
    Ok(())
}

async fn a_partition_key_narrows_the_feed(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container_with_throughput(12_000).await?;
    fill(&container, 0..25).await?;
    let (found, _) = changes(&container, FeedScope::partition("p3"), BEGINNING, by(2), 1).await?;
    assert_eq!(ids(&found), ["i03", "i13", "i23"]);
    Ok(())
}

async fn feed_ranges_together_have_every_change_once(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container_with_throughput(24_000).await?;
    fill(&container, 0..40).await?;
    let ranges = container.read_feed_ranges(None).await?;
    let mut found = Vec::new();
    for range in ranges.clone() {
        let (part, _) = changes(&container, FeedScope::range(range), BEGINNING, by(3), 1).await?;
        found.extend(ids(&part));
    }
    found.sort();
    assert_eq!((ranges.len(), found), (4, names(0..40)));
    let (whole, _) = changes(&container, FeedScope::full_container(), BEGINNING, by(3), 4).await?;
    let mut whole = ids(&whole);
    whole.sort();
    assert_eq!(whole, names(0..40));
    Ok(())
}

async fn a_feed_that_began_before_the_split_ends_after_it(cosmos: Cosmos) -> Outcome {
    let place = cosmos.place(properties("/pk"), Some(ThroughputProperties::manual(400))).await?;
    let container = place.seen_by(&cosmos.client).await?;
    fill(&container, 0..20).await?;
    let (start, token) = changes(&container, FeedScope::full_container(), BEGINNING, options(), 1).await?;
    let operator = place.seen_by(&cosmos.open().await?).await?;
    operator.begin_replace_throughput(ThroughputProperties::manual(12_000), None).await?.await?;
    fill(&operator, 20..30).await?;
    let resumed = options().with_continuation_token(token);
    let (rest, _) = changes(&container, FeedScope::full_container(), BEGINNING, resumed, 2).await?;
    let mut found = [ids(&start), ids(&rest)].concat();
    found.sort();
    assert_eq!(found, names(0..30));
    Ok(())
}

async fn every_version_is_told_and_a_delete_shows_what_it_deleted(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    let all = || options().with_mode(ChangeFeedMode::AllVersionsAndDeletes);
    let (_, token) =
        changes(&container, FeedScope::full_container(), ChangeFeedStartFrom::Now, all(), 1).await?;
    for text in ["first", "second"] {
        let item = json!({"id": "a", "pk": "p", "text": text});
        container.upsert_item("p", "a", item, None).await?;
    }
    container.delete_item("p", "a", None).await?;
    let resumed = all().with_continuation_token(token);
    let (found, _) =
        changes(&container, FeedScope::full_container(), ChangeFeedStartFrom::Now, resumed, 1).await?;
    let operations: Vec<_> = found.iter().filter_map(ChangeFeedItem::operation_type).collect();
    use ChangeFeedOperationType::{Create, Delete, Replace};
    assert_eq!(operations, [Create, Replace, Delete]);
    let text = |item: Option<&Value>| item.map(|item| item["text"].as_str().unwrap_or_default().to_owned());
    let images: Vec<_> = found.iter().map(|change| (text(change.current()), text(change.previous()))).collect();
    let (first, second) = (Some("first".to_owned()), Some("second".to_owned()));
    assert_eq!(images, [(first, None), (second.clone(), None), (None, second)]);
    let deleted = found[2].metadata().ok_or("no metadata")?;
    assert_eq!((deleted.id(), deleted.partition_key()), (Some("a"), Some(&json!(["p"]))));
    assert_eq!(deleted.time_to_live_expired(), Some(false));
    Ok(())
}

async fn all_versions_do_not_begin_at_the_beginning(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    let all = options().with_mode(ChangeFeedMode::AllVersionsAndDeletes);
    let outcome = changes(&container, FeedScope::full_container(), BEGINNING, all, 1).await;
    assert_eq!(refused(outcome), 400);
    Ok(())
}

const BEGINNING: ChangeFeedStartFrom = ChangeFeedStartFrom::Beginning;

/// All that is new, and where to go on. The SDK asks range after range, so all of them must have had nothing.
pub(super) async fn changes(
    container: &ContainerClient,
    scope: FeedScope,
    start: ChangeFeedStartFrom,
    options: ChangeFeedOptions,
    ranges: usize,
) -> Result<(Vec<ChangeFeedItem<Value>>, ContinuationToken)> {
    let feed = container.query_change_feed::<Value>(scope, start, Some(options)).await?;
    futures::pin_mut!(feed);
    let (mut found, mut empty) = (Vec::new(), 0);
    while empty < ranges {
        let Some(page) = feed.try_next().await? else { break };
        empty = if page.items().is_empty() { empty + 1 } else { 0 };
        found.extend(page.into_items());
    }
    Ok((found, feed.to_continuation_token()?))
}

pub(super) fn options() -> ChangeFeedOptions {
    ChangeFeedOptions::default()
}

fn by(items: u32) -> ChangeFeedOptions {
    let limit = NonZeroU32::new(items).map_or(MaxItemCountHint::ServerDecides, MaxItemCountHint::Limit);
    options().with_max_item_count(limit)
}

pub(super) async fn fill(container: &ContainerClient, numbers: std::ops::Range<usize>) -> Result<()> {
    for n in numbers {
        let (id, pk) = (format!("i{n:02}"), format!("p{}", n % 10));
        container.upsert_item(&pk, &id, json!({"id": id, "pk": pk, "n": n}), None).await?;
    }
    Ok(())
}

fn names(numbers: std::ops::Range<usize>) -> Vec<String> {
    numbers.map(|n| format!("i{n:02}")).collect()
}

pub(super) fn ids(found: &[ChangeFeedItem<Value>]) -> Vec<String> {
    let id = |change: &ChangeFeedItem<Value>| change.current()?["id"].as_str().map(str::to_owned);
    found.iter().filter_map(id).collect()
}
