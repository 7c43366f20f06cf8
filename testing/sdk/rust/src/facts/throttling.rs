//! Throughput that is enforced: 429, and what the SDK makes of it.

use super::{Outcome, facts};
use crate::check::{read, refused};
use crate::cosmos::{Cosmos, fresh, properties};
use azure_core::http::headers::{HeaderName, HeaderValue};
use azure_data_cosmos::clients::ContainerClient;
use azure_data_cosmos::models::ThroughputProperties;
use azure_data_cosmos::options::{
    CreateDatabaseOptions, ItemWriteOptions, OperationOptions, OperationOptionsBuilder,
};
use azure_data_cosmos::{CosmosError, Result};
use serde_json::json;
use std::collections::HashMap;
use std::error::Error;
use std::time::Duration;

facts! { Throttled:
    "throttling.retry" => the_sdk_waits_and_goes_on,
    "throttling.exhausted" => the_sdk_gives_up_after_its_retries,
    "throttling.priority" => low_priority_is_turned_away_first,
    "throttling.change" => more_throughput_works_at_once,
    "throttling.shared" => containers_share_the_throughput_of_their_database,
}

type Failure = Box<dyn Error + Send + Sync>;

async fn the_sdk_waits_and_goes_on(cosmos: Cosmos) -> Outcome {
    let container = small(&cosmos).await?;
    // More than there is, so that a fifth of a second is owed: the retries last longer than the clock stands still.
    let large = json!({"id": "large", "pk": "p", "text": "x".repeat(1_050_000)});
    container.create_item("p", "large", large, None).await?;
    let server = cosmos.server.clone();
    let later = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(300)).await;
        tokio::task::spawn_blocking(move || server.advance(2)).await
    });
    container.create_item("p", "after", json!({"id": "after", "pk": "p"}), None).await?;
    later.await???;
    assert_eq!(read(&container, "p", "after").await?["id"], "after");
    Ok(())
}

async fn the_sdk_gives_up_after_its_retries(cosmos: Cosmos) -> Outcome {
    let container = small(&cosmos).await?;
    let (served, error) = spend(&container, None).await?;
    assert_eq!(served, 80, "400 request units by five");
    assert_eq!(refused::<()>(Err(error)), 429);
    cosmos.server.advance(1)?;
    assert_eq!(spend(&container, None).await?.0, 80);
    Ok(())
}

async fn low_priority_is_turned_away_first(cosmos: Cosmos) -> Outcome {
    let container = small(&cosmos).await?;
    assert_eq!(spend(&container, Some("Low")).await?.0, 40);
    assert_eq!(spend(&container, Some("High")).await?.0, 40);
    Ok(())
}

async fn more_throughput_works_at_once(cosmos: Cosmos) -> Outcome {
    let container = small(&cosmos).await?;
    spend(&container, None).await?;
    container.begin_replace_throughput(ThroughputProperties::manual(4000), None).await?.await?;
    cosmos.server.advance(1)?;
    assert_eq!(spend(&container, None).await?.0, 800);
    Ok(())
}

async fn containers_share_the_throughput_of_their_database(cosmos: Cosmos) -> Outcome {
    cosmos.server.advance(2)?;
    let name = fresh("db");
    let options =
        CreateDatabaseOptions::default().with_operation_options(with_header("x-ms-offer-throughput", "400"));
    cosmos.client.create_database(&name, Some(options)).await?;
    let database = cosmos.client.database_client(name);
    let mut served = Vec::new();
    for _ in 0..2 {
        let container = unindexed()?;
        let id = container.id.to_string();
        database.create_container(container, None).await?;
        served.push(spend(&database.container_client(id, None).await?, None).await?.0);
    }
    assert_eq!(served, [80, 0]);
    Ok(())
}

/// A container of 400 RU/s in which every small item costs five.
async fn small(cosmos: &Cosmos) -> std::result::Result<ContainerClient, Failure> {
    cosmos.server.advance(2)?;
    Ok(cosmos.container_of(unindexed()?, Some(ThroughputProperties::manual(400))).await?)
}

fn unindexed() -> std::result::Result<azure_data_cosmos::models::ContainerProperties, Failure> {
    let policy = serde_json::from_value(json!({"indexingMode": "none", "automatic": false}))?;
    Ok(properties("/pk").with_indexing_policy(policy))
}

/// Creates items until the SDK gives up; how many there are then, and its error.
async fn spend(
    container: &ContainerClient,
    priority: Option<&'static str>,
) -> std::result::Result<(u32, CosmosError), Failure> {
    for served in 0..5000 {
        let id = fresh("i");
        let options = priority.map(|level| {
            let operation = with_header("x-ms-cosmos-priority-level", level);
            ItemWriteOptions::default().with_operation_options(operation)
        });
        let made: Result<_> = container.create_item("p", &id, json!({"id": id, "pk": "p"}), options).await;
        if let Err(error) = made {
            return Ok((served, error));
        }
    }
    Err("nobody was turned away".into())
}

fn with_header(name: &'static str, value: &'static str) -> OperationOptions {
    let headers = HashMap::from([(HeaderName::from_static(name), HeaderValue::from_static(value))]);
    OperationOptionsBuilder::new().with_custom_headers(headers).build()
}
