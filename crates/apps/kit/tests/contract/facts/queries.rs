//! Queries, page by page.

use crate::world::{World, item, query};
use orrery_kit::ports::documents::{Query, StoreError, Write};
use serde_json::{Value, json};

/// Ten partitions of seven items.
async fn fill(world: &World) {
    for partition in 0..10 {
        let partition = format!("p{partition}");
        let writes = (0..7).map(|n| Write::Create(item(&partition, &format!("{partition}-{n}"), n)));
        let batch = world.documents.batch(crate::world::ITEMS, &partition, writes.collect());
        assert_eq!(batch.await.unwrap().len(), 7);
    }
}

fn sorted(mut rows: Vec<Value>) -> Vec<String> {
    let mut rows: Vec<String> = rows.drain(..).map(|row| row.to_string()).collect();
    rows.sort();
    rows
}

pub async fn pages_together_are_one_page(world: &World) {
    fill(world).await;
    for text in ["SELECT VALUE c.id FROM c", "SELECT c.id, c.n FROM c WHERE c.n >= 3"] {
        let whole = world.rows(None, query(text, 0)).await;
        assert!(whole.len() >= 40, "{}", whole.len());
        for size in [1, 3, 7, 100] {
            assert_eq!(
                sorted(world.rows(None, query(text, size)).await),
                sorted(whole.clone()),
                "{text} by {size}"
            );
        }
    }
    let text = "SELECT VALUE c.n FROM c ORDER BY c.n DESC";
    for size in [1, 2, 3, 0] {
        assert_eq!(world.rows(Some("p3"), query(text, size)).await, [6, 5, 4, 3, 2, 1, 0], "by {size}");
    }
    let page = world.page(Some("p3"), &query(text, 3)).await.unwrap();
    assert!(page.charge > 0.0 && page.continuation.is_some());
}

pub async fn a_partition_sees_only_itself(world: &World) {
    fill(world).await;
    let ids = world.rows(Some("p4"), query("SELECT VALUE c.id FROM c WHERE c.n < 2", 0)).await;
    assert_eq!(sorted(ids), ["\"p4-0\"", "\"p4-1\""]);
    assert_eq!(world.rows(Some("p4"), query("SELECT VALUE COUNT(1) FROM c", 0)).await, [7]);
    assert!(world.rows(Some("none"), query("SELECT * FROM c", 0)).await.is_empty());
    let named = "SELECT VALUE c.id FROM c WHERE c.pk = 'p5' AND c.id = 'p5-1'";
    assert_eq!(world.rows(None, query(named, 0)).await, ["p5-1"]);
    assert!(world.rows(Some("p4"), query(named, 0)).await.is_empty());
}

pub async fn parameters_are_values_of_any_kind(world: &World) {
    let values =
        [json!("é\"\\"), json!(1.5), json!(-3), json!(true), json!(null), json!([1, "a"]), json!({"b": 1})];
    for (index, value) in values.iter().enumerate() {
        let item = json!({"id": index.to_string(), "pk": "p", "email": index, "value": value});
        world.write("p", Write::Create(item)).await.unwrap();
    }
    for (index, value) in values.iter().enumerate() {
        let parameters = vec![("@value".to_owned(), value.clone())];
        let text = "SELECT VALUE c.id FROM c WHERE c[\"value\"] = @value".to_owned();
        let asked = Query { text, parameters, ..Query::default() };
        assert_eq!(world.rows(Some("p"), asked).await, [index.to_string()], "{value}");
    }
}

pub async fn a_continuation_goes_on_with_its_own_query_only(world: &World) {
    fill(world).await;
    let asked = query("SELECT VALUE c.id FROM c", 2);
    for partition in [Some("p1"), None] {
        let page = world.page(partition, &asked).await.unwrap();
        let continuation = page.continuation;
        assert!(continuation.is_some());
        let refused = [
            (partition, Query { text: "SELECT VALUE c.n FROM c".to_owned(), ..asked.clone() }),
            (Some("p2"), asked.clone()),
            (partition, Query { parameters: vec![("@a".to_owned(), json!(1))], ..asked.clone() }),
        ];
        for (partition, other) in refused {
            let outcome = world.page(partition, &Query { continuation: continuation.clone(), ..other }).await;
            assert!(matches!(outcome, Err(StoreError::Refused { status: 400, .. })), "{outcome:?}");
        }
        // Another size of pages is no other query.
        let rest = Query { continuation, items_max: 100, ..asked.clone() };
        let all = if partition.is_some() { 7 } else { 70 };
        assert_eq!(world.rows(partition, rest).await.len() + page.rows.len(), all);
    }
    for garbage in ["", "x", "e30", "####"] {
        let outcome =
            world.page(None, &Query { continuation: Some(garbage.to_owned()), ..asked.clone() }).await;
        assert!(matches!(outcome, Err(StoreError::Refused { status: 400, .. })), "{garbage}: {outcome:?}");
    }
}

/// Whoever merges: the store in one piece, a server that is asked to, or the adapter by the server's plan.
pub async fn rows_of_all_partitions_are_merged(world: &World) {
    fill(world).await;
    let expected = [
        ("SELECT VALUE COUNT(1) FROM c", vec![json!(70)]),
        ("SELECT VALUE AVG(c.n) FROM c", vec![json!(3)]),
        ("SELECT VALUE MAX(c.n) FROM c WHERE c.n > 100", vec![]),
        ("SELECT COUNT(1) AS k, MIN(c.n) AS least FROM c", vec![json!({"k": 70, "least": 0})]),
        ("SELECT TOP 2 VALUE c.id FROM c ORDER BY c.id DESC", vec![json!("p9-6"), json!("p9-5")]),
        ("SELECT VALUE c.id FROM c ORDER BY c.id OFFSET 7 LIMIT 2", vec![json!("p1-0"), json!("p1-1")]),
        ("SELECT VALUE COUNT(1) FROM c WHERE c.pk = 'p3'", vec![json!(7)]),
        ("SELECT VALUE COUNT(1) FROM c WHERE c.pk IN ('p3', 'p4', 'none')", vec![json!(14)]),
    ];
    for (text, rows) in expected {
        assert_eq!(world.rows(None, query(text, 0)).await, rows, "{text}");
    }
    let groups = world.rows(None, query("SELECT c.n, COUNT(1) AS k FROM c GROUP BY c.n", 0)).await;
    let group = |n: i64| json!({"n": n, "k": 10}).to_string();
    assert_eq!(sorted(groups), (0..7).map(group).collect::<Vec<_>>());
    let distinct = world.rows(None, query("SELECT DISTINCT VALUE c.n FROM c", 0)).await;
    assert_eq!(sorted(distinct), ["0", "1", "2", "3", "4", "5", "6"]);
    let mut ids: Vec<String> = (0..10).flat_map(|p| (0..7).map(move |n| format!("p{p}-{n}"))).collect();
    ids.sort();
    for size in [1, 7, 100] {
        let ordered = world.rows(None, query("SELECT VALUE c.id FROM c ORDER BY c.id", size)).await;
        assert_eq!(ordered, ids, "by {size}");
    }
}

pub async fn a_query_that_is_none_is_refused(world: &World) {
    for text in ["", "SELEKT", "SELECT * FROM c WHERE", "SELECT udf.none(c) FROM c"] {
        world.create("p", &format!("i{}", text.len()), 1).await;
        let outcome = world.page(Some("p"), &query(text, 0)).await;
        assert!(matches!(outcome, Err(StoreError::Refused { status: 400, .. })), "{text}: {outcome:?}");
    }
}

/// Whoever asks: a function is the container's, not the protocol's.
pub async fn a_query_calls_user_defined_functions(world: &World) {
    world.define_function("twice", "function twice(n) { return 2 * n; }").await;
    world.create("p", "a", 21).await;
    let rows = world.rows(Some("p"), query("SELECT VALUE udf.twice(c.n) FROM c", 0)).await;
    assert_eq!(rows, [serde_json::json!(42)]);
    let unknown = world.page(Some("p"), &query("SELECT VALUE udf.thrice(c.n) FROM c", 0)).await;
    assert!(matches!(unknown, Err(StoreError::Refused { status: 400, .. })), "{unknown:?}");
}
