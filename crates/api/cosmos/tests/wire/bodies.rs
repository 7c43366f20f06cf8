//! Bodies that are not what they should be: each is a 4xx with a sentence, and nothing of it is stored.

use crate::call::Call;
use crate::world::{ITEMS, World};
use orrery_api_cosmos::limits::BODY_BYTES_MAX;
use orrery_core::limits::ITEM_BYTES_MAX;
use orrery_testing_client::Connection;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const ITEM: &str = "dbs/d/colls/c/docs/i";

/// Every way a body gets into an item.
fn writes(body: &[u8]) -> [Call; 3] {
    [Call::post(ITEMS, body), Call::post(ITEMS, body).upsert(), Call::put(ITEM, body)]
        .map(|call| call.partition(r#"["p"]"#))
}

async fn check(world: &World, body: &[u8], fragment: &str) {
    for call in writes(body) {
        world.refused(call, (400, 0), fragment).await;
    }
}

#[tokio::test]
async fn a_body_that_is_no_json_object_is_a_bad_request() {
    let world = World::new().await;
    world.item("i").await;
    let before = world.answered(200, Call::get(ITEMS)).await.body;
    let not_json: [&[u8]; 18] = [
        b"",
        b" ",
        b"{",
        br#"{"id":"i","pk":"p""#,
        br#"{"id":"i","pk":"#,
        br#"{"id":"i,"pk":"p"}"#,
        br#"{id:"i"}"#,
        br#"{'id':'i'}"#,
        br#"{"id":"i","pk":"p",}"#,
        br#"{"id":"i","n":01}"#,
        br#"{"id":"i","n":NaN}"#,
        br#"{"id":"i"} {"id":"j"}"#,
        b"\xef\xbb\xbf{\"id\":\"i\"}",
        b"[]",
        br#"[{"id":"i","pk":"p"}]"#,
        b"\"i\"",
        b"17",
        b"null",
    ];
    for body in not_json {
        check(&world, body, "not a JSON object").await;
    }
    assert_eq!(world.answered(200, Call::get(ITEMS)).await.body, before);
}

#[tokio::test]
async fn json_that_could_be_read_in_two_ways_is_a_bad_request() {
    let world = World::new().await;
    world.item("i").await;
    check(&world, br#"{"id":"i","pk":"p","id":"j"}"#, r#"already has a member named "id""#).await;
    check(&world, br#"{"id":"i","pk":"p","\u0069d":"j"}"#, r#"already has a member named "id""#).await;
    check(&world, br#"{"id":"i","pk":"p","a":[{"b":1,"b":2}]}"#, r#"already has a member named "b""#).await;
    check(&world, b"{\"id\":\"i\",\"pk\":\"p\",\"t\":\"\xff\xfe\"}", "not UTF-8").await;
    check(&world, b"{\"id\":\"i\",\"pk\":\"p\",\"t\":\"\xed\xa0\x80\"}", "not UTF-8").await;
    check(
        &world,
        b"{\"id\":\"i\",\"pk\":\"p\",\"t\":\"a\nb\"}",
        "a control character in a string must be escaped",
    )
    .await;
    check(
        &world,
        b"{\"id\":\"i\",\"pk\":\"p\",\"t\":\"\0\"}",
        "a control character in a string must be escaped",
    )
    .await;
    check(&world, br#"{"id":"i","pk":"p","t":"\x"}"#, "not a valid escape").await;
    check(&world, br#"{"id":"i","pk":"p","n":1e400}"#, "too large for a double").await;
    check(&world, br#"{"id":"i","pk":"p","n":[-1e400]}"#, "too large for a double").await;
}

/// An item nested so many levels, itself the first.
fn nested(levels: usize) -> Vec<u8> {
    format!(r#"{{"id":"deep","pk":"p","a":{}{}}}"#, "[".repeat(levels - 1), "]".repeat(levels - 1))
        .into_bytes()
}

#[tokio::test]
async fn nesting_ends_at_128_levels() {
    let world = World::new().await;
    world.made(Call::post(ITEMS, nested(128))).await;
    check(&world, &nested(129), "more than 128 levels").await;
    check(&world, &nested(100_000), "more than 128 levels").await;
    world.refused(Call::post("dbs", nested(100_000)), (400, 0), "more than 128 levels").await;
    world.refused(Call::post(ITEMS, nested(100_000)).query(), (400, 0), "more than 128 levels").await;
}

#[tokio::test]
async fn the_bodies_of_other_resources_are_checked_as_well() {
    let world = World::new().await;
    let paths = ["dbs", "dbs/d/colls"];
    for path in paths {
        for body in
            [&b""[..], b"{", b"[]", b"1", br#"{"id":"x","id":"y"}"#, b"{\"id\":\"\xff\"}", br#"{"id":1e400}"#]
        {
            world.refused(Call::post(path, body), (400, 0), "not a JSON object").await;
        }
        world.refused(Call::post(path, "{}"), (400, 0), "id").await;
        world.refused(Call::post(path, r#"{"id":7,"partitionKey":{"paths":["/pk"]}}"#), (400, 0), "id").await;
    }
    for path in ["dbs", "dbs/d/colls", "offers", ITEMS] {
        for body in ["", "[]", "{", "{}", r#"{"query":1}"#] {
            world.refused(Call::post(path, body).query(), (400, 0), "query").await;
        }
        world.refused(Call::post(path, r#"{"query":"SELECT"}"#).query(), (400, 0), "Syntax error").await;
    }
}

#[tokio::test]
async fn binary_json_is_read_and_broken_binary_json_refused() {
    let world = World::new().await;
    let good = b"\x80\xed\x0f\x03\x82id\x82i0\x81n\x0a\x82pk\x82p0";
    let reply = world.made(Call::post(ITEMS, &good[..]).partition(r#"["p0"]"#)).await;
    assert!(
        reply.body.starts_with(br#"{"id":"i0","n":10,"pk":"p0""#),
        "{}",
        String::from_utf8_lossy(&reply.body)
    );
    for cut in 1..good.len() {
        world.refused(Call::post(ITEMS, &good[..cut]), (400, 0), "Cosmos binary JSON").await;
    }
    for broken in [&b"\x80\xff"[..], b"\x80\x40", b"\x80\xed\xff\x03", &[good, &b"\0"[..]].concat()] {
        world.refused(Call::post(ITEMS, broken), (400, 0), "Cosmos binary JSON").await;
    }
    world.refused(Call::post(ITEMS, &b"\x80\x05"[..]), (400, 0), "not a JSON object").await;
    let twice = b"\x80\xed\x0a\x02\x82id\x81a\x82id\x81b";
    world.refused(Call::post(ITEMS, &twice[..]), (400, 0), "").await;
}

/// An item of exactly so many bytes.
fn item_of(bytes: usize) -> Vec<u8> {
    let (head, tail) = (r#"{"id":"big","pk":"p","t":""#, r#""}"#);
    [head, &"x".repeat(bytes - head.len() - tail.len()), tail].concat().into_bytes()
}

#[tokio::test]
async fn two_mebibytes_are_the_largest_item() {
    let world = World::new().await;
    world.made(Call::post(ITEMS, item_of(ITEM_BYTES_MAX))).await;
    let mut connection = Connection::connect(world.address).await.unwrap();
    for bytes in [ITEM_BYTES_MAX + 1, BODY_BYTES_MAX, BODY_BYTES_MAX + 1, 2 * ITEM_BYTES_MAX] {
        for call in writes(&item_of(bytes)) {
            let fragment = "Message: {\"Errors\":[\"Request size is too large\"]}";
            world.refused(call.clone(), (413, 0), fragment).await;
            world.refused(call.clone().chunked(), (413, 0), fragment).await;
            let reply = world.call_on(&mut connection, &call).await;
            assert_eq!(reply.status, 413, "the connection goes on after a refusal");
        }
    }
    let read = Call::get("dbs/d/colls/c/docs/big").partition(r#"["p"]"#);
    assert!(world.answered(200, read).await.body.len() > ITEM_BYTES_MAX);
}

#[tokio::test]
async fn a_body_in_chunks_is_a_body() {
    let world = World::new().await;
    world.made(Call::post(ITEMS, item_of(300_000)).chunked()).await;
    let call = Call::post("dbs", r#"{"id":"in-chunks"}"#).chunked();
    world.made(call).await;
}

/// The clock jumps to the next timer whenever everyone waits: here the one of the body.
#[tokio::test]
async fn a_body_that_does_not_arrive_is_a_timeout() {
    let world = World::new().await;
    let whole =
        Call::post(ITEMS, item_of(1000)).header("connection", "close").encode(&world.env.now().to_http());
    let mut stream = TcpStream::connect(world.address).await.unwrap();
    stream.write_all(&whole[..whole.len() - 1]).await.unwrap();
    tokio::time::pause();
    let start = tokio::time::Instant::now();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    tokio::time::resume();
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(answer.contains("RequestTimeout") && answer.contains("took too long"), "{answer}");
    assert!(start.elapsed() >= Duration::from_secs(60), "{:?}", start.elapsed());
    world.made(Call::post(ITEMS, item_of(1000))).await;
}

#[tokio::test]
async fn a_client_that_leaves_in_the_middle_of_a_body_stores_nothing() {
    let world = World::new().await;
    let whole = Call::post(ITEMS, item_of(1000)).encode(&world.env.now().to_http());
    for cut in [whole.len() - 1, whole.len() - 999] {
        let mut stream = TcpStream::connect(world.address).await.unwrap();
        stream.write_all(&whole[..cut]).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        assert!(!answer.starts_with(b"HTTP/1.1 2"), "{}", String::from_utf8_lossy(&answer));
    }
    world
        .refused(Call::get("dbs/d/colls/c/docs/big").partition(r#"["p"]"#), (404, 0), "does not exist")
        .await;
}

/// A body may take a minute; the container it is for is the one that is there when it has come.
#[tokio::test]
async fn a_body_arrives_before_its_container_is_looked_up() {
    let world = World::new().await;
    let late = Call::post("dbs/d/colls/late/docs", r#"{"id":"i","pk":"p"}"#).partition(r#"["p"]"#);
    let call = late.header("expect", "100-continue").header("connection", "close");
    let now = world.env.now().to_http();
    let (head, whole) = (call.head(&now), call.encode(&now));
    let mut stream = TcpStream::connect(world.address).await.unwrap();
    stream.write_all(&head).await.unwrap();
    let mut go_on = [0; "HTTP/1.1 100 Continue\r\n\r\n".len()];
    stream.read_exact(&mut go_on).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&go_on), "HTTP/1.1 100 Continue\r\n\r\n");
    world.container("late", &serde_json::json!({})).await;
    stream.write_all(&whole[head.len()..]).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
}
