//! The query plan: how a client runs a query over the ranges itself, and what it is told when it cannot.

use crate::call::Call;
use crate::queries_ask::{Ask, add, sorted, split, splittable};
use crate::world::World;
use serde_json::{Value, json};

const JAVASCRIPT: &str = "NonValueAggregate,Aggregate,Distinct,MultipleOrderBy,OffsetAndLimit,OrderBy,Top,\
    CompositeAggregate,GroupBy,MultipleAggregates,NonStreamingOrderBy,ListAndSetAggregate,CountIf,HybridSearch,\
    WeightedRankFusion,HybridSearchSkipOrderByRewrite";
const RUST: &str = "Distinct,MultipleOrderBy,NonStreamingOrderBy,OffsetAndLimit,OrderBy,Top";

fn call(container: &str, body: &Value, features: &str) -> Call {
    Call::post(&format!("dbs/d/colls/{container}/docs"), body.to_string())
        .header("content-type", "application/query+json")
        .header("x-ms-cosmos-is-query-plan-request", "True")
        .header("x-ms-cosmos-query-version", "1.4")
        .header("x-ms-cosmos-supported-query-features", features)
}

async fn plan(world: &World, container: &str, query: &str, features: &str) -> Value {
    world.answered(200, call(container, &json!({"query": query}), features)).await.json().unwrap()
}

fn whole() -> Value {
    json!([{"min": "", "max": "FF", "isMinInclusive": true, "isMaxInclusive": false}])
}

async fn with_ranges() -> World {
    let world = World::new().await;
    splittable(&world, "s").await;
    let item = |n: usize| json!({"id": n.to_string(), "pk": format!("p{}", n % 6), "n": n % 7});
    add(&world, "s", (0..24).map(item)).await;
    split(&world, "s").await;
    world
}

#[tokio::test]
async fn a_query_that_every_range_answers_as_it_is_passes_through() {
    let world = with_ranges().await;
    let passed = json!({
        "partitionedQueryExecutionInfoVersion": 2,
        "queryInfo": {
            "distinctType": "None", "top": null, "offset": null, "limit": null,
            "orderBy": [], "orderByExpressions": [], "groupByExpressions": [], "groupByAliases": [],
            "aggregates": [], "groupByAliasToAggregateType": {}, "rewrittenQuery": "",
            "hasSelectValue": false, "dCountInfo": null, "hasNonStreamingOrderBy": false,
        },
        "queryRanges": whole(),
        "hybridSearchQueryInfo": null,
    });
    for query in ["SELECT * FROM c", "SELECT c.id, x FROM c JOIN x IN c.l WHERE c.n > 1"] {
        for container in ["s", "c"] {
            for features in [JAVASCRIPT, ""] {
                assert_eq!(plan(&world, container, query, features).await, passed, "{query}");
            }
        }
    }
}

#[tokio::test]
async fn a_missing_plan_feature_is_refused_unless_one_range_suffices() {
    let world = with_ranges().await;
    let needs = [
        ("SELECT VALUE COUNT(1) FROM c", "Aggregate"),
        ("SELECT c.n, COUNT(1) AS k FROM c GROUP BY c.n", "GroupBy"),
        ("SELECT COUNT(1) AS k FROM c", "NonValueAggregate"),
    ];
    for (query, feature) in needs {
        let fragment = format!("Query contained {feature}, which the calling client does not support.");
        let reply = world.refused(call("s", &json!({"query": query}), RUST), (400, 0), &fragment).await;
        let message = reply.json().unwrap()["message"].as_str().unwrap().to_owned();
        assert!(message.starts_with("Query contains 1 or more unsupported features."), "{message}");
        let info = plan(&world, "c", query, RUST).await["queryInfo"].clone();
        assert_eq!((&info["rewrittenQuery"], &info["aggregates"]), (&json!(""), &json!([])), "{query}");
        assert!(plan(&world, "s", query, JAVASCRIPT).await["queryInfo"]["rewrittenQuery"] != "", "{query}");
    }
}

/// The epk of a point is the one that bounds can ask for.
#[tokio::test]
async fn a_filter_on_the_partition_key_gives_points() {
    let world = with_ranges().await;
    let ranges = |plan: &Value| plan["queryRanges"].as_array().unwrap().clone();
    let one = ranges(&plan(&world, "s", "SELECT * FROM c WHERE c.pk = 'p1' AND c.n > 0", RUST).await);
    let [point] = &one[..] else { panic!("{one:?}") };
    assert_eq!(point["min"], point["max"]);
    assert_eq!((&point["isMinInclusive"], &point["isMaxInclusive"]), (&json!(true), &json!(true)));
    let key = point["min"].as_str().unwrap();
    assert!(key.len() == 32 && key.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F')), "{key}");
    let found = Ask::of("s", "SELECT DISTINCT VALUE c.pk FROM c")
        .between(key, &format!("{key}00"))
        .rows(&world)
        .await;
    assert_eq!(found, ["p1"]);
    let body = json!({
        "query": "SELECT * FROM c WHERE c.pk IN (@a, @b, @a, 'p5')",
        "parameters": [{"name": "@a", "value": "p3"}, {"name": "@b", "value": "p1"}],
    });
    let several = world.answered(200, call("s", &body, RUST)).await.json().unwrap();
    let mins: Vec<String> =
        ranges(&several).iter().map(|range| range["min"].as_str().unwrap().to_owned()).collect();
    assert!(mins.len() == 3 && mins.is_sorted() && mins.contains(&key.to_owned()), "{mins:?}");
    for query in [
        "SELECT * FROM c WHERE c.pk = 'p1' OR c.n = 1",
        "SELECT * FROM c WHERE c.pk > 'p1'",
        "SELECT * FROM c WHERE true",
    ] {
        assert_eq!(plan(&world, "s", query, RUST).await["queryRanges"], whole(), "{query}");
    }
}

/// The empty key lies in the first range, and that answers for all.
#[tokio::test]
async fn a_query_that_reads_no_document_goes_to_the_first_range() {
    let world = with_ranges().await;
    let first = json!([{"min": "", "max": "", "isMinInclusive": true, "isMaxInclusive": true}]);
    for query in [
        "SELECT 5",
        "SELECT TOP 2 5",
        "SELECT VALUE ABS(-1)",
        "SELECT * FROM c WHERE false",
        "SELECT * FROM c WHERE 1 = 2",
        "SELECT * FROM c WHERE LENGTH('a') > 5 AND c.n = 1",
        "SELECT * FROM c WHERE c.pk = 'p1' AND c.pk = 'p2'",
    ] {
        let plan = plan(&world, "s", query, RUST).await;
        assert_eq!(plan["queryRanges"], first, "{query}");
        assert_eq!(
            (&plan["queryInfo"]["top"], &plan["queryInfo"]["rewrittenQuery"]),
            (&Value::Null, &json!(""))
        );
    }
}

#[tokio::test]
async fn one_partition_key_sorts_skips_and_takes_in_its_range() {
    let world = with_ranges().await;
    for query in [
        "SELECT * FROM c WHERE c.pk = 'p1' OFFSET 1 LIMIT 2",
        "SELECT * FROM c WHERE c.pk = 'p1' ORDER BY c.n",
        "SELECT * FROM c WHERE c.pk = 'p1' ORDER BY c.n DESC OFFSET 1 LIMIT 2",
    ] {
        let info = plan(&world, "s", query, RUST).await["queryInfo"].clone();
        let steps = ["offset", "limit", "rewrittenQuery"].map(|step| &info[step]);
        assert_eq!(steps, [&Value::Null, &Value::Null, &json!("")], "{query}");
        assert_eq!(info["orderBy"], json!([]), "{query}");
    }
    let two = plan(&world, "s", "SELECT * FROM c WHERE c.pk IN ('p1', 'p2') OFFSET 1 LIMIT 2", RUST).await;
    assert_eq!(two["queryInfo"]["offset"], 1);
}

#[tokio::test]
async fn other_conditions_name_keys_too() {
    let world = with_ranges().await;
    for (filter, count) in [
        ("ABS(c.pk) = 1", 2),
        ("IS_BOOL(c.pk)", 2),
        ("c.pk LIKE 'a!%' ESCAPE '!'", 1),
        ("_TRY_ARRAY_CONTAINS(['p1', 'p2', 'p3'], c.pk)", 3),
    ] {
        let query = format!("SELECT * FROM c WHERE {filter}");
        let ranges = plan(&world, "s", &query, RUST).await["queryRanges"].clone();
        let points = ranges.as_array().unwrap().iter().filter(|range| range["min"] == range["max"]);
        assert_eq!(points.count(), count, "{query}: {ranges}");
    }
}

#[tokio::test]
async fn a_prefix_of_a_hierarchical_key_gives_a_range() {
    let world = World::new().await;
    let key = json!({"paths": ["/a", "/b"], "kind": "MultiHash", "version": 2});
    world.container("h", &json!({"partitionKey": key})).await;
    add(&world, "h", (0..6).map(|n| json!({"id": n.to_string(), "a": n % 2, "b": n}))).await;
    let range = plan(&world, "h", "SELECT * FROM c WHERE c.a = 1", RUST).await["queryRanges"][0].clone();
    let (min, max) = (range["min"].as_str().unwrap(), range["max"].as_str().unwrap());
    assert_eq!(max, format!("{min}FF"));
    assert_eq!((&range["isMinInclusive"], &range["isMaxInclusive"]), (&json!(true), &json!(false)));
    let found = Ask::of("h", "SELECT VALUE c.b FROM c").between(min, max).rows(&world).await;
    assert_eq!(sorted(found), [1, 3, 5]);
    let point =
        plan(&world, "h", "SELECT * FROM c WHERE c.a = 1 AND c.b = 3", RUST).await["queryRanges"][0].clone();
    assert_eq!(point["min"], point["max"]);
    assert!(point["min"].as_str().unwrap().starts_with(min));
}

/// What a client does: the rewritten text to every range, its placeholder filled in, and the rows put together.
#[tokio::test]
async fn the_rewritten_text_runs_on_every_range_and_together_they_have_the_answer() {
    let world = with_ranges().await;
    let ranges = world.answered(200, Call::get("dbs/d/colls/s/pkranges")).await.json().unwrap();
    let ranges = ranges["PartitionKeyRanges"].as_array().unwrap().clone();
    let rows_of = async |query: &str| -> Vec<Vec<Value>> {
        let info = plan(&world, "s", query, JAVASCRIPT).await["queryInfo"].clone();
        let text = info["rewrittenQuery"]
            .as_str()
            .unwrap()
            .replace("{documentdb-formattableorderbyquery-filter}", "true");
        let mut all = Vec::new();
        for range in &ranges {
            all.push(Ask::of("s", &text).range(range["id"].as_str().unwrap()).by(2).rows(&world).await);
        }
        all
    };
    let counts = rows_of("SELECT VALUE COUNT(1) FROM c").await;
    assert_eq!(counts.iter().map(|rows| rows[0][0]["item"].as_u64().unwrap()).sum::<u64>(), 24);
    let sums = rows_of("SELECT VALUE AVG(c.n) FROM c").await;
    let total =
        |member: &str| sums.iter().map(|rows| rows[0][0]["item"][member].as_f64().unwrap()).sum::<f64>();
    let average = Ask::of("s", "SELECT VALUE AVG(c.n) FROM c").rows(&world).await;
    assert_eq!(average, [total("sum") / total("count")]);
    let ordered = rows_of("SELECT c.id FROM c ORDER BY c.n DESC").await;
    for rows in &ordered {
        let keys: Vec<u64> =
            rows.iter().map(|row| row["orderByItems"][0]["item"].as_u64().unwrap()).collect();
        assert!(keys.is_sorted_by(|a, b| a >= b), "{keys:?}");
        assert!(
            rows.iter().all(|row| row["_rid"].is_string() && row["payload"]["id"].is_string()),
            "{rows:?}"
        );
    }
    assert_eq!(ordered.concat().len(), 24);
}

#[tokio::test]
async fn a_query_that_is_wrong_has_no_plan() {
    let world = World::new().await;
    let wrong = call("c", &json!({"query": "SELECT * FROM c WHERE d.x = 1"}), JAVASCRIPT);
    world.refused(wrong, (400, 0), "SC2001").await;
    for (query, why) in [
        (
            "SELECT * FROM c WHERE c.pk = 'p' ORDER BY LOWER(c.n) ASC",
            "could not be mapped to a document path",
        ),
        ("SELECT * FROM c ORDER BY c.a, c.b", "does not have a corresponding composite index"),
        ("SELECT TOP 5 * FROM c ORDER BY VectorDistance(c.v, [1]) ASC", "Specifying a sorting order"),
    ] {
        world.refused(call("c", &json!({ "query": query }), JAVASCRIPT), (400, 0), why).await;
    }
    let ranges = with_ranges().await;
    let composed = call("s", &json!({"query": "SELECT VALUE {'sum': SUM(c.n)} FROM c"}), JAVASCRIPT);
    ranges.refused(composed, (400, 0), "Cross partition query only supports").await;
    let body = json!({"query": "SELECT TOP @n * FROM c", "parameters": [{"name": "@n", "value": 5}]});
    let bound = world.answered(200, call("c", &body, JAVASCRIPT)).await.json().unwrap();
    assert_eq!(bound["queryInfo"]["top"], 5);
    world.refused(call("nobody", &body, JAVASCRIPT), (404, 1003), "no container 'nobody'").await;
}

#[tokio::test]
async fn vector_and_hybrid_searches_have_plans() {
    let world = World::new().await;
    let policy = json!({"vectorEmbeddings": [
        {"path": "/v", "dataType": "float32", "distanceFunction": "euclidean", "dimensions": 2},
        {"path": "/w", "dataType": "float32", "distanceFunction": "cosine", "dimensions": 2}
    ]});
    world.container("v", &json!({"vectorEmbeddingPolicy": policy})).await;
    for (path, way) in [("v", "Ascending"), ("w", "Descending")] {
        let query = format!("SELECT TOP 5 c.id FROM c ORDER BY VectorDistance(c.{path}, [1, 0])");
        let info = plan(&world, "v", &query, JAVASCRIPT).await["queryInfo"].clone();
        assert_eq!(
            (&info["orderBy"], &info["hasNonStreamingOrderBy"]),
            (&json!([way]), &json!(true)),
            "{path}"
        );
    }
    let query = "SELECT TOP 5 c.id FROM c ORDER BY RANK FullTextScore(c.t, 'swim')";
    let hybrid = plan(&world, "v", query, JAVASCRIPT).await;
    assert_eq!((&hybrid["queryInfo"], &hybrid["hybridSearchQueryInfo"]["take"]), (&Value::Null, &json!(5)));
}
