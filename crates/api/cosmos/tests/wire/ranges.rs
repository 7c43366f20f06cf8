//! Partition key ranges: the feed that SDKs read until it says 304, before and after a split.

use crate::call::Call;
use crate::world::{CONTAINER, ITEMS, World};
use orrery_testing_client::OwnedReply;
use serde_json::{Value, json};

const RANGES: &str = "dbs/d/colls/s/pkranges";

fn incremental() -> Call {
    Call::get(RANGES).header("a-im", "Incremental feed")
}

fn ranges(reply: &OwnedReply) -> Vec<Value> {
    reply.json().unwrap()["PartitionKeyRanges"].as_array().unwrap().clone()
}

fn ids(reply: &OwnedReply) -> Vec<String> {
    ranges(reply).iter().map(|range| range["id"].as_str().unwrap().to_owned()).collect()
}

/// From the lowest key to the highest without gap or overlap.
fn check_tiled(ranges: &[Value]) {
    let mut ends: Vec<(&str, &str)> = ranges
        .iter()
        .map(|range| (range["minInclusive"].as_str().unwrap(), range["maxExclusive"].as_str().unwrap()))
        .collect();
    ends.sort_unstable();
    assert_eq!((ends[0].0, ends[ends.len() - 1].1), ("", "FF"));
    assert!(ends.windows(2).all(|pair| pair[0].1 == pair[1].0), "{ends:?}");
}

/// A container `s` whose throughput can be raised.
async fn with_container() -> World {
    let world = World::new().await;
    let body = json!({"id": "s", "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}});
    world.made(Call::post("dbs/d/colls", body.to_string()).header("x-ms-offer-throughput", "400")).await;
    world
}

async fn split(world: &World) {
    let mut offer = world.offer("dbs/d/colls/s").await;
    offer["content"]["offerThroughput"] = json!(18_000);
    let path = format!("offers/{}", offer["id"].as_str().unwrap());
    world.answered(200, Call::put(&path, offer.to_string())).await;
}

#[tokio::test]
async fn the_incremental_feed_ends_in_not_modified() {
    let world = with_container().await;
    for mode in ["Incremental feed", "Incremental Feed", "INCREMENTAL FEED"] {
        let call = || Call::get(RANGES).header("a-im", mode).header("x-ms-max-item-count", "-1");
        let first = world.answered(200, call()).await;
        let tag = first.header("etag").unwrap();
        assert_eq!(ids(&first), ["0"]);
        let again = world.answered(304, call().header("if-none-match", tag)).await;
        assert_eq!(again.header("etag"), Some(tag));
    }
    let plain = world.answered(200, Call::get(RANGES)).await;
    check_tiled(&ranges(&plain));
    let range = &ranges(&plain)[0];
    assert_eq!((&range["status"], &range["parents"]), (&json!("online"), &json!([])));
}

#[tokio::test]
async fn after_a_split_the_incremental_feed_has_only_children_and_the_plain_one_only_leaves() {
    let world = with_container().await;
    let tag = world.answered(200, incremental()).await.header("etag").unwrap().to_owned();
    split(&world).await;
    let news = world.answered(200, incremental().header("if-none-match", tag.as_str())).await;
    let children = ranges(&news);
    assert_eq!(children.len(), 3);
    assert!(children.iter().all(|child| child["parents"][0] == "0" && child["id"] != "0"), "{children:?}");
    check_tiled(&children);
    let newer = news.header("etag").unwrap();
    assert_ne!(newer, tag);
    world.answered(304, incremental().header("if-none-match", newer)).await;
    for call in [Call::get(RANGES), incremental()] {
        assert_eq!(ids(&world.answered(200, call).await), ids(&news));
    }
}

#[tokio::test]
async fn a_tag_of_another_life_gets_everything() {
    let world = with_container().await;
    for tag in ["\"99\"", "\"x\"", "*", "\"00000000-0000-0000-0000-000000000000\""] {
        let reply = world.answered(200, incremental().header("if-none-match", tag)).await;
        assert_eq!(ids(&reply), ["0"], "{tag}");
    }
}

#[tokio::test]
async fn a_range_that_is_gone_is_410_and_its_children_hold_its_items() {
    let world = with_container().await;
    let items = "dbs/d/colls/s/docs";
    for number in 0..20 {
        world.made(Call::post(items, json!({"id": number.to_string(), "pk": number}).to_string())).await;
    }
    let of = |range: &str| Call::get(items).header("x-ms-documentdb-partitionkeyrangeid", range);
    assert_eq!(world.answered(200, of("0")).await.json().unwrap()["_count"], 20);
    split(&world).await;
    for gone in ["0", "99", "x", "-1"] {
        world.refused(of(gone), (410, 1002), "is gone; read the ranges again").await;
    }
    let mut found = 0;
    for range in ids(&world.answered(200, Call::get(RANGES)).await) {
        let page = world.answered(200, of(&range)).await;
        found += page.json().unwrap()["_count"].as_u64().unwrap();
        assert_eq!(page.header("x-ms-documentdb-partitionkeyrangeid"), Some(range.as_str()));
        assert_eq!(page.session_lsns()[0].0, range);
    }
    assert_eq!(found, 20);
}

#[tokio::test]
async fn answers_about_items_name_the_range_that_holds_them_also_when_they_are_refusals() {
    let world = with_container().await;
    split(&world).await;
    let leaves = ids(&world.answered(200, Call::get(RANGES)).await);
    let mut seen = Vec::new();
    for number in 0..20 {
        let (item, pk) = (json!({"id": "i", "pk": number}).to_string(), format!("[{number}]"));
        let calls = [
            Call::get("dbs/d/colls/s/docs/i"),
            Call::post("dbs/d/colls/s/docs", item.clone()),
            Call::post("dbs/d/colls/s/docs", item),
            Call::get("dbs/d/colls/s/docs/i"),
        ];
        for (call, status) in calls.into_iter().zip([404, 201, 409, 200]) {
            let reply = world.answered(status, call.partition(&pk)).await;
            let range = reply.header("x-ms-documentdb-partitionkeyrangeid").unwrap().to_owned();
            assert!(leaves.contains(&range), "{status} of {range}");
            assert_eq!(reply.session_lsns()[0].0, range, "{status}");
            seen.push(range);
        }
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), leaves.len());
}

#[tokio::test]
async fn a_container_that_was_made_again_is_another() {
    let world = World::new().await;
    world.item("i").await;
    let old = world.answered(200, Call::get(CONTAINER)).await.json().unwrap();
    let rid = old["_rid"].as_str().unwrap();
    let calls = || {
        let ranges = format!("{CONTAINER}/pkranges");
        let calls = [
            Call::get("dbs/d/colls/c/docs/i").partition(r#"["p"]"#),
            Call::get(ITEMS),
            Call::post(ITEMS, r#"{"id":"i","pk":"p"}"#).upsert(),
            Call::get(&ranges),
        ];
        calls.map(|call| call.header("x-ms-cosmos-intended-collection-rid", rid))
    };
    for call in calls() {
        world.answered(200, call).await;
    }
    world.answered(204, Call::delete(CONTAINER)).await;
    for call in calls() {
        world.refused(call, (404, 1003), "there is no container 'c'").await;
    }
    world.container("c", &json!({})).await;
    for call in calls() {
        world.refused(call, (400, 1024), "created again").await;
    }
    let unsaid = Call::get("dbs/d/colls/c/docs/i")
        .partition(r#"["p"]"#)
        .header("x-ms-cosmos-intended-collection-rid", "");
    world.refused(unsaid, (404, 0), "does not exist").await;
}
