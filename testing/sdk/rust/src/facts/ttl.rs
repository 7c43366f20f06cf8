//! Time to live, on a server whose clock moves only when told to.

use super::{Outcome, facts};
use crate::check::{ids, read, refused};
use crate::cosmos::{Cosmos, properties};
use azure_data_cosmos::clients::ContainerClient;
use azure_data_cosmos::{FeedScope, Result};
use futures::TryStreamExt;
use serde_json::{Value, json};

const DAY: u32 = 24 * 60 * 60;

facts! { Manual:
    "ttl.item" => an_item_goes_when_its_own_ttl_is_over,
    "ttl.container" => an_item_goes_when_the_default_ttl_is_over,
    "ttl.container" => without_a_default_ttl_items_stay_whatever_they_say,
}

async fn an_item_goes_when_its_own_ttl_is_over(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container_of(properties("/pk").with_default_ttl(30 * DAY), None).await?;
    container.create_item("p", "short", json!({"id": "short", "pk": "p", "ttl": 5}), None).await?;
    container.create_item("p", "long", json!({"id": "long", "pk": "p"}), None).await?;
    container.create_item("p", "forever", json!({"id": "forever", "pk": "p", "ttl": -1}), None).await?;
    cosmos.server.advance(4)?;
    assert_eq!(read(&container, "p", "short").await?["ttl"], 5);
    cosmos.server.advance(1)?;
    assert_eq!(refused(container.read_item("p", "short", None).await), 404);
    assert_eq!(ids(&all(&container).await?), ["forever", "long"]);
    container.create_item("p", "short", json!({"id": "short", "pk": "p"}), None).await?;
    Ok(())
}

async fn an_item_goes_when_the_default_ttl_is_over(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container_of(properties("/pk").with_default_ttl(30 * DAY), None).await?;
    container.create_item("p", "default", json!({"id": "default", "pk": "p"}), None).await?;
    container.create_item("p", "forever", json!({"id": "forever", "pk": "p", "ttl": -1}), None).await?;
    cosmos.server.advance(29 * u64::from(DAY))?;
    assert_eq!(read(&container, "p", "default").await?["id"], "default");
    cosmos.server.advance(u64::from(DAY))?;
    assert_eq!(refused(container.read_item("p", "default", None).await), 404);
    assert_eq!(ids(&all(&container).await?), ["forever"]);
    Ok(())
}

async fn without_a_default_ttl_items_stay_whatever_they_say(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    container.create_item("p", "a", json!({"id": "a", "pk": "p", "ttl": 5}), None).await?;
    cosmos.server.advance(60)?;
    assert_eq!(read(&container, "p", "a").await?["ttl"], 5);
    Ok(())
}

async fn all(container: &ContainerClient) -> Result<Vec<Value>> {
    container.query_items("SELECT * FROM c", FeedScope::full_container(), None).await?.try_collect().await
}
