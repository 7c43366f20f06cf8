//! Partition key values: every kind there is, and hierarchies of them.

use super::{Outcome, facts};
use crate::check::{ids, read, refused};
use crate::cosmos::{Cosmos, fresh, properties};
use azure_data_cosmos::clients::ContainerClient;
use azure_data_cosmos::models::{ContainerProperties, PartitionKeyDefinition, PartitionKeyValue};
use azure_data_cosmos::{FeedScope, PartitionKey, Result};
use futures::TryStreamExt;
use serde_json::{Value, json};

facts! { Running:
    "items.key_values" => text_numbers_and_booleans_are_partition_keys_of_their_own,
    "items.key_values" => null_and_missing_are_two_partitions,
    "items.key_values" => a_partition_key_may_lie_deep_in_the_item,
    "items.key_values" => the_id_may_be_the_partition_key,
    "items.key_hierarchical" => items_of_a_hierarchy_are_told_apart_at_every_level,
    "items.key_hierarchical" => a_prefix_of_the_key_reads_what_is_under_it,
}

async fn text_numbers_and_booleans_are_partition_keys_of_their_own(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    let values: Vec<(PartitionKey, Value)> = vec![
        ("".into(), json!("")),
        ("text".into(), json!("text")),
        ("東京 🚀".into(), json!("東京 🚀")),
        (0.into(), json!(0)),
        (1.into(), json!(1)),
        ((-1).into(), json!(-1)),
        (PartitionKey::try_from(1.5)?, json!(1.5)),
        (true.into(), json!(true)),
        (false.into(), json!(false)),
    ];
    for (key, value) in &values {
        container.create_item(key.clone(), "a", json!({"id": "a", "pk": value}), None).await?;
    }
    for (key, value) in &values {
        assert_eq!(&read(&container, key.clone(), "a").await?["pk"], value);
    }
    assert_eq!(all(&container, FeedScope::full_container()).await?.len(), values.len());
    Ok(())
}

async fn null_and_missing_are_two_partitions(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    let (null, missing) = (PartitionKey::NULL, PartitionKey::UNDEFINED);
    container.create_item(null.clone(), "a", json!({"id": "a", "pk": null, "kind": "null"}), None).await?;
    container.create_item(missing.clone(), "a", json!({"id": "a", "kind": "missing"}), None).await?;
    assert_eq!(read(&container, null.clone(), "a").await?["kind"], "null");
    assert_eq!(read(&container, missing.clone(), "a").await?["kind"], "missing");
    container.delete_item(missing.clone(), "a", None).await?;
    assert_eq!(refused(container.read_item(missing, "a", None).await), 404);
    assert_eq!(read(&container, null, "a").await?["kind"], "null");
    Ok(())
}

async fn a_partition_key_may_lie_deep_in_the_item(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container_of(properties("/owner/name"), None).await?;
    container.create_item("ada", "a", json!({"id": "a", "owner": {"name": "ada"}}), None).await?;
    assert_eq!(read(&container, "ada", "a").await?["owner"]["name"], "ada");
    assert_eq!(refused(container.read_item("bob", "a", None).await), 404);
    Ok(())
}

async fn the_id_may_be_the_partition_key(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container_of(properties("/id"), None).await?;
    container.upsert_item("a", "a", json!({"id": "a", "n": 1}), None).await?;
    container.upsert_item("a", "a", json!({"id": "a", "n": 2}), None).await?;
    assert_eq!(read(&container, "a", "a").await?["n"], 2);
    Ok(())
}

async fn items_of_a_hierarchy_are_told_apart_at_every_level(cosmos: Cosmos) -> Outcome {
    let container = hierarchical(&cosmos).await?;
    let users: [(PartitionKeyValue, Value); 3] =
        [(1.into(), json!(1)), ("1".into(), json!("1")), (PartitionKeyValue::NULL, Value::Null)];
    for tenant in ["t1", "t2"] {
        for (key, user) in &users {
            let item = json!({"id": "a", "tenant": tenant, "user": user});
            container.create_item((tenant, key.clone()), "a", item, None).await?;
        }
    }
    for tenant in ["t1", "t2"] {
        for (key, user) in &users {
            let found = read(&container, (tenant, key.clone()), "a").await?;
            assert_eq!((&found["tenant"], &found["user"]), (&json!(tenant), user));
        }
    }
    container.delete_item(("t1", 1), "a", None).await?;
    assert_eq!(refused(container.read_item(("t1", 1), "a", None).await), 404);
    assert_eq!(all(&container, FeedScope::full_container()).await?.len(), 5);
    Ok(())
}

async fn a_prefix_of_the_key_reads_what_is_under_it(cosmos: Cosmos) -> Outcome {
    let container = hierarchical(&cosmos).await?;
    for (id, tenant, user) in [("a", "t1", "u1"), ("b", "t1", "u2"), ("c", "t2", "u1")] {
        let item = json!({"id": id, "tenant": tenant, "user": user});
        container.create_item((tenant, user), id, item, None).await?;
    }
    assert_eq!(ids(&all(&container, FeedScope::partition("t1")).await?), ["a", "b"]);
    Ok(())
}

async fn hierarchical(cosmos: &Cosmos) -> Result<ContainerClient> {
    let key = PartitionKeyDefinition::from(("/tenant", "/user"));
    cosmos.container_of(ContainerProperties::new(fresh("c"), key), None).await
}

async fn all(container: &ContainerClient, scope: FeedScope) -> Result<Vec<Value>> {
    container.query_items("SELECT * FROM c", scope, None).await?.try_collect().await
}
