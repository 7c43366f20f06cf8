//! Feeds: pages, continuations, and what a page never carries.

use crate::call::Call;
use crate::world::{CONTAINER, ITEMS, World};
use serde_json::{Value, json};

const CONTINUATION: &str = "x-ms-continuation";
const MAX_ITEMS: &str = "x-ms-max-item-count";

async fn with_items(count: usize) -> World {
    let world = World::new().await;
    for number in 0..count {
        let item = json!({"id": number.to_string(), "pk": number % 3, "email": number}).to_string();
        world.made(Call::post(ITEMS, item)).await;
    }
    world
}

/// The ids of all pages of a feed, and how many pages there were.
async fn walk(world: &World, page: impl Fn() -> Call) -> (Vec<String>, usize) {
    let (mut ids, mut pages, mut token) = (Vec::new(), 0, None::<String>);
    loop {
        let call = match &token {
            None => page(),
            Some(token) => page().header(CONTINUATION, token.as_str()),
        };
        let reply = world.answered(200, call).await;
        let body = reply.json().unwrap();
        let items = body["Documents"].as_array().unwrap();
        assert_eq!(reply.header("x-ms-item-count"), Some(items.len().to_string().as_str()));
        assert_eq!(body["_count"], items.len());
        ids.extend(items.iter().map(|item| item["id"].as_str().unwrap().to_owned()));
        pages += 1;
        match reply.header(CONTINUATION) {
            None => return (ids, pages),
            Some(next) => assert_ne!(token.replace(next.to_owned()).as_deref(), Some(next), "no progress"),
        }
    }
}

#[tokio::test]
async fn pages_of_any_size_hold_every_item_once() {
    let world = with_items(10).await;
    let (whole, pages) = walk(&world, || Call::get(ITEMS)).await;
    assert_eq!((whole.len(), pages), (10, 1));
    for size in ["1", "3", "10", "1000", "9223372036854775807", "-1", "0", ""] {
        let (ids, _) = walk(&world, || Call::get(ITEMS).header(MAX_ITEMS, size)).await;
        assert_eq!(ids, whole, "{size}");
        let (ids, _) = walk(&world, || {
            Call::post(ITEMS, r#"{"query":"SELECT * FROM c"}"#).query().header(MAX_ITEMS, size)
        })
        .await;
        assert_eq!(ids, whole, "{size}");
    }
    let mut by_partition = Vec::new();
    for pk in ["[0]", "[1]", "[2]"] {
        by_partition.extend(walk(&world, || Call::get(ITEMS).partition(pk).header(MAX_ITEMS, "2")).await.0);
    }
    by_partition.sort_by_key(|id| whole.iter().position(|other| other == id));
    assert_eq!(by_partition, whole);
}

#[tokio::test]
async fn a_size_that_is_no_number_is_refused() {
    let world = World::new().await;
    for size in ["x", "-2", "1.5", "1e3", "99999999999999999999", "0x10"] {
        world.refused(Call::get(ITEMS).header(MAX_ITEMS, size), (400, 0), MAX_ITEMS).await;
    }
}

#[tokio::test]
async fn a_continuation_is_good_only_whole_and_for_its_container() {
    let world = with_items(4).await;
    world.container("other", &json!({})).await;
    let page = |token: &str| Call::get(ITEMS).header(MAX_ITEMS, "1").header(CONTINUATION, token);
    let first = world.answered(200, Call::get(ITEMS).header(MAX_ITEMS, "1")).await;
    let token = first.header(CONTINUATION).unwrap();
    assert!(token.len() < 1024 && token.bytes().all(|byte| byte.is_ascii_graphic()), "{token}");
    world.answered(200, page(token)).await;
    let fragment = "Invalid Continuation Token";
    let elsewhere = Call::get("dbs/d/colls/other/docs").header(CONTINUATION, token);
    world.refused(elsewhere, (400, 0), fragment).await;
    let damaged = [
        &token[1..],
        &token[..token.len() - 1],
        "x",
        "{}",
        "\"00000000-0000-0000-0000-000000000000\"",
        "AQAAAAM",
    ];
    for damaged in damaged {
        world.refused(page(damaged), (400, 0), fragment).await;
    }
    world.refused(page(&"A".repeat(20_000)), (400, 0), fragment).await;
    world.refused(Call::get(ITEMS).header(CONTINUATION, &b"\xff\xfe"[..]), (400, 0), CONTINUATION).await;
}

#[tokio::test]
async fn a_continuation_may_come_back_with_a_narrower_scope() {
    let world = with_items(9).await;
    let mut token = world
        .answered(200, Call::get(ITEMS).header(MAX_ITEMS, "1"))
        .await
        .header(CONTINUATION)
        .unwrap()
        .to_owned();
    loop {
        for pk in ["[0]", "[1]", "[2]"] {
            world.answered(200, Call::get(ITEMS).partition(pk).header(CONTINUATION, token.as_str())).await;
        }
        let page = Call::get(ITEMS).header(MAX_ITEMS, "1").header(CONTINUATION, token.as_str());
        match world.answered(200, page).await.header(CONTINUATION) {
            Some(next) => token = next.to_owned(),
            None => return,
        }
    }
}

#[tokio::test]
async fn bounds_that_are_no_keys_are_refused() {
    let world = World::new().await;
    for name in ["x-ms-start-epk", "x-ms-end-epk"] {
        for bound in ["x", "0", "F", "GG"] {
            world.refused(Call::get(ITEMS).header(name, bound), (400, 0), name).await;
        }
        world.answered(200, Call::get(ITEMS).header(name, "1F")).await;
    }
    let backwards = Call::get(ITEMS).header("x-ms-start-epk", "30").header("x-ms-end-epk", "10");
    assert_eq!(world.answered(200, backwards).await.json().unwrap()["_count"], 0);
}

#[tokio::test]
async fn no_page_of_a_feed_carries_a_tag() {
    let world = with_items(3).await;
    world.made(Call::post("dbs", r#"{"id":"rated"}"#).header("x-ms-offer-throughput", "400")).await;
    let all = r#"{"query":"SELECT * FROM c"}"#;
    let feeds = [
        ("dbs", "Databases", 2),
        ("dbs/d/colls", "DocumentCollections", 1),
        ("offers", "Offers", 2),
        (ITEMS, "Documents", 3),
    ];
    for (path, name, count) in feeds {
        for call in [Call::get(path), Call::post(path, all).query()] {
            let reply = world.answered(200, call).await;
            assert_eq!(reply.header("etag"), None, "{path}");
            let body = reply.json().unwrap();
            assert_eq!(body[name].as_array().map(Vec::len), Some(count), "{path}");
            assert_eq!(body["_count"], count);
            assert_eq!(reply.header("x-ms-item-count"), Some(count.to_string().as_str()));
        }
    }
}

#[tokio::test]
async fn a_page_ends_before_it_is_too_large() {
    let world = World::new().await;
    for id in ["a", "b", "c", "d"] {
        let item = json!({"id": id, "pk": "p", "email": id, "t": "x".repeat(1_900_000)}).to_string();
        world.made(Call::post(ITEMS, item)).await;
    }
    let (ids, pages) = walk(&world, || Call::get(ITEMS)).await;
    assert_eq!(ids.len(), 4);
    assert!(pages > 1);
}

#[tokio::test]
async fn a_feed_names_its_container() {
    let world = World::new().await;
    let rid = world.answered(200, Call::get(CONTAINER)).await.json().unwrap()["_rid"].clone();
    let feed = world.answered(200, Call::get(ITEMS)).await.json().unwrap();
    assert_eq!(feed, json!({"_rid": rid, "Documents": [], "_count": 0}));
    assert_ne!(rid, Value::Null);
}
