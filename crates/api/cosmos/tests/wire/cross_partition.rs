//! Queries over several partitions as the service answers them: what it leaves to clients, and pages by range (wire
//! guide §17, §28).

use crate::call::{Call, READ_WRITE_KEY, signature, token};
use crate::queries_ask::{Ask, CONTINUATION, add, split, splittable};
use crate::world::World;
use orrery_core::{Env, Timestamp};
use orrery_document_store::CrossPartition;
use orrery_documents::spaces::SPACES;
use orrery_kv::MemoryEngine;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const ENABLED: &str = "x-ms-documentdb-query-enablecrosspartition";
const DIRECT: &str = "x-orrery-cross-partition";

/// A container `s` of several ranges with 24 items in six partitions, and `c` of one range without any.
async fn service() -> World {
    let env = Env::seeded(Timestamp::from_seconds(1_794_704_563), 1);
    let as_service =
        |options: &mut orrery_api_cosmos::Options| options.cross_partition = CrossPartition::Service;
    let world = World::with(MemoryEngine::new(&SPACES), env, as_service);
    world.make_container().await;
    splittable(&world, "s").await;
    let item = |n: usize| json!({"id": n.to_string(), "pk": format!("p{}", n % 6), "n": n % 7});
    add(&world, "s", (0..24).map(item)).await;
    split(&world, "s").await;
    world
}

/// Splits the ranges of `s` once more.
async fn raise(world: &World) {
    let mut offer = world.offer("dbs/d/colls/s").await;
    offer["content"]["offerThroughput"] = json!(60_000);
    let path = format!("offers/{}", offer["id"].as_str().unwrap());
    world.answered(200, Call::put(&path, offer.to_string())).await;
}

const MERGED: [&str; 8] = [
    "SELECT * FROM c ORDER BY c.n",
    "SELECT VALUE COUNT(1) FROM c",
    "SELECT VALUE MAX(c.n) FROM c",
    "SELECT c.n FROM c GROUP BY c.n",
    "SELECT DISTINCT VALUE c.n FROM c",
    "SELECT TOP 2 * FROM c",
    "SELECT * FROM c OFFSET 1 LIMIT 2",
    "SELECT TOP 2 * FROM c ORDER BY RANK FullTextScore(c.text, 'a')",
];

#[tokio::test]
async fn a_query_that_needs_merging_is_refused_with_a_plan() {
    let world = service().await;
    for container in ["s", "c"] {
        for query in MERGED {
            let refused = "can not be directly served by the gateway";
            let reply = world.refused(Ask::of(container, query).call(), (400, 1004), refused).await;
            let info = reply.json().unwrap()["additionalErrorInfo"].as_str().unwrap().to_owned();
            let plan: Value = serde_json::from_str(&info).unwrap();
            assert_eq!(plan["partitionedQueryExecutionInfoVersion"], 2, "{query}");
            assert!(plan["queryInfo"].is_object() != plan["hybridSearchQueryInfo"].is_object(), "{query}");
        }
        for query in ["SELECT COUNT(1) FROM c", "SELECT c.n, COUNT(1) AS k FROM c GROUP BY c.n"] {
            let reply = world.refused(
                Ask::of(container, query).call(),
                (400, 0),
                "Cross partition query only supports 'VALUE <AggregateFunc>' for aggregates",
            );
            assert!(reply.await.json().unwrap().get("additionalErrorInfo").is_none());
        }
    }
}

#[tokio::test]
async fn a_range_a_partition_and_a_filter_that_pins_it_are_answered() {
    let world = service().await;
    let count = "SELECT VALUE COUNT(1) FROM c";
    let range = world.answered(200, Call::get("dbs/d/colls/s/pkranges")).await.json().unwrap();
    let id = range["PartitionKeyRanges"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(Ask::of("s", count).range(&id).page(&world, None).await.rows.len(), 1);
    let four = [json!(4)];
    assert_eq!(Ask::of("s", count).partition(r#"["p1"]"#).page(&world, None).await.rows, four);
    let pinned = format!("{count} WHERE c.pk = 'p1' AND c.n < 100");
    assert_eq!(Ask::of("s", &pinned).page(&world, None).await.rows, four);
    let ordered = "SELECT TOP 1 VALUE c.id FROM c WHERE c.pk = @pk ORDER BY c.id DESC";
    let asked = Ask::of("s", ordered).parameters(json!([{"name": "@pk", "value": "p1"}]));
    assert_eq!(asked.page(&world, None).await.rows, [json!("7")]);
    let two = format!("{count} WHERE c.pk IN ('p1', 'p2')");
    world.refused(Ask::of("s", &two).call(), (400, 1004), "").await;
    let found = Ask::of("s", "SELECT VALUE 1 + 1").pages(&world).await;
    assert_eq!(found, [[json!(2)]], "a query without FROM is of no range");
}

#[tokio::test]
async fn a_header_of_ours_asks_for_the_whole_answer() {
    let world = service().await;
    for query in MERGED.iter().chain(&["SELECT c.n, COUNT(1) AS k FROM c GROUP BY c.n"]) {
        Ask::of("s", query).header(DIRECT, "direct").page(&world, None).await;
    }
    let asked = Ask::of("s", "SELECT VALUE COUNT(1) FROM c").header(DIRECT, "direct");
    assert_eq!(asked.page(&world, None).await.rows, [json!(24)]);
}

#[tokio::test]
async fn a_query_over_all_partitions_must_say_so() {
    let world = service().await;
    let call = |path: &str, query: &str| Call::post(path, json!({"query": query}).to_string()).query();
    let (docs, conflicts) = ("dbs/d/colls/s/docs", "dbs/d/colls/s/conflicts");
    let refused = "Cross partition query is required but disabled";
    for path in [docs, conflicts] {
        let query = "SELECT * FROM c";
        world.refused(call(path, query), (400, 0), refused).await;
        world.refused(call(path, query).partition("[]"), (400, 0), refused).await;
        world.refused(call(path, query).header(ENABLED, "False"), (400, 0), refused).await;
        world.answered(200, call(path, query).header(ENABLED, "True")).await;
        world.answered(200, call(path, query).partition("[]").header(ENABLED, "True")).await;
        world.answered(200, call(path, query).partition(r#"["p1"]"#)).await;
        world.answered(200, call(path, query).header(DIRECT, "direct")).await;
    }
    world.answered(200, call(docs, "SELECT * FROM c WHERE c.pk = 'p1'")).await;
    world.answered(200, call(docs, "SELECT VALUE 1")).await;
    world.refused(call(docs, "SELECT * FROM c WHERE c.n = 1"), (400, 0), refused).await;
}

/// The pages of a query or a feed, and the token that each ends with.
async fn pages(world: &World, call: impl Fn() -> Call) -> Vec<(Vec<Value>, Option<Value>, String)> {
    let (mut found, mut token): (Vec<_>, Option<String>) = (Vec::new(), None);
    loop {
        let call = token.iter().fold(call(), |call, token| call.header(CONTINUATION, token.as_str()));
        let reply = world.answered(200, call).await;
        let rows = reply.json().unwrap()["Documents"].as_array().unwrap().clone();
        let session = reply.header("x-ms-session-token").unwrap().to_owned();
        token = reply.header(CONTINUATION).map(str::to_owned);
        let shape = token.as_ref().map(|token| serde_json::from_str(token).unwrap());
        found.push((rows, shape, session));
        if token.is_none() {
            return found;
        }
        assert!(found.len() < 100);
    }
}

#[tokio::test]
async fn each_range_is_a_page_of_its_own_and_tokens_are_the_services() {
    let world = service().await;
    let ranges = world.answered(200, Call::get("dbs/d/colls/s/pkranges")).await.json().unwrap();
    let ranges = ranges["PartitionKeyRanges"].as_array().unwrap().clone();
    assert!(ranges.len() > 1);
    let query = || Ask::of("s", "SELECT * FROM c").call();
    let feed = || Call::get("dbs/d/colls/s/docs");
    for found in [pages(&world, query).await, pages(&world, feed).await] {
        assert_eq!(found.len(), ranges.len(), "a page for each range");
        for (index, (_, token, session)) in found.iter().enumerate() {
            let id = ranges[index]["id"].as_str().unwrap();
            assert!(session.starts_with(&format!("{id}:-1#")) && !session.contains(','), "{session}");
            let Some(next) = ranges.get(index + 1) else { continue };
            let token = token.as_ref().unwrap();
            let one = if index == 0 { token } else { &token[0] };
            assert!(one["token"].is_string());
            assert_eq!(one["range"], json!({"min": next["minInclusive"], "max": next["maxExclusive"]}));
        }
        let ids: BTreeSet<&str> =
            found.iter().flat_map(|(rows, ..)| rows).map(|row| row["id"].as_str().unwrap()).collect();
        assert_eq!(ids.len(), 24);
    }
    let small = pages(&world, || Ask::of("s", "SELECT * FROM c").by(5).call()).await;
    assert_eq!(small.iter().map(|(rows, ..)| rows.len()).sum::<usize>(), 24);
    assert!(small.iter().all(|(_, _, session)| !session.contains(',')), "no page mixes ranges");
    // A filter that names partitions goes to their ranges alone.
    let named = pages(&world, || Ask::of("s", "SELECT * FROM c WHERE c.pk = 'p1'").call()).await;
    assert_eq!(named.iter().map(|(rows, ..)| rows.len()).collect::<Vec<_>>(), [4]);
}

#[tokio::test]
async fn a_token_survives_a_split_and_is_only_for_its_own_query() {
    let world = service().await;
    let asked = Ask::of("s", "SELECT * FROM c").by(1);
    let first = asked.page(&world, None).await;
    let token = first.next.unwrap();
    let other = Ask::of("s", "SELECT c.id FROM c");
    world.refused(other.from(&token), (400, 0), "another query").await;
    for wrong in ["{}", "[]", r#"{"token":"x","range":{"min":"","max":"FF"}}"#] {
        world.refused(asked.from(wrong), (400, 0), "Invalid Continuation Token").await;
    }
    raise(&world).await;
    let mut ids: BTreeSet<String> = first.rows.iter().map(|row| row["id"].to_string()).collect();
    for page in asked.pages_from(&world, Some(&token)).await {
        for row in page {
            assert!(ids.insert(row["id"].to_string()), "twice: {row}");
        }
    }
    assert_eq!(ids.len(), 24);
}

#[tokio::test]
async fn an_ordered_answer_is_resumed_under_another_filter() {
    let world = service().await;
    let ranges = world.answered(200, Call::get("dbs/d/colls/s/pkranges")).await.json().unwrap();
    for range in ranges["PartitionKeyRanges"].as_array().unwrap() {
        let id = range["id"].as_str().unwrap();
        let text = |filter: &str, select: &str, order: &str| {
            let query = format!("SELECT c._rid, {select} FROM c WHERE {filter} ORDER BY c.n {order}");
            Ask::of("s", &query).range(id).by(3)
        };
        let asked = |filter: &str| text(filter, "c.n, c.id", "ASC");
        let whole: Vec<Value> = asked("(true)").pages(&world).await.concat();
        let first = asked("(true)").page(&world, None).await;
        let (Some(last), Some(token)) = (first.rows.last(), first.next) else { continue };
        let last = last["n"].clone();
        let narrower = asked(&format!("((c.n >= {last}))"));
        let rest = narrower.pages_from(&world, Some(&token)).await.concat();
        assert_eq!([first.rows, rest].concat(), whole);
        let others = [text("(true)", "c.n, c.id", "DESC"), text("(true)", "c.n", "ASC")];
        for other in others {
            world.refused(other.from(&token), (400, 0), "another query").await;
        }
    }
}

#[tokio::test]
async fn a_plan_is_the_same_for_one_range_as_for_several() {
    let world = service().await;
    let plan = |container: &str| {
        Call::post(
            &format!("dbs/d/colls/{container}/docs"),
            r#"{"query":"SELECT VALUE COUNT(1) FROM c"}"#.to_owned(),
        )
        .header("x-ms-cosmos-is-query-plan-request", "True")
        .header("x-ms-cosmos-supported-query-features", "OrderBy,Top")
    };
    for container in ["s", "c"] {
        world.refused(plan(container), (400, 0), "Query contained Aggregate, which").await;
        let direct = world.call(&plan(container).header(DIRECT, "direct")).await;
        assert_eq!(direct.status, if container == "c" { 200 } else { 400 });
    }
}

/// A 404 names the range that the missing item would be in, and its newest commit.
#[tokio::test]
async fn a_missing_item_tells_the_session_of_its_range() {
    let world = service().await;
    let docs = "dbs/d/colls/s/docs";
    let mut ranges = BTreeSet::new();
    for key in 0..6 {
        let partition = format!(r#"["p{key}"]"#);
        let found = world.answered(200, Call::get(&format!("{docs}/{key}")).partition(&partition)).await;
        let session = found.header("x-ms-session-token").unwrap().to_owned();
        ranges.insert(session.split(':').next().unwrap().to_owned());
        let body = json!({"id": "none", "pk": format!("p{key}")}).to_string();
        let patch = r#"{"operations":[{"op":"set","path":"/a","value":1}]}"#;
        for call in [
            Call::get(&format!("{docs}/none")),
            Call::delete(&format!("{docs}/none")),
            Call::put(&format!("{docs}/none"), body),
            Call::patch(&format!("{docs}/none"), patch),
        ] {
            let reply = world.refused(call.partition(&partition), (404, 0), "").await;
            assert_eq!(reply.header("x-ms-session-token"), Some(session.as_str()));
        }
        // By its resource id, which no item of another partition has.
        let item = found.json().unwrap();
        let path = item["_self"].as_str().unwrap().trim_end_matches('/').to_owned();
        let (rid, date) = (item["_rid"].as_str().unwrap().to_lowercase(), world.env.now().to_http());
        let signed = signature(READ_WRITE_KEY, &format!("get\ndocs\n{rid}\n{}\n\n", date.to_lowercase()));
        let by_rid = Call::get(&path).authorization(&token("master", &signed));
        let elsewhere = format!(r#"["p{}"]"#, (key + 1) % 6);
        let there =
            world.answered(200, Call::get(&format!("{docs}/{}", (key + 1) % 6)).partition(&elsewhere)).await;
        let reply = world.refused(by_rid.partition(&elsewhere), (404, 0), "").await;
        assert_eq!(reply.header("x-ms-session-token"), there.header("x-ms-session-token"));
    }
    assert!(ranges.len() > 1, "the keys lie in several ranges");
}
