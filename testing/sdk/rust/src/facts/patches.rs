//! Patches: small changes to an item, all of them or none.

use super::{Outcome, facts};
use crate::check::{read, refused, user_members};
use crate::cosmos::Cosmos;
use azure_data_cosmos::models::{PatchInstructions, PatchOperation};
use azure_data_cosmos::options::{PatchItemOptions, PatchStrategy};
use serde_json::{Value, json};

facts! { Running:
    "items.patch" => the_server_does_every_operation_of_a_patch,
    "items.patch" => the_sdk_patches_by_itself_what_is_not_safe_to_send_twice,
    "items.patch_refused" => a_patch_that_cannot_be_done_changes_nothing,
}

fn item() -> Value {
    json!({"id": "a", "pk": "p", "n": 1, "tags": ["x", "y"], "o": {"old": true}})
}

fn on_the_server() -> Option<PatchItemOptions> {
    Some(PatchItemOptions::default().with_strategy(PatchStrategy::ServerSide))
}

fn patch(operations: impl IntoIterator<Item = PatchOperation>) -> PatchInstructions {
    operations.into_iter().fold(PatchInstructions::new(), PatchInstructions::with_operation)
}

async fn the_server_does_every_operation_of_a_patch(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    container.create_item("p", "a", item(), None).await?;
    let operations = patch([
        PatchOperation::add("/tags/1", json!("between")),
        PatchOperation::set("/o/new", json!(null)),
        PatchOperation::replace("/o/old", json!(false)),
        PatchOperation::increment("/n", 41i64),
        PatchOperation::remove("/tags/2"),
        PatchOperation::move_value("/o/old", "/moved"),
    ]);
    let answer: Value = container.patch_item("p", "a", operations, on_the_server()).await?.into_model()?;
    let expected = json!({"id": "a", "pk": "p", "n": 42, "tags": ["x", "between"], "o": {"new": null}, "moved": false});
    assert_eq!(user_members(answer), expected);
    assert_eq!(user_members(read(&container, "p", "a").await?), expected);
    Ok(())
}

async fn the_sdk_patches_by_itself_what_is_not_safe_to_send_twice(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    container.create_item("p", "a", item(), None).await?;
    container.patch_item("p", "a", patch([PatchOperation::increment("/n", 1i64)]), None).await?;
    container.patch_item("p", "a", patch([PatchOperation::set("/m", json!(3))]), None).await?;
    let there = read(&container, "p", "a").await?;
    assert_eq!((&there["n"], &there["m"]), (&json!(2), &json!(3)));
    Ok(())
}

async fn a_patch_that_cannot_be_done_changes_nothing(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    container.create_item("p", "a", item(), None).await?;
    let wrong = [
        PatchOperation::replace("/missing", json!(1)),
        PatchOperation::remove("/missing"),
        PatchOperation::add("/tags/3", json!(1)),
        PatchOperation::set("/id", json!("b")),
        PatchOperation::set("/pk", json!("q")),
    ];
    for operation in wrong {
        let operations = patch([PatchOperation::set("/n", json!(7)), operation]);
        assert_eq!(refused(container.patch_item("p", "a", operations, on_the_server()).await), 400);
    }
    let eleven = patch((0..11).map(|n| PatchOperation::set("/n", json!(n))));
    assert_eq!(refused(container.patch_item("p", "a", eleven, on_the_server()).await), 400);
    assert_eq!(user_members(read(&container, "p", "a").await?), item());
    Ok(())
}
