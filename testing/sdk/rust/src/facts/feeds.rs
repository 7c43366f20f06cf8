//! Feeds: every item once, page by page, range by range, and while a container splits.

use super::{Outcome, facts};
use crate::check::{ids, read};
use crate::cosmos::{Cosmos, properties};
use azure_data_cosmos::clients::ContainerClient;
use azure_data_cosmos::feed::ContinuationToken;
use azure_data_cosmos::models::ThroughputProperties;
use azure_data_cosmos::options::{MaxItemCountHint, QueryOptions, ReadFeedRangesOptions};
use azure_data_cosmos::{FeedScope, Result};
use futures::TryStreamExt;
use serde_json::{Value, json};
use std::num::NonZeroU32;

facts! { Running:
    "feeds.read_all" => every_item_comes_once_in_pages,
    "feeds.read_all" => an_empty_container_reads_as_nothing,
    "feeds.read_all" => a_partition_key_narrows_the_feed_to_its_items,
    "feeds.resume" => a_token_goes_on_where_the_page_ended,
    "feeds.insertion_order" => items_come_in_the_order_of_their_creation,
    "feeds.ranges" => throughput_decides_the_number_of_ranges,
    "feeds.ranges" => items_of_several_ranges_are_written_and_read,
    "feeds.range_of_key" => the_range_of_a_key_lies_in_one_of_the_containers_ranges,
    "feeds.by_range" => the_ranges_together_have_every_item_once,
    "feeds.split" => a_client_goes_on_while_its_container_splits,
}

async fn every_item_comes_once_in_pages(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    fill(&container, 0..25).await?;
    let (pages, _) = pages(&container, FeedScope::full_container(), by(10), usize::MAX).await?;
    assert!(pages.iter().all(|page| page.len() <= 10));
    assert_eq!(ids(&pages.concat()), names(25));
    Ok(())
}

async fn an_empty_container_reads_as_nothing(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    assert!(all(&container, FeedScope::full_container()).await?.is_empty());
    Ok(())
}

async fn a_partition_key_narrows_the_feed_to_its_items(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    fill(&container, 0..25).await?;
    assert_eq!(ids(&all(&container, FeedScope::partition("p7")).await?), ["i07", "i17"]);
    Ok(())
}

async fn items_come_in_the_order_of_their_creation(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    fill(&container, (0..25).rev()).await?;
    let found = all(&container, FeedScope::full_container()).await?;
    let found: Vec<&str> = found.iter().filter_map(|item| item["id"].as_str()).collect();
    let expected: Vec<String> = names(25).into_iter().rev().collect();
    assert_eq!(found, expected);
    Ok(())
}

async fn a_token_goes_on_where_the_page_ended(cosmos: Cosmos) -> Outcome {
    let place = cosmos.place(properties("/pk"), None).await?;
    let container = place.seen_by(&cosmos.client).await?;
    fill(&container, 0..25).await?;
    let (start, token) = pages(&container, FeedScope::full_container(), by(5), 2).await?;
    let reader = place.seen_by(&cosmos.open().await?).await?;
    let options = by(5).with_continuation_token(token.ok_or("no token")?);
    let (rest, _) = pages(&reader, FeedScope::full_container(), options, usize::MAX).await?;
    assert!(!rest.is_empty());
    assert_eq!(ids(&[start, rest].concat().concat()), names(25));
    Ok(())
}

async fn throughput_decides_the_number_of_ranges(cosmos: Cosmos) -> Outcome {
    for (throughput, count) in [(400, 1), (12_000, 2), (30_000, 5)] {
        let container = cosmos.container_with_throughput(throughput).await?;
        assert_eq!(container.read_feed_ranges(None).await?.len(), count);
    }
    Ok(())
}

async fn items_of_several_ranges_are_written_and_read(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container_with_throughput(30_000).await?;
    fill(&container, 0..40).await?;
    let (pages, _) = pages(&container, FeedScope::full_container(), by(7), usize::MAX).await?;
    assert_eq!(ids(&pages.concat()), names(40));
    Ok(())
}

async fn the_range_of_a_key_lies_in_one_of_the_containers_ranges(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container_with_throughput(12_000).await?;
    let ranges = container.read_feed_ranges(None).await?;
    for n in 0..10 {
        let own = container.feed_range_from_partition_key(format!("p{n}"), None).await?;
        assert_eq!(own.len(), 1);
        assert_eq!(ranges.iter().filter(|range| own[0].is_subset_of(range)).count(), 1);
    }
    Ok(())
}

async fn the_ranges_together_have_every_item_once(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container_with_throughput(12_000).await?;
    fill(&container, 0..40).await?;
    let mut found = Vec::new();
    for range in container.read_feed_ranges(None).await? {
        let part = all(&container, FeedScope::range(range)).await?;
        assert!(!part.is_empty() && part.len() < 40);
        found.extend(part);
    }
    assert_eq!(ids(&found), names(40));
    Ok(())
}

async fn a_client_goes_on_while_its_container_splits(cosmos: Cosmos) -> Outcome {
    let place = cosmos.place(properties("/pk"), Some(ThroughputProperties::manual(400))).await?;
    let container = place.seen_by(&cosmos.client).await?;
    fill(&container, 0..20).await?;
    let operator = place.seen_by(&cosmos.open().await?).await?;
    operator.begin_replace_throughput(ThroughputProperties::manual(12_000), None).await?.await?;
    fill(&container, 20..40).await?;
    for (n, id) in names(40).iter().enumerate() {
        assert_eq!(read(&container, format!("p{}", n % 10), id).await?["n"], n);
    }
    assert_eq!(ids(&all(&container, FeedScope::full_container()).await?), names(40));
    let afresh = ReadFeedRangesOptions::default().with_force_refresh(true);
    assert_eq!(container.read_feed_ranges(Some(afresh)).await?.len(), 2);
    Ok(())
}

async fn fill(container: &ContainerClient, numbers: impl Iterator<Item = usize>) -> Result<()> {
    for n in numbers {
        let (id, pk) = (format!("i{n:02}"), format!("p{}", n % 10));
        container.create_item(&pk, &id, json!({"id": id, "pk": pk, "n": n}), None).await?;
    }
    Ok(())
}

async fn all(container: &ContainerClient, scope: FeedScope) -> Result<Vec<Value>> {
    container.query_items("SELECT * FROM c", scope, Some(by(7))).await?.try_collect().await
}

/// The rows page by page, and the token after the last page taken when there is more to come.
async fn pages(
    container: &ContainerClient,
    scope: FeedScope,
    options: QueryOptions,
    limit: usize,
) -> Result<(Vec<Vec<Value>>, Option<ContinuationToken>)> {
    let mut feed = container.query_items("SELECT * FROM c", scope, Some(options)).await?.into_pages();
    let mut found = Vec::new();
    while let Some(page) = feed.try_next().await? {
        found.push(page.into_items());
        if found.len() == limit {
            return Ok((found, Some(feed.to_continuation_token()?)));
        }
    }
    Ok((found, None))
}

fn by(items: u32) -> QueryOptions {
    let limit = NonZeroU32::new(items).map_or(MaxItemCountHint::ServerDecides, MaxItemCountHint::Limit);
    QueryOptions::default().with_max_item_count(limit)
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("i{n:02}")).collect()
}
