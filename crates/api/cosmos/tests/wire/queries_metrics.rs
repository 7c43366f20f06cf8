//! How a query ran, in the headers of its answer.

use crate::queries_ask::{Ask, Page, add, metrics};
use crate::world::World;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

const METRICS: &str = "x-ms-documentdb-populatequerymetrics";
const UTILIZATION: &str = "x-ms-cosmos-index-utilization";

/// In the order in which the service has them.
const TIMES_AND_COUNTS: [&str; 17] = [
    "totalExecutionTimeInMs",
    "queryCompileTimeInMs",
    "queryLogicalPlanBuildTimeInMs",
    "queryPhysicalPlanBuildTimeInMs",
    "queryOptimizationTimeInMs",
    "VMExecutionTimeInMs",
    "indexLookupTimeInMs",
    "instructionCount",
    "documentLoadTimeInMs",
    "systemFunctionExecuteTimeInMs",
    "userFunctionExecuteTimeInMs",
    "retrievedDocumentCount",
    "retrievedDocumentSize",
    "outputDocumentCount",
    "outputDocumentSize",
    "writeOutputTimeInMs",
    "indexUtilizationRatio",
];

async fn with_items() -> World {
    let world = World::new().await;
    world.container("q", &json!({})).await;
    add(&world, "q", (0..8).map(|n| json!({"id": n.to_string(), "pk": n, "n": n}))).await;
    world
}

async fn first(world: &World, ask: &Ask, headers: &[&'static str]) -> Page {
    let ask = headers.iter().fold(ask.clone(), |ask, header| ask.header(header, "True"));
    ask.page(world, None).await
}

#[tokio::test]
async fn query_metrics_have_every_entry_once_and_nothing_else() {
    let world = with_items().await;
    let ask = Ask::of("q", "SELECT VALUE c.n FROM c WHERE c.n < 2");
    let page = first(&world, &ask, &[METRICS]).await;
    let text = page.reply.header("x-ms-documentdb-query-metrics").unwrap();
    let names: Vec<&str> = text.split(';').map(|entry| entry.split_once('=').unwrap().0).collect();
    assert_eq!(names, TIMES_AND_COUNTS);
    let entries = metrics(&page.reply);
    for (name, value) in &entries {
        if name.ends_with("Ms") || name.ends_with("Ratio") {
            let (whole, cents) = value.split_once('.').unwrap();
            assert!(
                whole.parse::<u64>().is_ok() && cents.len() == 2 && cents.parse::<u64>().is_ok(),
                "{name}={value}"
            );
        } else {
            value.parse::<u64>().unwrap();
        }
    }
    assert_eq!(
        (entries["retrievedDocumentCount"].as_str(), entries["outputDocumentCount"].as_str()),
        ("8", "2")
    );
    assert_eq!(entries["outputDocumentSize"], "3", "0,1");
    assert_eq!(entries["indexUtilizationRatio"], "0.25");
    let plain = first(&world, &ask, &[]).await;
    assert_eq!(plain.reply.header("x-ms-documentdb-query-metrics"), None, "only when asked for");
    assert_eq!(plain.reply.header(UTILIZATION), None);
}

#[tokio::test]
async fn metrics_are_of_the_page_and_not_of_the_query() {
    let world = with_items().await;
    let ask = Ask::of("q", "SELECT VALUE c.n FROM c").by(3).header(METRICS, "true");
    let page = ask.page(&world, None).await;
    let read = |page: &Page| metrics(&page.reply)["outputDocumentCount"].clone();
    assert_eq!(read(&page), "3");
    let page = ask.page(&world, page.next.as_deref()).await;
    let page = ask.page(&world, page.next.as_deref()).await;
    assert_eq!((read(&page).as_str(), page.next), ("2", None));
}

#[tokio::test]
async fn index_metrics_come_in_the_form_that_was_asked_for() {
    let world = with_items().await;
    let ask = Ask::of("q", "SELECT * FROM c WHERE c.n = 1");
    let page = first(&world, &ask, &["x-ms-cosmos-populateindexmetrics"]).await;
    let text = STANDARD.decode(page.reply.header(UTILIZATION).unwrap()).unwrap();
    let first_form: Value = serde_json::from_slice(&text).unwrap();
    for member in [
        "UtilizedSingleIndexes",
        "PotentialSingleIndexes",
        "UtilizedCompositeIndexes",
        "PotentialCompositeIndexes",
    ] {
        assert!(first_form[member].is_array(), "{member}");
    }
    let page = first(&world, &ask, &["x-ms-cosmos-populateindexmetrics-V2"]).await;
    let text = page.reply.header(UTILIZATION).unwrap();
    let text = percent_encoding::percent_decode_str(text).decode_utf8().unwrap().into_owned();
    let second_form: Value = serde_json::from_str(&text).unwrap();
    for kind in ["Utilized", "Potential"] {
        for member in ["SingleIndexes", "CompositeIndexes"] {
            assert!(second_form[kind][member].is_array(), "{kind} {member}");
        }
    }
}

/// The items of a small partition are read through; which index is for the query is told all the same (S0-46).
#[tokio::test]
async fn a_small_partition_tells_of_the_indexes_that_the_policy_gives() {
    let world = World::new().await;
    let composite = json!([{"path": "/pk", "order": "ascending"}, {"path": "/n", "order": "descending"}]);
    let policy = json!({"indexingMode": "consistent", "includedPaths": [{"path": "/pk/?"}, {"path": "/n/?"}],
        "excludedPaths": [{"path": "/*"}], "compositeIndexes": [composite]});
    world.container("s", &json!({"indexingPolicy": policy})).await;
    add(&world, "s", (0..4).map(|n| json!({"id": n.to_string(), "pk": "p", "n": n}))).await;
    let query = "SELECT VALUE c.n FROM c WHERE c.pk = 'p' AND c.m = 1 ORDER BY c.n DESC";
    for ask in [Ask::of("s", query), Ask::of("s", query).partition(r#"["p"]"#)] {
        let page = first(&world, &ask, &["x-ms-cosmos-populateindexmetrics"]).await;
        let text = STANDARD.decode(page.reply.header(UTILIZATION).unwrap()).unwrap();
        let told: Value = serde_json::from_slice(&text).unwrap();
        let of = |list: &str, member: &str| -> Vec<Value> {
            told[list].as_array().unwrap().iter().map(|each| each[member].clone()).collect()
        };
        assert_eq!(of("UtilizedSingleIndexes", "IndexSpec"), ["/pk/?", "/n/?"]);
        assert_eq!(of("PotentialSingleIndexes", "IndexSpec"), ["/m/?"]);
        let wished = json!(["/pk ASC", "/m ASC", "/n DESC"]);
        assert_eq!(of("PotentialCompositeIndexes", "IndexSpecs"), [wished]);
    }
    let ask =
        Ask::of("s", "SELECT VALUE c.n FROM c WHERE c.pk = 'p' ORDER BY c.n DESC").partition(r#"["p"]"#);
    let page = first(&world, &ask, &["x-ms-cosmos-populateindexmetrics"]).await;
    assert_eq!(page.rows, [3, 2, 1, 0]);
    let text = STANDARD.decode(page.reply.header(UTILIZATION).unwrap()).unwrap();
    let told: Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(told["UtilizedCompositeIndexes"][0]["IndexSpecs"], json!(["/pk ASC", "/n DESC"]));
}

#[tokio::test]
async fn an_aggregate_that_indexes_answer_retrieves_no_document() {
    let world = with_items().await;
    let counted = async |query: &str| {
        let page = first(&world, &Ask::of("q", query), &[METRICS]).await;
        let entries = metrics(&page.reply);
        ["retrievedDocumentCount", "retrievedDocumentSize", "indexUtilizationRatio"]
            .map(|name| entries[name].clone())
    };
    for query in [
        "SELECT VALUE COUNT(1) FROM c",
        "SELECT VALUE COUNT(1) FROM c WHERE c.n > 2",
        "SELECT VALUE MAX(c.n) FROM c",
        "SELECT VALUE SUM(c.n) FROM c WHERE c.n >= 1 AND STARTSWITH(c.id, '1')",
    ] {
        assert_eq!(counted(query).await, ["0", "0", "1.00"], "{query}");
    }
    assert_eq!(counted("SELECT VALUE COUNT(c._etag) FROM c").await[0], "8", "it has no index");
}

#[tokio::test]
async fn the_partition_key_of_the_scope_counts_as_a_filter() {
    let world = with_items().await;
    let singles = async |ask: Ask| -> Vec<Value> {
        let page = first(&world, &ask, &["x-ms-cosmos-populateindexmetrics"]).await;
        let text = STANDARD.decode(page.reply.header(UTILIZATION).unwrap()).unwrap();
        let told: Value = serde_json::from_slice(&text).unwrap();
        let used = told["UtilizedSingleIndexes"].as_array().unwrap();
        used.iter().map(|each| each["IndexSpec"].clone()).collect()
    };
    assert_eq!(singles(Ask::of("q", "SELECT * FROM c").partition("[1]")).await, ["/pk/?"]);
    assert_eq!(
        singles(Ask::of("q", "SELECT * FROM c WHERE c.n = 1").partition("[1]")).await,
        ["/pk/?", "/n/?"]
    );
    assert_eq!(singles(Ask::of("q", "SELECT * FROM c WHERE c.pk = 1").partition("[1]")).await, ["/pk/?"]);
    assert_eq!(singles(Ask::of("q", "SELECT * FROM c")).await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_page_costs_more_when_it_reads_more() {
    let world = with_items().await;
    world.container("big", &json!({})).await;
    add(&world, "big", (0..8).map(|n| json!({"id": n.to_string(), "pk": n, "t": "x".repeat(100_000)}))).await;
    let charge = |page: Page| page.reply.header("x-ms-request-charge").unwrap().parse::<f64>().unwrap();
    let small = charge(Ask::of("q", "SELECT VALUE COUNT(c.t) FROM c").page(&world, None).await);
    let large = charge(Ask::of("big", "SELECT VALUE COUNT(c.t) FROM c").page(&world, None).await);
    assert!(large > small, "{large} and {small}");
}
