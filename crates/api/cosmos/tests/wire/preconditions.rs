//! `If-Match` and `If-None-Match`, on every verb that heeds them.

use crate::call::Call;
use crate::world::{CONTAINER, ITEMS, World};

const ITEM: &str = "dbs/d/colls/c/docs/i";
const PK: &str = r#"["p"]"#;
const BODY: &str = r#"{"id":"i","pk":"p"}"#;

/// Tags that no version of the item has: old, foreign, weak, a list, not even text.
fn stale_tags(current: &str) -> Vec<Vec<u8>> {
    let list = format!("{current}, {current}");
    let tags = ["\"00000000-0000-0000-0000-000000000000\"", "\"x\"", "x", "\"\"", "\"*\"", list.as_str()];
    let mut tags: Vec<Vec<u8>> = tags.iter().map(|tag| tag.as_bytes().to_vec()).collect();
    tags.push("\"é\"".as_bytes().to_vec());
    tags.push(vec![0xff]);
    tags
}

#[tokio::test]
async fn a_write_on_a_stale_tag_changes_nothing() {
    let world = World::new().await;
    let current = world.item("i").await.header("etag").unwrap().to_owned();
    for tag in stale_tags(&current) {
        let writes = [
            Call::put(ITEM, BODY).partition(PK),
            Call::post(ITEMS, BODY).partition(PK).upsert(),
            Call::delete(ITEM).partition(PK),
        ];
        for call in writes {
            let reply = world.call(&call.header("if-match", tag.clone())).await;
            assert_eq!(reply.status, 412, "{tag:?}");
        }
    }
    let read = world.answered(200, Call::get(ITEM).partition(PK)).await;
    assert_eq!(read.header("etag"), Some(current.as_str()));
    let put =
        Call::put(ITEM, BODY).partition(PK).header("if-match", "\"00000000-0000-0000-0000-000000000000\"");
    world.refused(put, (412, 0), "pre-condition is not met").await;
}

#[tokio::test]
async fn a_write_on_the_current_tag_or_any_goes_through() {
    let world = World::new().await;
    let mut tag = world.item("i").await.header("etag").unwrap().to_owned();
    for call in [Call::put(ITEM, BODY), Call::post(ITEMS, BODY).upsert()] {
        for matching in [tag.clone(), "*".to_owned()] {
            let reply = world.answered(200, call.clone().partition(PK).header("if-match", matching)).await;
            tag = reply.header("etag").unwrap().to_owned();
        }
        let unquoted = tag.trim_matches('"');
        let reply = world.answered(200, call.partition(PK).header("if-match", unquoted)).await;
        tag = reply.header("etag").unwrap().to_owned();
    }
    world.answered(204, Call::delete(ITEM).partition(PK).header("if-match", tag)).await;
}

#[tokio::test]
async fn an_upsert_of_nothing_creates_whatever_it_wanted_to_match() {
    let world = World::new().await;
    let call =
        Call::post(ITEMS, BODY).upsert().header("if-match", "\"00000000-0000-0000-0000-000000000000\"");
    world.made(call).await;
}

#[tokio::test]
async fn a_read_of_what_the_client_has_is_not_modified() {
    let world = World::new().await;
    let tag = world.item("i").await.header("etag").unwrap().to_owned();
    let read = |tag: &str| Call::get(ITEM).partition(PK).header("if-none-match", tag);
    for same in [tag.as_str(), "*", tag.trim_matches('"')] {
        let reply = world.answered(304, read(same)).await;
        assert_eq!((reply.header("etag"), reply.body.len()), (Some(tag.as_str()), 0));
    }
    assert!(!world.answered(200, read("\"00000000-0000-0000-0000-000000000000\"")).await.body.is_empty());
    world.refused(Call::get(ITEM).partition(PK).header("if-match", "\"x\""), (412, 0), "pre-condition").await;
}

#[tokio::test]
async fn databases_and_containers_heed_tags_too() {
    let world = World::new().await;
    let container = world.answered(200, Call::get(CONTAINER)).await;
    let stale = "\"00000000-0000-0000-0000-000000000000\"";
    for call in [Call::put(CONTAINER, container.body.clone()), Call::delete(CONTAINER), Call::delete("dbs/d")]
    {
        world.refused(call.header("if-match", stale), (412, 0), "pre-condition").await;
    }
    let put =
        Call::put(CONTAINER, container.body.clone()).header("if-match", container.header("etag").unwrap());
    let replaced = world.answered(200, put).await;
    assert_ne!(replaced.header("etag"), container.header("etag"));
    world.answered(204, Call::delete(CONTAINER).header("if-match", replaced.header("etag").unwrap())).await;
}
