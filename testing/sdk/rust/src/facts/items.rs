//! Items: written, read, replaced, removed, and kept exactly as they were given.

use super::{Outcome, facts};
use crate::check::{Status, read, refused, user_members};
use crate::cosmos::{Cosmos, fresh, properties};
use azure_data_cosmos::models::{ContainerProperties, UniqueKey, UniqueKeyPolicy};
use azure_data_cosmos::options::{ContentResponseOnWrite, ItemWriteOptions, OperationOptionsBuilder};
use serde_json::{Value, json};

const ODD_IDS: &[&str] = &[
    "a b",
    "a+b",
    "100%",
    "a%20b",
    "a&b=c",
    "it's",
    "(a);b,c",
    "a:b@c",
    "\"quoted\"",
    "{a}[b]",
    "~!$*",
    "ümläut",
    "東京",
    "🚀 to the moon",
    "ﷺ",
    "a.b.c",
    "-",
];
const ITEM_BYTES_MAX: usize = 2 * 1024 * 1024;

facts! { Running:
    "items.create" => a_created_item_comes_back_with_its_system_properties,
    "items.create" => json_text_works_as_binary_json_does,
    "items.conflict" => a_second_item_of_that_id_is_a_conflict_in_its_partition_alone,
    "items.read" => a_read_answers_the_tag_of_the_write,
    "items.not_found" => an_item_nobody_made_is_not_found,
    "items.upsert" => an_upsert_makes_and_then_replaces,
    "items.replace" => a_replace_leaves_nothing_of_the_item_before,
    "items.delete" => a_deleted_item_is_gone_and_its_id_free,
    "items.ids" => odd_ids_work_in_every_operation,
    "items.ids" => odd_names_work_for_databases_and_containers,
    "items.unknown_members" => members_a_program_does_not_know_survive_its_write,
    "items.integers" => integers_of_64_bits_and_doubles_come_back_exactly,
    "items.size" => two_megabytes_are_stored_and_more_is_refused,
    "items.minimal" => a_write_answers_without_the_item_unless_asked,
    "items.unique_keys" => a_unique_key_holds_within_its_partition,
    "items.key_mismatch" => an_item_that_is_not_of_its_partition_is_refused,
}

async fn a_created_item_comes_back_with_its_system_properties(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    let given = json!({"id": "a", "pk": "p", "nested": {"list": [1, "two", null, true]}});
    let answer = container.create_item("p", "a", &given, Some(with_answer())).await?;
    assert_eq!(answer.code(), 201);
    assert!(answer.headers().request_charge().is_some_and(|charge| charge.value() > 0.0));
    let tag = answer.headers().etag().map(|tag| tag.to_string());
    let made: Value = answer.into_model()?;
    let parent = container.read(None).await?.into_model()?.system_properties.self_link.unwrap_or_default();
    assert_eq!(made["_self"], format!("{parent}docs/{}/", made["_rid"].as_str().unwrap_or_default()));
    assert_eq!(made["_etag"].as_str(), tag.as_deref());
    assert!(made["_ts"].as_u64() > Some(0));
    assert_eq!(user_members(made), given);
    Ok(())
}

async fn json_text_works_as_binary_json_does(cosmos: Cosmos) -> Outcome {
    let place = cosmos.place(properties("/pk"), None).await?;
    let binary = place.seen_by(&cosmos.client).await?;
    let text = place.seen_by(&cosmos.open_without_binary().await?).await?;
    let given =
        json!({"id": "a", "pk": "p", "text": "🚀", "list": [0.1, -1, 123_456_789_012_345_678_i64, null]});
    binary.create_item("p", "a", &given, None).await?;
    assert_eq!(user_members(read(&text, "p", "a").await?), given);
    text.upsert_item("p", "a", &given, None).await?;
    assert_eq!(user_members(read(&binary, "p", "a").await?), given);
    Ok(())
}

async fn a_second_item_of_that_id_is_a_conflict_in_its_partition_alone(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    container.create_item("p", "a", json!({"id": "a", "pk": "p", "n": 1}), None).await?;
    let second = container.create_item("p", "a", json!({"id": "a", "pk": "p", "n": 2}), None).await;
    assert_eq!(refused(second), 409);
    assert_eq!(read(&container, "p", "a").await?["n"], 1);
    container.create_item("q", "a", json!({"id": "a", "pk": "q", "n": 3}), None).await?;
    assert_eq!(read(&container, "q", "a").await?["n"], 3);
    Ok(())
}

async fn a_read_answers_the_tag_of_the_write(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    let given = json!({"id": "a", "pk": "p", "zeta": 1, "alpha": {"b": 2, "a": 1.5}});
    let written = container.create_item("p", "a", &given, None).await?;
    let answer = container.read_item("p", "a", None).await?;
    assert_eq!(answer.code(), 200);
    assert_eq!(answer.headers().etag(), written.headers().etag());
    assert_eq!(answer.headers().partition_key_range_id(), Some("0"));
    assert_eq!(user_members(answer.into_model()?), given);
    Ok(())
}

async fn an_item_nobody_made_is_not_found(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    container.create_item("p", "a", json!({"id": "a", "pk": "p"}), None).await?;
    assert_eq!(refused(container.read_item("p", "b", None).await), 404);
    assert_eq!(refused(container.read_item("q", "a", None).await), 404);
    assert_eq!(refused(container.replace_item("p", "b", json!({"id": "b", "pk": "p"}), None).await), 404);
    assert_eq!(refused(container.delete_item("p", "b", None).await), 404);
    Ok(())
}

async fn an_upsert_makes_and_then_replaces(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    let made = container.upsert_item("p", "a", json!({"id": "a", "pk": "p", "old": true}), None).await?;
    let replaced = container.upsert_item("p", "a", json!({"id": "a", "pk": "p", "n": 2}), None).await?;
    assert_eq!((made.code(), replaced.code()), (201, 200));
    assert_ne!(made.headers().etag(), replaced.headers().etag());
    assert_eq!(user_members(read(&container, "p", "a").await?), json!({"id": "a", "pk": "p", "n": 2}));
    Ok(())
}

async fn a_replace_leaves_nothing_of_the_item_before(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    let made = container.create_item("p", "a", json!({"id": "a", "pk": "p", "old": true}), None).await?;
    let replaced = container.replace_item("p", "a", json!({"id": "a", "pk": "p", "new": true}), None).await?;
    assert_eq!(replaced.code(), 200);
    assert_ne!(made.headers().etag(), replaced.headers().etag());
    assert_eq!(user_members(read(&container, "p", "a").await?), json!({"id": "a", "pk": "p", "new": true}));
    Ok(())
}

async fn a_deleted_item_is_gone_and_its_id_free(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    container.create_item("p", "a", json!({"id": "a", "pk": "p"}), None).await?;
    assert_eq!(container.delete_item("p", "a", None).await?.code(), 204);
    assert_eq!(refused(container.read_item("p", "a", None).await), 404);
    container.create_item("p", "a", json!({"id": "a", "pk": "p"}), None).await?;
    Ok(())
}

async fn odd_ids_work_in_every_operation(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    for id in ODD_IDS.iter().copied() {
        container.create_item(id, id, json!({"id": id, "pk": id}), None).await?;
        assert_eq!(read(&container, id, id).await?["id"], id);
        container.replace_item(id, id, json!({"id": id, "pk": id, "n": 1}), None).await?;
        container.upsert_item(id, id, json!({"id": id, "pk": id, "n": 2}), None).await?;
        assert_eq!(read(&container, id, id).await?["n"], 2);
        container.delete_item(id, id, None).await?;
        assert_eq!(refused(container.read_item(id, id, None).await), 404, "{id}");
    }
    Ok(())
}

async fn odd_names_work_for_databases_and_containers(cosmos: Cosmos) -> Outcome {
    let name = fresh("a b+c%20ü東");
    cosmos.client.create_database(&name, None).await?;
    let database = cosmos.client.database_client(&name);
    database.create_container(ContainerProperties::new(name.clone(), "/pk".into()), None).await?;
    let container = database.container_client(&name, None).await?;
    container.create_item("p", "a", json!({"id": "a", "pk": "p"}), None).await?;
    assert_eq!(read(&container, "p", "a").await?["id"], "a");
    assert_eq!(container.read(None).await?.into_model()?.id, name);
    Ok(())
}

async fn members_a_program_does_not_know_survive_its_write(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    let mut given = json!({
        "id": "a", "pk": "p", "n": 1, "": "empty", "$weird name/~": {"deep": [[], {}, null]}, "n ": "space",
    });
    container.create_item("p", "a", &given, None).await?;
    let mut item = read(&container, "p", "a").await?;
    item["n"] = json!(2);
    container.replace_item("p", "a", &item, None).await?;
    given["n"] = json!(2);
    assert_eq!(user_members(read(&container, "p", "a").await?), given);
    Ok(())
}

async fn integers_of_64_bits_and_doubles_come_back_exactly(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    let numbers = json!([0, -1, 9_007_199_254_740_993_i64, i64::MAX, i64::MIN, 0.1, 1.5e300, -2.5e-10]);
    container.create_item("p", "a", json!({"id": "a", "pk": "p", "numbers": numbers}), None).await?;
    assert_eq!(read(&container, "p", "a").await?["numbers"], numbers);
    Ok(())
}

async fn two_megabytes_are_stored_and_more_is_refused(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    container.create_item("p", "fits", sized("fits", ITEM_BYTES_MAX - 1024), None).await?;
    let read_back = read(&container, "p", "fits").await?;
    assert!(read_back["text"].as_str().is_some_and(|text| text.len() > ITEM_BYTES_MAX - 2048));
    assert_eq!(
        refused(container.create_item("p", "over", sized("over", ITEM_BYTES_MAX + 1024), None).await),
        413
    );
    assert_eq!(refused(container.create_item("p", "far", sized("far", 2 * ITEM_BYTES_MAX), None).await), 413);
    assert_eq!(refused(container.read_item("p", "over", None).await), 404);
    Ok(())
}

/// An item whose JSON text has this many bytes.
fn sized(id: &str, bytes: usize) -> Value {
    let empty = json!({"id": id, "pk": "p", "text": ""}).to_string().len();
    json!({"id": id, "pk": "p", "text": "x".repeat(bytes - empty)})
}

async fn a_write_answers_without_the_item_unless_asked(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    let item = json!({"id": "a", "pk": "p"});
    let created = container.create_item("p", "a", &item, None).await?;
    assert_eq!((created.code(), created.headers().etag().is_some()), (201, true));
    assert!(created.into_body().is_empty());
    let replaced = container.replace_item("p", "a", &item, None).await?;
    assert_eq!(replaced.code(), 200);
    assert!(replaced.into_body().is_empty());
    let upserted: Value = container.upsert_item("p", "a", &item, Some(with_answer())).await?.into_model()?;
    assert_eq!(user_members(upserted), item);
    Ok(())
}

async fn a_unique_key_holds_within_its_partition(cosmos: Cosmos) -> Outcome {
    let policy = UniqueKeyPolicy::default().with_unique_key(UniqueKey::default().with_path("/email"));
    let container = cosmos.container_of(properties("/pk").with_unique_key_policy(policy), None).await?;
    let item = |id: &str, pk: &str, email: &str| json!({"id": id, "pk": pk, "email": email});
    container.create_item("p", "a", item("a", "p", "x"), None).await?;
    assert_eq!(refused(container.create_item("p", "b", item("b", "p", "x"), None).await), 409);
    assert_eq!(refused(container.upsert_item("p", "b", item("b", "p", "x"), None).await), 409);
    container.create_item("q", "b", item("b", "q", "x"), None).await?;
    container.create_item("p", "c", item("c", "p", "y"), None).await?;
    assert_eq!(refused(container.replace_item("p", "c", item("c", "p", "x"), None).await), 409);
    Ok(())
}

async fn an_item_that_is_not_of_its_partition_is_refused(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    let outcome = container.create_item("q", "a", json!({"id": "a", "pk": "p"}), None).await;
    assert_eq!(refused(outcome), 400);
    assert_eq!(refused(container.read_item("p", "a", None).await), 404);
    Ok(())
}

fn with_answer() -> ItemWriteOptions {
    let operation = OperationOptionsBuilder::new()
        .with_content_response_on_write(ContentResponseOnWrite::Enabled)
        .build();
    ItemWriteOptions::default().with_operation_options(operation)
}
