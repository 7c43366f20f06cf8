//! Containers: their policies, their partition keys, and what may change later.

use super::{Outcome, facts};
use crate::check::{Status, assert_holds, ids, read, refused};
use crate::cosmos::{Cosmos, fresh, properties};
use azure_data_cosmos::clients::{ContainerClient, DatabaseClient};
use azure_data_cosmos::models::*;
use azure_data_cosmos::{FeedScope, Query};
use futures::TryStreamExt;
use serde_json::{Value, json};
use std::time::Duration;

facts! { Running:
    "containers.create" => a_new_container_has_its_system_properties_and_defaults,
    "containers.policies" => every_policy_comes_back_as_it_was_given,
    "containers.conflict" => a_second_container_of_that_name_is_a_conflict,
    "containers.read" => a_container_reads_as_it_was_made,
    "containers.not_found" => a_container_nobody_made_is_not_found,
    "containers.replace" => indexing_policy_and_ttl_may_change,
    "containers.replace" => the_partition_key_may_not_change,
    "containers.list" => the_list_has_every_container_of_its_database_alone,
    "containers.query" => a_query_finds_a_container_by_its_id,
    "containers.delete" => a_deleted_container_is_gone,
    "containers.recreate" => a_client_goes_on_after_its_container_was_made_again,
    "containers.key_versions" => both_versions_of_the_partition_key_keep_their_items,
    "containers.key_hierarchical" => a_hierarchical_key_keeps_its_paths,
}

async fn a_new_container_has_its_system_properties_and_defaults(cosmos: Cosmos) -> Outcome {
    let made = cosmos.container().await?.read(None).await?.into_model()?;
    let link = made.system_properties.self_link.clone().unwrap_or_default();
    let rid = made.system_properties.resource_id.clone().unwrap_or_default();
    assert!(link.starts_with("dbs/") && link.ends_with(&format!("/colls/{rid}/")), "{link}");
    assert_eq!(made.partition_key.version(), PartitionKeyVersion::V2);
    assert!(made.default_ttl.is_forever());
    let expected =
        json!({"indexingPolicy": {"indexingMode": "consistent", "includedPaths": [{"path": "/*"}]}});
    assert_holds(&serde_json::to_value(&made)?, &expected);
    Ok(())
}

async fn every_policy_comes_back_as_it_was_given(cosmos: Cosmos) -> Outcome {
    let given =
        properties("/pk")
            .with_indexing_policy(indexing_policy())
            .with_unique_key_policy(unique_keys())
            .with_conflict_resolution_policy(
                ConflictResolutionPolicy::new(ConflictResolutionMode::LastWriterWins)
                    .with_resolution_path("/rank"),
            )
            .with_vector_embedding_policy(VectorEmbeddingPolicy::default().with_embedding(
                VectorEmbedding::new("/vector", VectorDataType::Float32, 16, VectorDistanceFunction::Cosine),
            ))
            .with_full_text_policy(
                FullTextPolicy::new("en-US")
                    .with_full_text_path(FullTextPath::new("/text").with_language("en-US")),
            )
            .with_change_feed_policy(
                ChangeFeedPolicy::default().with_retention_duration(Duration::from_secs(600)),
            )
            .with_default_ttl(3600)
            .with_analytical_storage_ttl(TimeToLive::NoDefault);
    let container = cosmos.container_of(given.clone(), None).await?;
    let read = container.read(None).await?.into_model()?;
    assert_holds(&serde_json::to_value(&read)?, &serde_json::to_value(&given)?);
    Ok(())
}

fn indexing_policy() -> IndexingPolicy {
    IndexingPolicy::default()
        .with_indexing_mode(IndexingMode::Consistent)
        .with_included_path("/*")
        .with_excluded_path("/secret/?")
        .with_spatial_index(SpatialIndex::new("/place/*").with_type(SpatialType::Point))
        .with_composite_index(
            CompositeIndex::default()
                .with_property(CompositeIndexProperty::new("/a", CompositeIndexOrder::Ascending))
                .with_property(CompositeIndexProperty::new("/b", CompositeIndexOrder::Descending)),
        )
        .with_vector_index(VectorIndex::new("/vector", VectorIndexType::QuantizedFlat))
        .with_full_text_index(FullTextIndex::new("/text"))
}

fn unique_keys() -> UniqueKeyPolicy {
    UniqueKeyPolicy::default()
        .with_unique_key(UniqueKey::default().with_path("/email"))
        .with_unique_key(UniqueKey::default().with_path("/first").with_path("/last"))
}

async fn a_second_container_of_that_name_is_a_conflict(cosmos: Cosmos) -> Outcome {
    let database = cosmos.database().await?;
    let given = properties("/pk");
    assert_eq!(database.create_container(given.clone(), None).await?.code(), 201);
    assert_eq!(refused(database.create_container(given, None).await), 409);
    Ok(())
}

async fn a_container_reads_as_it_was_made(cosmos: Cosmos) -> Outcome {
    let database = cosmos.database().await?;
    let made = database.create_container(properties("/pk"), None).await?.into_model()?;
    let read = database.container_client(made.id.to_string(), None).await?.read(None).await?.into_model()?;
    assert_eq!(serde_json::to_value(&read)?, serde_json::to_value(&made)?);
    assert_eq!(read.system_properties.etag, made.system_properties.etag);
    Ok(())
}

async fn a_container_nobody_made_is_not_found(cosmos: Cosmos) -> Outcome {
    let database = cosmos.database().await?;
    assert_eq!(refused(database.container_client(fresh("none"), None).await), 404);
    Ok(())
}

async fn indexing_policy_and_ttl_may_change(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container_of(properties("/pk").with_default_ttl(60), None).await?;
    container.create_item("p", "a", json!({"id": "a", "pk": "p"}), None).await?;
    let policy = IndexingPolicy::default().with_included_path("/kept/?").with_excluded_path("/*");
    let before = container.read(None).await?.into_model()?;
    let after = before.with_indexing_policy(policy).with_default_ttl(TimeToLive::NoDefault);
    container.replace(after, None).await?;
    let read_back = container.read(None).await?.into_model()?;
    let expected = json!({
        "indexingPolicy": {"includedPaths": [{"path": "/kept/?"}], "excludedPaths": [{"path": "/*"}]},
        "defaultTtl": -1,
    });
    assert_holds(&serde_json::to_value(&read_back)?, &expected);
    assert_eq!(read(&container, "p", "a").await?["id"], "a");
    Ok(())
}

async fn the_partition_key_may_not_change(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    let mut other = container.read(None).await?.into_model()?;
    other.partition_key = "/other".into();
    assert_eq!(refused(container.replace(other, None).await), 400);
    Ok(())
}

async fn the_list_has_every_container_of_its_database_alone(cosmos: Cosmos) -> Outcome {
    cosmos.container().await?;
    let database = with_containers(&cosmos, &["one", "two", "three"]).await?;
    let mut listed = query(&database, "SELECT * FROM c".into()).await?;
    listed.sort();
    assert_eq!(listed, ["one", "three", "two"]);
    Ok(())
}

async fn a_query_finds_a_container_by_its_id(cosmos: Cosmos) -> Outcome {
    let database = with_containers(&cosmos, &["one", "two"]).await?;
    let by_id = Query::from("SELECT * FROM root r WHERE r.id=@id").with_parameter("@id", "two")?;
    assert_eq!(query(&database, by_id).await?, ["two"]);
    Ok(())
}

async fn a_deleted_container_is_gone(cosmos: Cosmos) -> Outcome {
    let database = with_containers(&cosmos, &["one"]).await?;
    let container = database.container_client("one", None).await?;
    assert_eq!(container.delete(None).await?.code(), 204);
    assert_eq!(refused(container.read(None).await), 404);
    assert!(query(&database, "SELECT * FROM c".into()).await?.is_empty());
    Ok(())
}

async fn a_client_goes_on_after_its_container_was_made_again(cosmos: Cosmos) -> Outcome {
    let place = cosmos.place(properties("/pk"), None).await?;
    let container = place.seen_by(&cosmos.client).await?;
    container.create_item("p", "a", json!({"id": "a", "pk": "p", "life": 1}), None).await?;
    let other = cosmos.open().await?;
    place.seen_by(&other).await?.delete(None).await?;
    let again = ContainerProperties::new(place.container.clone(), "/pk".into());
    other.database_client(&place.database).create_container(again, None).await?;
    assert_eq!(refused(container.read_item("p", "a", None).await), 404);
    container.create_item("p", "a", json!({"id": "a", "pk": "p", "life": 2}), None).await?;
    assert_eq!(read(&container, "p", "a").await?["life"], 2);
    Ok(())
}

async fn both_versions_of_the_partition_key_keep_their_items(cosmos: Cosmos) -> Outcome {
    for version in [PartitionKeyVersion::V1, PartitionKeyVersion::V2] {
        let key = PartitionKeyDefinition::from("/pk").with_version(version);
        let container = cosmos.container_of(ContainerProperties::new(fresh("c"), key), None).await?;
        assert_eq!(container.read(None).await?.into_model()?.partition_key.version(), version);
        // Version 1 tells keys apart by their first 100 characters, version 2 by all.
        let long = "a".repeat(if version == PartitionKeyVersion::V1 { 90 } else { 150 });
        let keys = [format!("{long}1"), format!("{long}2")];
        for (n, key) in keys.iter().enumerate() {
            container.create_item(key, "a", json!({"id": "a", "pk": key, "n": n}), None).await?;
        }
        assert_eq!(read(&container, &keys[1], "a").await?["n"], 1);
        assert_eq!(ids(&everything(&container).await?), ["a", "a"]);
    }
    Ok(())
}

async fn a_hierarchical_key_keeps_its_paths(cosmos: Cosmos) -> Outcome {
    let key = PartitionKeyDefinition::from(("/tenant", "/user", "/session"));
    let container = cosmos.container_of(ContainerProperties::new(fresh("c"), key), None).await?;
    let read_back = container.read(None).await?.into_model()?.partition_key;
    assert_eq!(read_back.paths(), ["/tenant", "/user", "/session"]);
    assert_eq!(read_back.kind(), PartitionKeyKind::MultiHash);
    let item = json!({"id": "a", "tenant": "t", "user": "u", "session": "s"});
    container.create_item(("t", "u", "s"), "a", item, None).await?;
    assert_eq!(read(&container, ("t", "u", "s"), "a").await?["user"], "u");
    Ok(())
}

async fn with_containers(
    cosmos: &Cosmos,
    names: &[&'static str],
) -> azure_data_cosmos::Result<DatabaseClient> {
    let database = cosmos.database().await?;
    for name in names {
        database.create_container(ContainerProperties::new(*name, "/pk".into()), None).await?;
    }
    Ok(database)
}

async fn query(database: &DatabaseClient, query: Query) -> azure_data_cosmos::Result<Vec<String>> {
    let found: Vec<ContainerProperties> = database.query_containers(query, None).await?.try_collect().await?;
    Ok(found.into_iter().map(|each| each.id.to_string()).collect())
}

async fn everything(container: &ContainerClient) -> azure_data_cosmos::Result<Vec<Value>> {
    container.query_items("SELECT * FROM c", FeedScope::full_container(), None).await?.try_collect().await
}
