//! Indexing: policies of every kind, changed under items, and told of by queries.

use super::{Outcome, facts};
use crate::check::{assert_holds, refused};
use crate::cosmos::{Cosmos, properties};
use azure_data_cosmos::clients::ContainerClient;
use azure_data_cosmos::models::IndexingPolicy;
use azure_data_cosmos::options::QueryOptions;
use azure_data_cosmos::{CosmosError, FeedScope};
use futures::TryStreamExt;
use serde_json::{Value, json};
use std::error::Error;
use std::time::{Duration, Instant};

facts! { Running:
    "indexing.policies" => a_policy_of_every_kind_comes_back_as_it_was_given,
    "indexing.policies" => a_policy_that_makes_no_sense_is_refused,
    "indexing.replace" => queries_are_right_while_the_policy_changes,
    "indexing.replace" => items_are_written_while_the_policy_changes,
    "indexing.metrics" => a_query_tells_which_indexes_it_used,
    "indexing.charge" => a_larger_item_is_charged_more,
    "indexing.charge" => a_query_is_charged_by_what_it_reads,
}

type Failure = Box<dyn Error + Send + Sync>;

const INDEXED_SECONDS_MAX: Duration = Duration::from_secs(30);
const ITEMS: u64 = 300;

fn policies(part: &str) -> Result<Vec<(String, Value)>, Failure> {
    let all: Value = serde_json::from_str(include_str!("../../../indexing/policies.json"))?;
    let part = all[part].as_object().ok_or("the policies have names")?;
    Ok(part.iter().map(|(name, policy)| (name.clone(), policy.clone())).collect())
}

/// The policies that follow each other, as the SDK reads them.
fn changes() -> Result<Vec<IndexingPolicy>, Failure> {
    let all: Value = serde_json::from_str(include_str!("../../../indexing/policies.json"))?;
    let names = all["changes"].as_array().ok_or("the changes are a list")?.iter();
    let named = names.filter_map(|name| all["accepted"].get(name.as_str()?));
    Ok(named.map(|policy| serde_json::from_value(policy.clone())).collect::<Result<_, _>>()?)
}

fn item(n: u64) -> Value {
    json!({
        "id": n.to_string(), "pk": pk(n), "n": n, "kind": kind(n), "rank": rank(n), "tags": tags(n),
        "info": {"half": n / 2}, "odd name": n.is_multiple_of(2), "filler": "x".repeat(200),
    })
}

fn pk(n: u64) -> String {
    format!("p{}", n % 5)
}

fn kind(n: u64) -> String {
    format!("k{}", n % 7)
}

fn rank(n: u64) -> u64 {
    n * 37 % 101
}

fn tags(n: u64) -> [String; 2] {
    [format!("t{}", n % 3), format!("t{}", n % 11)]
}

async fn a_policy_of_every_kind_comes_back_as_it_was_given(cosmos: Cosmos) -> Outcome {
    for (_, policy) in policies("accepted")? {
        let given = properties("/pk").with_indexing_policy(serde_json::from_value(policy.clone())?);
        let container = cosmos.container_of(given, None).await?;
        let read = serde_json::to_value(container.read(None).await?.into_model()?)?;
        // The SDK's own type leaves empty lists out.
        let named = policy.as_object().ok_or("a policy is an object")?.iter();
        let named = named.filter(|(_, value)| value.as_array().is_none_or(|list| !list.is_empty()));
        assert_holds(
            &read["indexingPolicy"],
            &named.map(|(name, value)| (name.clone(), value.clone())).collect(),
        );
    }
    Ok(())
}

async fn a_policy_that_makes_no_sense_is_refused(cosmos: Cosmos) -> Outcome {
    for (name, policy) in policies("refused")? {
        let given = properties("/pk").with_indexing_policy(serde_json::from_value(policy)?);
        assert_eq!(refused(cosmos.container_of(given, None).await), 400, "{name}");
    }
    Ok(())
}

async fn queries_are_right_while_the_policy_changes(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    for n in 0..ITEMS {
        container.create_item(pk(n), &n.to_string(), item(n), None).await?;
    }
    for policy in changes()? {
        set_policy(&container, policy).await?;
        assert_answers(&container).await?;
        until_indexed(&container).await?;
        assert_answers(&container).await?;
    }
    Ok(())
}

async fn items_are_written_while_the_policy_changes(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    let mut changes = changes()?.into_iter();
    for n in 0..ITEMS {
        if n % 60 == 30 {
            set_policy(&container, changes.next().ok_or("there are five changes")?).await?;
        }
        let mut before = item(n);
        before["kind"] = "before".into();
        container.create_item(pk(n), &n.to_string(), before, None).await?;
        container.replace_item(pk(n), &n.to_string(), item(n), None).await?;
    }
    assert_answers(&container).await?;
    until_indexed(&container).await?;
    assert_answers(&container).await
}

async fn a_query_tells_which_indexes_it_used(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    for n in 0..20 {
        container.create_item(pk(n), &n.to_string(), item(n), None).await?;
    }
    let metrics = index_metrics(&container, "SELECT * FROM c WHERE c.kind = 'k3'").await?;
    for list in ["UtilizedSingle", "PotentialSingle", "UtilizedComposite", "PotentialComposite"] {
        assert!(metrics[format!("{list}Indexes")].is_array(), "{list}: {metrics}");
    }
    assert_eq!(metrics["UtilizedSingleIndexes"][0]["IndexSpec"], "/kind/?", "{metrics}");
    Ok(())
}

/// What the first page of an answer tells of indexes.
async fn index_metrics(container: &ContainerClient, query: &'static str) -> Result<Value, Failure> {
    let options = QueryOptions::default().with_populate_index_metrics(true);
    let feed = container.query_items::<Value>(query, FeedScope::full_container(), Some(options)).await?;
    let page = feed.into_pages().try_next().await?.ok_or("there is a page")?;
    Ok(serde_json::from_str(page.index_metrics().ok_or("the page has index metrics")?)?)
}

async fn a_larger_item_is_charged_more(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    let mut before = [0.0; 3];
    for (n, size) in [100, 5_000, 50_000].into_iter().enumerate() {
        let (id, text) = (n.to_string(), json!({"id": n.to_string(), "pk": "p", "filler": "x".repeat(size)}));
        let written = container.create_item("p", &id, &text, None).await?;
        let read = container.read_item("p", &id, None).await?;
        let replaced = container.replace_item("p", &id, &text, None).await?;
        let charges =
            [written, read, replaced].map(|answer| answer.headers().request_charge().map(|c| c.value()));
        let charges = charges.map(Option::unwrap_or_default);
        assert!(
            before.iter().zip(&charges).all(|(smaller, larger)| smaller < larger),
            "{before:?} {charges:?}"
        );
        before = charges;
    }
    Ok(())
}

async fn a_query_is_charged_by_what_it_reads(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    for n in 0..100 {
        container.create_item(pk(n), &n.to_string(), item(n), None).await?;
    }
    let one = charge(&container, "SELECT * FROM c WHERE c.pk = 'p1' AND c.id = '1'").await?;
    let all = charge(&container, "SELECT * FROM c").await?;
    assert!(0.0 < one && one < all, "{one} and {all}");
    Ok(())
}

/// What the pages of an answer cost together.
async fn charge(container: &ContainerClient, query: &'static str) -> Result<f64, CosmosError> {
    let feed = container.query_items::<Value>(query, FeedScope::full_container(), None).await?;
    let (mut pages, mut sum) = (feed.into_pages(), 0.0);
    while let Some(page) = pages.try_next().await? {
        sum += page.headers().request_charge().map_or(0.0, |charge| charge.value());
    }
    Ok(sum)
}

async fn set_policy(container: &ContainerClient, policy: IndexingPolicy) -> Outcome {
    let before = container.read(None).await?.into_model()?;
    container.replace(before.with_indexing_policy(policy), None).await?;
    Ok(())
}

/// Waits until every item is indexed as the policy says.
async fn until_indexed(container: &ContainerClient) -> Outcome {
    let until = Instant::now() + INDEXED_SECONDS_MAX;
    loop {
        let progress = container.read(None).await?.headers().collection_index_transformation_progress();
        match progress {
            Some(100) => return Ok(()),
            Some(0..100) if Instant::now() < until => tokio::time::sleep(Duration::from_millis(20)).await,
            other => return Err(format!("{other:?} % indexed").into()),
        }
    }
}

/// Every kind of question an index answers, asked of all items.
async fn assert_answers(container: &ContainerClient) -> Outcome {
    let cross = FeedScope::full_container;
    found(container, "c.kind = 'k3'", cross(), |n| kind(n) == "k3").await?;
    found(container, "c.rank >= 20 AND c.rank < 40", cross(), |n| (20..40).contains(&rank(n))).await?;
    found(container, "ARRAY_CONTAINS(c.tags, 't2')", cross(), |n| tags(n).contains(&"t2".to_owned())).await?;
    found(container, "c['odd name'] AND c.info.half > 5", cross(), |n| n % 2 == 0 && n / 2 > 5).await?;
    let inside = |n: u64| kind(n) == "k2" && pk(n) == "p1";
    found(container, "c.kind = 'k2'", FeedScope::partition("p1"), inside).await?;
    let ordered = "c.kind = 'k1' ORDER BY c.rank DESC";
    let ranks = found(container, ordered, cross(), |n| kind(n) == "k1").await?;
    assert!(ranks.is_sorted_by(|a, b| a >= b), "{ranks:?}");
    Ok(())
}

/// Asks for the items that meet a condition, checks that these came, and gives their ranks in order.
async fn found(
    container: &ContainerClient,
    condition: &str,
    scope: FeedScope,
    keep: impl Fn(u64) -> bool,
) -> Result<Vec<u64>, Failure> {
    let query = format!("SELECT c.n, c.rank FROM c WHERE {condition}");
    let rows: Vec<Value> = container.query_items(query, scope, None).await?.try_collect().await?;
    let number = |row: &Value, name: &str| row[name].as_u64().unwrap_or(u64::MAX);
    let mut numbers: Vec<u64> = rows.iter().map(|row| number(row, "n")).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..ITEMS).filter(|n| keep(*n)).collect::<Vec<_>>(), "{condition}");
    Ok(rows.iter().map(|row| number(row, "rank")).collect())
}
