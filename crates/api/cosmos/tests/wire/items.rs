//! Items that are written and read well: statuses, headers, and text that comes back as it went in.

use crate::call::Call;
use crate::world::{CONTAINER, ITEMS, World};
use orrery_testing_client::OwnedReply;
use serde_json::json;
use std::time::Duration;

const ITEM: &str = "dbs/d/colls/c/docs/i";
const PK: &str = r#"["p"]"#;

/// What an answer about an item says of its place.
fn check_place(reply: &OwnedReply, container_rid: &str) {
    assert_eq!(reply.header("x-ms-documentdb-partitionkeyrangeid"), Some("0"), "{}", reply.status);
    assert_eq!(reply.header("x-ms-alt-content-path"), Some(CONTAINER), "{}", reply.status);
    assert_eq!(reply.header("x-ms-content-path"), Some(container_rid), "{}", reply.status);
    let lsns = reply.session_lsns();
    assert!(matches!(lsns[..], [("0", 1..)]), "{} {lsns:?}", reply.status);
}

#[tokio::test]
async fn every_answer_about_an_item_says_where_it_is() {
    let world = World::new().await;
    let container = world.answered(200, Call::get(CONTAINER)).await.json().unwrap();
    let rid = container["_rid"].as_str().unwrap();
    let body = r#"{"id":"i","pk":"p"}"#;
    let post = || Call::post(ITEMS, body).partition(PK);
    let put = || Call::put(ITEM, body).partition(PK);
    let get = || Call::get(ITEM).partition(PK);
    let stale = "\"00000000-0000-0000-0000-000000000000\"";
    let steps = [
        (404, get()),
        (201, post()),
        (409, post()),
        (200, post().upsert()),
        (412, post().upsert().header("if-match", stale)),
        (200, put()),
        (412, put().header("if-match", stale)),
        (200, get()),
        (304, get().header("if-none-match", "*")),
        (412, Call::delete(ITEM).partition(PK).header("if-match", stale)),
        (204, Call::delete(ITEM).partition(PK)),
        (404, Call::delete(ITEM).partition(PK)),
        (404, put()),
        (200, Call::get(ITEMS)),
        (200, Call::get(ITEMS).partition(PK)),
    ];
    for (status, call) in steps {
        check_place(&world.answered(status, call).await, rid);
    }
}

#[tokio::test]
async fn each_write_has_a_new_tag_and_a_later_session() {
    let world = World::new().await;
    let body = r#"{"id":"i","pk":"p"}"#;
    let (mut tags, mut last) = (Vec::new(), 0);
    for call in
        [Call::post(ITEMS, body), Call::post(ITEMS, body).upsert(), Call::put(ITEM, body).partition(PK)]
    {
        let reply = world.call(&call).await;
        let tag = reply.header("etag").unwrap().to_owned();
        assert_eq!(reply.json().unwrap()["_etag"], tag.as_str());
        assert!(tag.starts_with('"') && tag.ends_with('"') && !tags.contains(&tag), "{tag}");
        tags.push(tag);
        let [(_, lsn)] = reply.session_lsns()[..] else { panic!("one range") };
        assert!(lsn > last);
        last = lsn;
    }
}

#[tokio::test]
async fn an_item_comes_back_with_its_text_as_it_was_sent() {
    let world = World::new().await;
    let sent = concat!(
        r#"{ "id" : "i", "pk":"p", "n":[1.0,-0.0,1e2,1E+2,0.1e-7,9007199254740993,18446744073709551616,"#,
        r#"123456789012345678901234567890,3.141592653589793238462643383279502884], "t":"\u00e9é\/\ud83d\ude80","#,
        r#""":"", "z":{"b":1,"a":2} }"#
    );
    let created = world.made(Call::post(ITEMS, sent).partition(PK)).await;
    let read = world.answered(200, Call::get(ITEM).partition(PK)).await;
    let text = String::from_utf8(read.body.clone()).unwrap();
    assert!(text.starts_with(sent.trim_end_matches(" }")), "{text}");
    assert_eq!(created.body, read.body);
    let feed = String::from_utf8(world.answered(200, Call::get(ITEMS)).await.body).unwrap();
    assert!(feed.contains(&text), "{feed}");
    let json = read.json().unwrap();
    for name in ["_rid", "_self", "_etag", "_attachments", "_ts"] {
        assert!(json.get(name).is_some(), "{name}");
    }
    assert_eq!(json["_ts"], world.env.now().seconds());
}

#[tokio::test]
async fn system_properties_from_a_client_are_written_over() {
    let world = World::new().await;
    let reply = world
        .made(Call::post(ITEMS, r#"{"_ts":1,"id":"i","_etag":"mine","pk":"p","_rid":"x","_self":5}"#))
        .await;
    let json = reply.json().unwrap();
    assert_eq!(json["_etag"].as_str(), reply.header("etag"));
    assert_ne!(json["_ts"], 1);
    assert!(json["_self"].as_str().unwrap().starts_with("dbs/"));
    assert_eq!(json.as_object().unwrap().len(), 7);
}

#[tokio::test]
async fn a_lone_surrogate_becomes_the_replacement_character() {
    let world = World::new().await;
    let reply = world.made(Call::post(ITEMS, r#"{"id":"i","pk":"p","t":"a\ud800b"}"#)).await;
    assert_eq!(reply.json().unwrap()["t"], "a\u{fffd}b");
}

#[tokio::test]
async fn a_minimal_answer_has_its_tag_and_session_and_no_body() {
    let world = World::new().await;
    let body = r#"{"id":"i","pk":"p"}"#;
    let steps = [
        (201, Call::post(ITEMS, body)),
        (200, Call::post(ITEMS, body).upsert()),
        (200, Call::put(ITEM, body)),
    ];
    for (status, call) in steps {
        let reply = world.answered(status, call.partition(PK).header("prefer", "return=minimal")).await;
        assert_eq!(reply.body, b"");
        let read = world.answered(200, Call::get(ITEM).partition(PK)).await;
        assert_eq!(reply.header("etag"), read.header("etag"));
        assert_eq!(reply.session_lsns(), read.session_lsns());
    }
    let call =
        Call::post(ITEMS, r#"{"id":"j","pk":"p","email":"j"}"#).header("prefer", "return=representation");
    assert!(!world.made(call).await.body.is_empty());
}

#[tokio::test]
async fn a_second_item_with_the_same_id_or_unique_key_is_a_conflict() {
    let world = World::new().await;
    world.item("i").await;
    let post = |body: &str| Call::post(ITEMS, body);
    world.refused(post(r#"{"id":"i","pk":"p","email":"new"}"#), (409, 0), "id already exists").await;
    for call in
        [post(r#"{"id":"j","pk":"p","email":"i"}"#), post(r#"{"id":"j","pk":"p","email":"i"}"#).upsert()]
    {
        world.refused(call, (409, 0), "Unique index constraint violation").await;
    }
    world.item("k").await;
    let put = Call::put("dbs/d/colls/c/docs/k", r#"{"id":"k","pk":"p","email":"i"}"#).partition(PK);
    world.refused(put, (409, 0), "Unique index constraint violation").await;
    let rename = Call::put("dbs/d/colls/c/docs/k", r#"{"id":"i","pk":"p","email":"k"}"#).partition(PK);
    world.refused(rename, (409, 0), "id already exists").await;
    world.made(post(r#"{"id":"j","pk":"another partition","email":"i"}"#)).await;
}

#[tokio::test]
async fn an_expired_item_is_gone_at_its_second() {
    let world = World::new().await;
    world.made(Call::post(ITEMS, json!({"id": "i", "pk": "p", "ttl": 5}).to_string())).await;
    world.env.advance(Duration::from_millis(4999)).unwrap();
    world.answered(200, Call::get(ITEM).partition(PK)).await;
    world.env.advance(Duration::from_millis(1)).unwrap();
    world.refused(Call::get(ITEM).partition(PK), (404, 0), "does not exist").await;
    assert_eq!(world.answered(200, Call::get(ITEMS)).await.json().unwrap()["_count"], 0);
    world.refused(Call::delete(ITEM).partition(PK), (404, 0), "does not exist").await;
    world.made(Call::post(ITEMS, json!({"id": "i", "pk": "p"}).to_string())).await;
}

#[tokio::test]
async fn a_read_says_where_the_item_was_found() {
    let world = World::new().await;
    world.item("a b").await;
    let read = Call::get(&format!("{ITEMS}/a b")).partition(r#"["p"]"#);
    let reply = world.answered(200, read).await;
    assert_eq!(reply.header("content-location"), Some("http://127.0.0.1/dbs/d/colls/c/docs/a%20b"));
}
