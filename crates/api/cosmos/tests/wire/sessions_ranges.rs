//! Session tokens over several ranges and several lives of a server (S0-01, S1-22; wire guide §21).

use crate::call::Call;
use crate::world::World;
use orrery_core::{Env, Timestamp};
use orrery_testing_client::OwnedReply;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

const TOKEN: &str = "x-ms-session-token";
const DOCS: &str = "dbs/d/colls/s/docs";
/// Keys that fall into different ranges of two, by the hash of version 2.
const KEYS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// A container `s` of as many ranges as this throughput has.
async fn with_ranges(throughput: u64) -> World {
    let world = World::new().await;
    let body = json!({"id": "s", "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}});
    let call = Call::post("dbs/d/colls", body.to_string());
    world.made(call.header("x-ms-offer-throughput", throughput.to_string())).await;
    world
}

async fn raise(world: &World, throughput: u64) {
    let mut offer = world.offer("dbs/d/colls/s").await;
    offer["content"]["offerThroughput"] = json!(throughput);
    let path = format!("offers/{}", offer["id"].as_str().unwrap());
    world.answered(200, Call::put(&path, offer.to_string())).await;
}

fn upsert(pk: &str, n: u64) -> Call {
    let body = json!({"id": "i", "pk": pk, "n": n}).to_string();
    Call::post(DOCS, body).upsert().partition(&json!([pk]).to_string())
}

fn read(pk: &str) -> Call {
    Call::get(&format!("{DOCS}/i")).partition(&json!([pk]).to_string())
}

fn query() -> Call {
    Call::post(DOCS, r#"{"query":"SELECT VALUE c.n FROM c"}"#).query()
}

/// Range to LSN, of a token in the one shape that all SDKs read.
fn parts(reply: &OwnedReply) -> BTreeMap<u32, u64> {
    let part = |part: &str| {
        let (range, lsn) = part.split_once(":-1#").unwrap();
        (range.parse().unwrap(), lsn.parse().unwrap())
    };
    reply.header(TOKEN).unwrap().split(',').map(part).collect()
}

fn only(reply: &OwnedReply) -> (u32, u64) {
    let parts = parts(reply);
    assert_eq!(parts.len(), 1, "{parts:?}");
    let (range, lsn) = parts.into_iter().next().unwrap();
    assert_eq!(reply.header("x-ms-documentdb-partitionkeyrangeid"), Some(range.to_string().as_str()));
    assert_eq!(reply.header("lsn"), Some(lsn.to_string().as_str()));
    (range, lsn)
}

#[tokio::test]
async fn a_write_moves_the_token_of_its_range_and_no_other() {
    let world = with_ranges(12_000).await;
    let mut newest = BTreeMap::new();
    for (n, pk) in KEYS.iter().chain(&KEYS).enumerate() {
        let status = if n < KEYS.len() { 201 } else { 200 };
        let (range, lsn) = only(&world.answered(status, upsert(pk, n as u64)).await);
        assert!(newest.insert(range, lsn).is_none_or(|before| before < lsn));
        for pk in &KEYS[..=n.min(KEYS.len() - 1)] {
            let (range, lsn) = only(&world.answered(200, read(pk)).await);
            assert_eq!(newest[&range], lsn, "a read tells the newest write of its range");
        }
    }
    assert_eq!(newest.len(), 2, "the keys lie in both ranges");
    let everywhere = parts(&world.answered(200, query()).await);
    assert_eq!(everywhere, newest, "an answer from all ranges tells of all");
    let feed = parts(&world.answered(200, Call::get(DOCS)).await);
    assert_eq!(feed, newest);
}

#[tokio::test]
async fn refusals_tell_as_much_as_answers() {
    let world = with_ranges(400).await;
    let (_, lsn) = only(&world.answered(201, upsert("a", 1)).await);
    let create = || Call::post(DOCS, r#"{"id":"i","pk":"a"}"#).partition(r#"["a"]"#);
    let stale = || read("a").header("if-match", "\"00000000-0000-0000-0000-000000000000\"");
    let missing = || Call::get(&format!("{DOCS}/no")).partition(r#"["a"]"#);
    // A write to another container moves the store and not this range.
    world.item("elsewhere").await;
    for (call, status) in [(create(), 409), (stale(), 412), (missing(), 404)] {
        let reply = world.refused(call, (status, 0), "").await;
        assert_eq!(only(&reply), (0, lsn), "{status}");
    }
}

#[tokio::test]
async fn only_what_a_token_says_of_the_asked_range_matters() {
    let world = with_ranges(12_000).await;
    let mut of_range = BTreeMap::new();
    for pk in KEYS {
        let (range, lsn) = only(&world.answered(201, upsert(pk, 1)).await);
        of_range.insert(range, (pk, lsn));
    }
    let [(here, (pk, lsn)), (there, _)] = of_range.into_iter().collect::<Vec<_>>()[..] else {
        panic!("two ranges")
    };
    let future = 1_000_000;
    let token = format!("{here}:-1#{lsn},{there}:-1#{future},77:-1#{future}");
    world.answered(200, read(pk).header(TOKEN, token.as_str())).await;
    world.refused(query().header(TOKEN, token), (404, 1002), "session is not available").await;
    // Of its own range a token may know no more than the range does, however far the store is.
    for _ in 0..3 {
        world.item(&format!("elsewhere{}", world.env.random_u64())).await;
    }
    let token = format!("{here}:-1#{}", lsn + 3);
    let started = Instant::now();
    let reply = world.refused(read(pk).header(TOKEN, token), (404, 1002), "session is not available").await;
    assert_eq!(reply.header(TOKEN), None);
    assert_eq!(
        reply.header("x-ms-alt-content-path"),
        Some("dbs/d/colls/s"),
        "for Python to forget its token"
    );
    assert!(started.elapsed() < Duration::from_secs(30), "it waits a moment and no longer");
}

#[tokio::test]
async fn the_token_of_a_range_that_was_split_is_good_for_its_children() {
    let world = with_ranges(400).await;
    let mut token = String::new();
    for pk in KEYS {
        token = world.answered(201, upsert(pk, 1)).await.header(TOKEN).unwrap().to_owned();
    }
    let (_, before) = token.split_once('#').unwrap();
    let before: u64 = before.parse().unwrap();
    raise(&world, 18_000).await;
    for pk in KEYS {
        let (range, lsn) = only(&world.answered(200, read(pk).header(TOKEN, token.as_str())).await);
        assert!(range > 0 && lsn >= before, "{range} {lsn}");
        // Python rewrites the parent's token under the child's name.
        world.answered(200, read(pk).header(TOKEN, format!("{range}:-1#{before}"))).await;
    }
    let future = format!("0:-1#{}", before + 1_000);
    world.refused(read("a").header(TOKEN, future), (404, 1002), "session is not available").await;
}

/// A folder that was emptied: its tokens are from the future, until the new life has come as far.
#[tokio::test]
async fn a_token_of_an_earlier_life_is_not_available() {
    let first = with_ranges(400).await;
    for n in 0..20 {
        first.call(&upsert("a", n)).await;
    }
    let token = first.answered(200, read("a")).await.header(TOKEN).unwrap().to_owned();
    let second = with_ranges(400).await;
    second.answered(201, upsert("a", 1)).await;
    second.refused(read("a").header(TOKEN, token.as_str()), (404, 1002), "session is not available").await;
    // As SDKs do: once more, without the token.
    let (_, lsn) = only(&second.answered(200, read("a")).await);
    second.answered(200, read("a").header(TOKEN, format!("0:-1#{lsn}"))).await;
}

#[tokio::test]
async fn tokens_outlive_a_restart() {
    let world = with_ranges(12_000).await;
    let mut tokens = Vec::new();
    for pk in KEYS {
        tokens.push((pk, world.answered(201, upsert(pk, 1)).await.header(TOKEN).unwrap().to_owned()));
    }
    let engine = world.engine.crash(usize::MAX);
    drop(world);
    let later = World::on(engine, Env::seeded(Timestamp::from_seconds(1_800_000_100), 8));
    for (pk, token) in tokens {
        let before: u64 = token.split_once('#').unwrap().1.parse().unwrap();
        let (_, now) = only(&later.answered(200, read(pk).header(TOKEN, token)).await);
        assert!(now >= before);
    }
}

/// Read your writes and monotonic reads over many connections, while others write and the ranges are split: every
/// reader passes on what it was told, and sees at least that (S0-01, S1-65).
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sessions_hold_across_connections_under_load() {
    let world = Arc::new(with_ranges(400).await);
    for pk in KEYS {
        world.answered(201, upsert(pk, 0)).await;
    }
    let sessions: Vec<_> = KEYS
        .into_iter()
        .map(|pk| {
            let world = world.clone();
            tokio::spawn(async move {
                let mut token = String::new();
                for n in 1..=60u64 {
                    let written = world.answered(200, upsert(pk, n)).await;
                    token = written.header(TOKEN).unwrap().to_owned();
                    let seen = world.answered(200, read(pk).header(TOKEN, token.as_str())).await;
                    assert_eq!(seen.json().unwrap()["n"], n, "a session reads its own write");
                    let again = only(&seen).1;
                    assert!(again >= token.split_once('#').unwrap().1.parse().unwrap(), "and no older state");
                    world.answered(200, query().header(TOKEN, token.as_str())).await;
                }
                token
            })
        })
        .collect();
    for throughput in [12_000, 24_000, 48_000] {
        raise(&world, throughput).await;
    }
    for session in sessions {
        session.await.unwrap();
    }
}
