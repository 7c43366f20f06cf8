//! Queries over items: which items they see, what they see of them, and how they are refused.

use crate::call::Call;
use crate::queries_ask::{Ask, add, each, sorted, split, splittable};
use crate::world::World;
use serde_json::{Value, json};
use std::time::Duration;

const NONE: [Value; 0] = [];

async fn by_tenant() -> World {
    let world = World::new().await;
    let key = json!({"paths": ["/tenant", "/user"], "kind": "MultiHash", "version": 2});
    world.container("h", &json!({"partitionKey": key})).await;
    let item = |n: usize| json!({"id": n.to_string(), "tenant": n % 2, "user": n % 3, "n": n});
    add(&world, "h", (0..12).map(item)).await;
    world
}

#[tokio::test]
async fn a_partition_key_and_a_prefix_of_one_are_scopes() {
    let world = by_tenant().await;
    let ask = |key: &str| Ask::of("h", "SELECT VALUE c.n FROM c ORDER BY c.n").partition(key);
    assert_eq!(ask("[1,2]").rows(&world).await, [5, 11]);
    assert_eq!(ask("[1]").rows(&world).await, [1, 3, 5, 7, 9, 11]);
    assert_eq!(ask("[2]").rows(&world).await, NONE);
    assert_eq!(ask("[0]").by(2).pages(&world).await, [[0, 2], [4, 6], [8, 10]]);
    let count = Ask::of("h", "SELECT VALUE COUNT(1) FROM c");
    assert_eq!(count.clone().partition("[0]").rows(&world).await, [6]);
    assert_eq!(count.rows(&world).await, [12]);
    world.refused(ask("[1,2,3]").call(), (400, 1001), "components").await;
    world.refused(ask("1").call(), (400, 0), "not a JSON array").await;
}

#[tokio::test]
async fn ranges_and_bounds_are_scopes_and_a_partition_key_comes_before_them() {
    let world = World::new().await;
    splittable(&world, "s").await;
    add(&world, "s", (0..30).map(|n| json!({"id": n.to_string(), "pk": n, "n": n}))).await;
    let ranges = split(&world, "s").await;
    let ask = Ask::of("s", "SELECT VALUE c.n FROM c");
    let whole = ask.rows(&world).await;
    assert_eq!(whole.len(), 30);
    let (mut by_range, mut by_bounds) = (Vec::new(), Vec::new());
    for range in &ranges {
        let text = |member: &str| range[member].as_str().unwrap();
        let (id, min, max) = (text("id"), text("minInclusive"), text("maxExclusive"));
        let page = ask.clone().range(id).page(&world, None).await;
        assert_eq!(page.reply.header("x-ms-documentdb-partitionkeyrangeid"), Some(id));
        assert_eq!(page.reply.session_lsns()[0].0, id);
        let bounded = ask.clone().between(min, max).rows(&world).await;
        assert_eq!(bounded, page.rows);
        // Bounds narrow a range, and do not widen it.
        let both = ask.clone().range(id).between("", "FF").rows(&world).await;
        assert_eq!(both, page.rows);
        assert_eq!(ask.clone().range(id).between(max, "FF").rows(&world).await, NONE);
        by_range.extend(page.rows);
        by_bounds.extend(bounded);
        assert_eq!(ask.clone().partition("[7]").range(id).rows(&world).await, [7]);
    }
    // Inside a range they come as they were created.
    assert_eq!(by_bounds, by_range);
    by_range.sort_by_key(|n| n.as_i64());
    let mut whole = whole;
    whole.sort_by_key(|n| n.as_i64());
    assert_eq!(by_range, whole);
    world.refused(ask.clone().range("99").call(), (410, 1002), "is gone; read the ranges again").await;
    world.refused(ask.clone().between("x", "FF").call(), (400, 0), "x-ms-start-epk").await;
}

#[tokio::test]
async fn system_properties_are_there_to_filter_and_to_select() {
    let world = World::new().await;
    world.container("q", &json!({})).await;
    let mut made = Vec::new();
    for id in ["a", "b"] {
        world.env.advance(Duration::from_secs(10)).unwrap();
        let item = json!({"id": id, "pk": "p"}).to_string();
        made.push(world.made(Call::post("dbs/d/colls/q/docs", item)).await.json().unwrap());
    }
    let system =
        Ask::of("q", "SELECT c._rid, c._self, c._etag, c._ts, c._attachments FROM c ORDER BY c._ts DESC");
    for (row, item) in system.rows(&world).await.iter().zip(made.iter().rev()) {
        for member in ["_rid", "_self", "_etag", "_ts", "_attachments"] {
            assert_eq!(row[member], item[member], "{member}");
        }
    }
    for member in ["_rid", "_self", "_etag", "_ts"] {
        let ask = Ask::of("q", &format!("SELECT * FROM c WHERE c.{member} = @it"));
        let ask = ask.parameters(json!([{"name": "@it", "value": made[1][member]}]));
        assert_eq!(ask.rows(&world).await, [made[1].clone()], "{member}");
    }
    let whole = Ask::of("q", "SELECT * FROM c").rows(&world).await;
    assert_eq!(whole, made, "SELECT * has what a point read has");
    let nested = Ask::of("q", "SELECT VALUE {\"it\": c} FROM c WHERE c.id = 'a'").rows(&world).await;
    assert_eq!(nested, [json!({"it": made[0]})]);
}

#[tokio::test]
async fn a_computed_property_is_there_by_name_and_not_in_the_item() {
    let world = World::new().await;
    let computed = json!([
        {"name": "lower", "query": "SELECT VALUE LOWER(c.name) FROM c"},
        {"name": "twice", "query": "SELECT VALUE c.n * 2 FROM c"},
    ]);
    world.container("k", &json!({"computedProperties": computed})).await;
    let items =
        [json!({"id": "1", "pk": 1, "name": "Bo", "n": 2}), json!({"id": "2", "pk": 1, "name": "AL"})];
    add(&world, "k", items).await;
    let ask = |query: &str| Ask::of("k", query);
    assert_eq!(ask("SELECT VALUE c.lower FROM c ORDER BY c.lower").rows(&world).await, ["al", "bo"]);
    assert_eq!(ask("SELECT VALUE c.id FROM c WHERE c.lower = 'al'").rows(&world).await, ["2"]);
    assert_eq!(
        ask("SELECT c.id, c.twice FROM c").rows(&world).await,
        [json!({"id": "1", "twice": 4}), json!({"id": "2"})]
    );
    assert_eq!(ask("SELECT c.lower, COUNT(1) AS n FROM c GROUP BY c.lower").rows(&world).await.len(), 2);
    for item in ask("SELECT * FROM c").rows(&world).await {
        assert!(item.get("lower").is_none() && item.get("twice").is_none(), "{item}");
    }
    let own = json!({"id": "3", "pk": 1, "lower": "of the item itself", "name": "X"});
    add(&world, "k", [own]).await;
    let rows = ask("SELECT VALUE c.lower FROM c WHERE c.id = '3'").rows(&world).await;
    assert_eq!(rows, ["of the item itself"]);
}

#[tokio::test]
async fn an_expired_item_is_not_seen() {
    let world = World::new().await;
    world.container("t", &json!({"defaultTtl": -1})).await;
    add(&world, "t", [json!({"id": "a", "pk": 1, "ttl": 5}), json!({"id": "b", "pk": 1})]).await;
    let queries = [
        "SELECT VALUE c.id FROM c",
        "SELECT VALUE c.id FROM c ORDER BY c.id",
        "SELECT VALUE c.id FROM c WHERE c.id IN ('a', 'b') AND c.pk = 1",
    ];
    world.env.advance(Duration::from_millis(4999)).unwrap();
    for query in queries {
        assert_eq!(Ask::of("t", query).rows(&world).await, ["a", "b"], "{query}");
    }
    world.env.advance(Duration::from_millis(1)).unwrap();
    for query in queries {
        assert_eq!(Ask::of("t", query).rows(&world).await, ["b"], "{query}");
    }
    assert_eq!(Ask::of("t", "SELECT VALUE COUNT(1) FROM c").rows(&world).await, [1]);
}

#[tokio::test]
async fn the_containers_vector_policy_says_which_distance_and_which_order() {
    let world = World::new().await;
    let items = [
        json!({"id": "near", "pk": 1, "v": [1, 0]}),
        json!({"id": "same way", "pk": 1, "v": [9, 0]}),
        json!({"id": "across", "pk": 1, "v": [0, 2]}),
    ];
    let nearest = [
        ("euclidean", ["near", "across", "same way"], [0.0, 8.0]),
        // Two that are equally near come as their direction does, the last first.
        ("cosine", ["same way", "near", "across"], [1.0, 1.0]),
        ("dotproduct", ["same way", "near", "across"], [1.0, 9.0]),
    ];
    for (distance, expected, of_two) in nearest {
        let policy = json!({"vectorEmbeddings": [
            {"path": "/v", "dataType": "float32", "distanceFunction": distance, "dimensions": 2}
        ]});
        world.container(distance, &json!({"vectorEmbeddingPolicy": policy})).await;
        add(&world, distance, items.clone()).await;
        let ask = Ask::of(distance, "SELECT TOP 3 VALUE c.id FROM c ORDER BY VectorDistance(c.v, [1, 0])");
        assert_eq!(ask.rows(&world).await, expected, "{distance}");
        let values = Ask::of(
            distance,
            "SELECT VALUE VectorDistance(c.v, [1, 0]) FROM c WHERE c.id != 'across' ORDER BY c.id",
        );
        assert_eq!(values.rows(&world).await, of_two, "{distance}");
    }
}

#[tokio::test]
async fn rows_may_be_any_json_and_undefined_ones_are_left_out() {
    let world = World::new().await;
    world.container("q", &json!({})).await;
    let values =
        [json!(null), json!(true), json!(1.5), json!("é\u{1F600}\n"), json!([1, []]), json!({"a": {}})];
    let item = |(n, value): (usize, &Value)| json!({"id": n.to_string(), "pk": "p", "n": n, "v": value});
    add(&world, "q", values.iter().enumerate().map(item)).await;
    add(&world, "q", [json!({"id": "x", "pk": "p", "n": 99})]).await;
    assert_eq!(Ask::of("q", "SELECT VALUE c.v FROM c ORDER BY c.n").rows(&world).await, values);
    let rows = Ask::of("q", "SELECT c.v FROM c ORDER BY c.n").rows(&world).await;
    assert_eq!((rows.len(), &rows[6]), (7, &json!({})), "a row without its member is a row");
    let parameters = json!([{"name": "@a", "value": "é\u{1F600}\n"}, {"name": "@b"}]);
    let ask = Ask::of("q", "SELECT VALUE c.n FROM c WHERE c.v = @a OR c.v = @b").parameters(parameters);
    assert_eq!(ask.rows(&world).await, [3]);
    assert_eq!(Ask::of("q", "SELECT VALUE 1 + 1").rows(&world).await, [2], "without FROM there is one row");
}

/// The complaint in a refusal, and the part of the query's text it is about.
async fn complaint(world: &World, query: &str) -> (String, String) {
    let reply = world.refused(Ask::of("q", query).call(), (400, 0), "Message: {\"errors\":[").await;
    let message = reply.json().unwrap()["message"].as_str().unwrap().to_owned();
    let (list, _) = message.strip_prefix("Message: ").unwrap().split_once("\r\n").unwrap();
    let list: Value = serde_json::from_str(list).unwrap();
    let [error] = &list["errors"].as_array().unwrap()[..] else { panic!("{list}") };
    let members: Vec<&str> = error.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(members, ["severity", "location", "code", "message"], "{error}");
    assert_eq!(error["severity"], "Error");
    assert!(error["message"].as_str().unwrap().len() > 10, "{error}");
    let place = |end: &str| error["location"][end].as_u64().unwrap() as usize;
    let units: Vec<u16> = query.encode_utf16().collect();
    let about = String::from_utf16(&units[place("start")..place("end")]).unwrap();
    (error["code"].as_str().unwrap().to_owned(), about)
}

#[tokio::test]
async fn a_query_that_cannot_be_read_is_refused_with_a_code_and_a_place() {
    let world = World::new().await;
    world.container("q", &json!({})).await;
    let wrong = [
        ("SELECT * FROM c WHERE", "SC1002", ""),
        ("SELECT * FORM c", "SC1001", "FORM"),
        ("SELECT * FROM c WHERE c.é = = 1", "SC1001", "="),
        ("SELECT * FROM c WHERE d.x = 1", "SC2001", "d"),
        ("SELECT VALUE NOSUCH(c.x) FROM c", "SC2005", "NOSUCH"),
        ("SELECT VALUE ABS() FROM c", "SC2050", "ABS"),
    ];
    for (query, code, at) in wrong {
        assert_eq!(complaint(&world, query).await, (code.to_owned(), at.to_owned()), "{query}");
    }
    let (code, _) = complaint(&world, "SELECT * FROM c WHERE c.x = @missing").await;
    assert!(code.starts_with("SC2"), "{code}");
}

#[tokio::test]
async fn an_unsupported_query_is_refused_with_a_sentence() {
    let world = World::new().await;
    world.container("q", &json!({})).await;
    add(
        &world,
        "q",
        [json!({"id": "a", "pk": 1, "l": (0..1000).collect::<Vec<_>>(), "t": "x".repeat(100_000)})],
    )
    .await;
    let udf = Ask::of("q", "SELECT VALUE udf.tax(c.x) FROM c").call();
    world.refused(udf, (400, 0), "user-defined function 'tax'").await;
    let long = format!("SELECT * FROM c WHERE c.x = '{}'", "x".repeat(600_000));
    world.refused(Ask::of("q", &long).call(), (400, 0), "longer than 512 KB").await;
    let crossed = "SELECT VALUE ARRAY_LENGTH(ARRAY(SELECT VALUE c.t FROM x IN c.l JOIN y IN c.l)) FROM c";
    world.refused(Ask::of("q", crossed).call(), (400, 0), "memory").await;
    let fits = format!("SELECT VALUE LENGTH('{}')", "x".repeat(500_000));
    assert_eq!(Ask::of("q", &fits).rows(&world).await, [500_000]);
}

#[tokio::test]
async fn bodies_that_are_no_queries_are_refused() {
    let world = World::new().await;
    world.container("q", &json!({})).await;
    let bad = [
        (r#"{"query":null}"#, "no member 'query'"),
        (r#"{"Query":"SELECT 1"}"#, "no member 'query'"),
        (r#"["SELECT 1"]"#, "no member 'query'"),
        (r#"{"query":"SELECT 1","parameters":{"@a":1}}"#, "not an array"),
        (r#"{"query":"SELECT 1","parameters":[{"value":1}]}"#, "no name"),
        (r#"{"query":"SELECT 1","parameters":[{"name":"a","value":1}]}"#, "does not begin with @"),
        (r#"{"query":"SELECT 1","parameters":[{"name":"@","value":1}]}"#, "does not begin with @"),
        (
            r#"{"query":"SELECT 1","parameters":[{"name":"@a","value":1},{"name":"@a","value":1}]}"#,
            "is there twice",
        ),
        (r#"{"query":"SELECT 1","resumeFilter":{"rid":"x"}}"#, "no array 'value'"),
        (r#"{"query":"SELECT 1","resumeFilter":{"value":[1],"rid":"x"}}"#, "'x'"),
        (r#"{"query":"SELECT 1","query":"SELECT 2"}"#, "already has a member"),
        (r#"{"query":"SELECT 1"} x"#, "The query's body is invalid"),
    ];
    for (body, fragment) in bad {
        world.refused(Call::post("dbs/d/colls/q/docs", body).query(), (400, 0), fragment).await;
        let plan = Call::post("dbs/d/colls/q/docs", body).header("x-ms-cosmos-is-query-plan-request", "True");
        world.refused(plan, (400, 0), fragment).await;
    }
    let unknown = r#"{"query":"SELECT VALUE 1","parameters":[],"options":{"a":1},"resumeFilter":null}"#;
    world.answered(200, Call::post("dbs/d/colls/q/docs", unknown).query()).await;
}

/// Clients say that a body is a query in a header or by its type, and spell true as they like.
#[tokio::test]
async fn a_query_is_known_by_its_header_or_its_type() {
    let world = World::new().await;
    world.item("i").await;
    let call = || Call::post("dbs/d/colls/c/docs", r#"{"query":"SELECT VALUE c.id FROM c"}"#);
    let said = [
        call().header("x-ms-documentdb-isquery", "True"),
        call().header("x-ms-documentdb-isquery", "true").header("content-type", "application/json"),
        call().header("content-type", "application/query+json"),
        call().header("content-type", "application/query+json; charset=utf-8"),
    ];
    for call in said {
        let rows = world.answered(200, call).await.json().unwrap()["Documents"].clone();
        assert_eq!(rows, json!(["i"]));
    }
}

#[tokio::test]
async fn a_query_waits_for_what_its_session_has_written() {
    let world = World::new().await;
    let written = world.item("i").await;
    let token = written.header("x-ms-session-token").unwrap();
    let ask = Ask::of("c", "SELECT VALUE c.id FROM c");
    assert_eq!(ask.clone().header("x-ms-session-token", token).rows(&world).await, ["i"]);
    let ahead = ask.header("x-ms-session-token", "0:-1#999999").header("x-ms-consistency-level", "Session");
    world.refused(ahead.call(), (404, 1002), "session is not available").await;
}

#[tokio::test]
async fn rows_of_a_join_and_of_a_subquery_are_of_their_item() {
    let world = World::new().await;
    world.container("q", &json!({})).await;
    let item = |n: i64| json!({"id": n.to_string(), "pk": n, "l": [{"v": n}, {"v": n + 10}], "e": []});
    add(&world, "q", (1..4).map(item)).await;
    let ask = |query: &str| Ask::of("q", query);
    let joined = ask("SELECT c.id, x.v FROM c JOIN x IN c.l WHERE x.v > 10").rows(&world).await;
    assert_eq!(each(&sorted(joined), "v"), [11, 12, 13]);
    assert_eq!(ask("SELECT VALUE x FROM c JOIN x IN c.e").rows(&world).await, NONE);
    let largest = "SELECT VALUE (SELECT VALUE MAX(x.v) FROM x IN c.l) FROM c";
    assert_eq!(sorted(ask(largest).rows(&world).await), [11, 12, 13]);
}

#[tokio::test]
async fn an_order_by_several_properties_needs_its_composite_index() {
    const REFUSED: &str =
        "The order by query does not have a corresponding composite index that it can be served from.";
    let world = World::new().await;
    let composite = json!([{"path": "/a", "order": "ascending"}, {"path": "/b", "order": "descending"}]);
    world.container("i", &json!({"indexingPolicy": {"compositeIndexes": [composite]}})).await;
    let item = |n: usize| json!({"id": n.to_string(), "pk": "p", "a": n % 2, "b": n});
    add(&world, "i", (0..6).map(item)).await;
    let ask = |order: &str| {
        Ask::of("i", &format!("SELECT VALUE c.b FROM c WHERE c.pk = 'p' ORDER BY {order}"))
            .partition(r#"["p"]"#)
    };
    assert_eq!(ask("c.a, c.b DESC").rows(&world).await, [4, 2, 0, 5, 3, 1]);
    assert_eq!(ask("c.a DESC, c.b").rows(&world).await, [1, 3, 5, 0, 2, 4]);
    for order in ["c.a, c.b", "c.b DESC, c.a", "c.pk, c.a, c.b DESC", "c.pk, c.a"] {
        for _ in 0..3 {
            world.refused(ask(order).call(), (400, 0), REFUSED).await;
        }
    }
    assert_eq!(ask("c.b").rows(&world).await.len(), 6);
    // The policy decides, whatever container has answered the same query before.
    let query = "SELECT VALUE c.b FROM c ORDER BY c.a, c.b DESC";
    world.container("none", &json!({})).await;
    for _ in 0..3 {
        assert_eq!(Ask::of("i", query).partition(r#"["p"]"#).rows(&world).await.len(), 6);
        world.refused(Ask::of("none", query).partition(r#"["p"]"#).call(), (400, 0), REFUSED).await;
    }
}
