//! ETags and `If-Match`.

use crate::call::Call;
use crate::world::World;

const AT: &str = "/runs(PartitionKey='p',RowKey='r')";

#[tokio::test]
async fn a_write_with_a_tag_wants_exactly_that_version() {
    let world = World::new().await;
    let first = world.insert("p", "r", "").await.header("etag").unwrap().to_owned();
    let with = |call: Call, tag: &str| call.header("If-Match", tag);
    let second = world.answered(204, with(Call::put(AT, r#"{"a":1}"#), &first)).await;
    let second = second.header("etag").unwrap();
    assert_ne!(first, second, "the clock stands still, and the version is another all the same");
    let stale = async |call: Call, tag: &str| {
        world.refused(with(call, tag), 412, "UpdateConditionNotSatisfied", "not satisfied").await;
    };
    stale(Call::put(AT, "{}"), &first).await;
    stale(Call::merge(AT, "{}"), &first).await;
    stale(Call::delete(AT), &first).await;
    stale(Call::delete(AT), "\"some-other-tag\"").await;
    stale(Call::put(AT, "{}"), "").await;
    stale(Call::put(AT, "{}"), "W/\"datetime'é'\"").await;
    world.answered(204, with(Call::merge(AT, "{}"), &second.replace("%3A", ":"))).await;
}

#[tokio::test]
async fn a_tag_for_what_is_not_there_is_not_found() {
    let world = World::new().await;
    let tag = "W/\"datetime'2026-11-15T00%3A59%3A26.3287118Z'\"";
    for call in [Call::put(AT, "{}"), Call::merge(AT, "{}"), Call::delete(AT)] {
        world.refused(call.header("If-Match", tag), 404, "ResourceNotFound", "does not exist").await;
    }
}

#[tokio::test]
async fn a_delete_needs_a_condition() {
    let world = World::new().await;
    world.insert("p", "r", "").await;
    world.refused(Call::delete(AT), 400, "MissingRequiredHeader", "mandatory").await;
    world.answered(200, Call::get(AT)).await;
}
