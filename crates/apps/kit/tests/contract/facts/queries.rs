//! Queries, page by page.

use crate::fixture::{Fixture, item, query};
use orrery_kit::ports::documents::{Query, StoreError, Write};
use serde_json::{Value, json};

/// Ten partitions of seven items.
async fn fill(fixture: &Fixture) {
    for partition in 0..10 {
        let partition = format!("p{partition}");
        let writes = (0..7).map(|n| Write::Create(item(&partition, &format!("{partition}-{n}"), n)));
        let batch = fixture.documents.batch(crate::fixture::ITEMS, &partition, writes.collect());
        assert_eq!(batch.await.unwrap().len(), 7);
    }
}

fn sorted(mut rows: Vec<Value>) -> Vec<String> {
    let mut rows: Vec<String> = rows.drain(..).map(|row| row.to_string()).collect();
    rows.sort();
    rows
}

pub async fn pages_together_are_one_page(fixture: &Fixture) {
    fill(fixture).await;
    for text in ["SELECT VALUE c.id FROM c", "SELECT c.id, c.n FROM c WHERE c.n >= 3"] {
        let whole = fixture.rows(None, query(text, 0)).await;
        assert!(whole.len() >= 40, "{}", whole.len());
        for size in [1, 3, 7, 100] {
            assert_eq!(
                sorted(fixture.rows(None, query(text, size)).await),
                sorted(whole.clone()),
                "{text} by {size}"
            );
        }
    }
    let text = "SELECT VALUE c.n FROM c ORDER BY c.n DESC";
    for size in [1, 2, 3, 0] {
        assert_eq!(fixture.rows(Some("p3"), query(text, size)).await, [6, 5, 4, 3, 2, 1, 0], "by {size}");
    }
    let page = fixture.page(Some("p3"), &query(text, 3)).await.unwrap();
    assert!(page.charge > 0.0 && page.continuation.is_some());
}

pub async fn a_partition_sees_only_itself(fixture: &Fixture) {
    fill(fixture).await;
    let ids = fixture.rows(Some("p4"), query("SELECT VALUE c.id FROM c WHERE c.n < 2", 0)).await;
    assert_eq!(sorted(ids), ["\"p4-0\"", "\"p4-1\""]);
    assert_eq!(fixture.rows(Some("p4"), query("SELECT VALUE COUNT(1) FROM c", 0)).await, [7]);
    assert!(fixture.rows(Some("none"), query("SELECT * FROM c", 0)).await.is_empty());
    let named = "SELECT VALUE c.id FROM c WHERE c.pk = 'p5' AND c.id = 'p5-1'";
    assert_eq!(fixture.rows(None, query(named, 0)).await, ["p5-1"]);
    assert!(fixture.rows(Some("p4"), query(named, 0)).await.is_empty());
}

pub async fn parameters_are_values_of_any_kind(fixture: &Fixture) {
    let values =
        [json!("é\"\\"), json!(1.5), json!(-3), json!(true), json!(null), json!([1, "a"]), json!({"b": 1})];
    for (index, value) in values.iter().enumerate() {
        let item = json!({"id": index.to_string(), "pk": "p", "email": index, "value": value});
        fixture.write("p", Write::Create(item)).await.unwrap();
    }
    for (index, value) in values.iter().enumerate() {
        let parameters = vec![("@value".to_owned(), value.clone())];
        let text = "SELECT VALUE c.id FROM c WHERE c[\"value\"] = @value".to_owned();
        let asked = Query { text, parameters, ..Query::default() };
        assert_eq!(fixture.rows(Some("p"), asked).await, [index.to_string()], "{value}");
    }
}

pub async fn a_continuation_is_valid_only_for_its_own_query(fixture: &Fixture) {
    fill(fixture).await;
    let asked = query("SELECT VALUE c.id FROM c", 2);
    for partition in [Some("p1"), None] {
        let page = fixture.page(partition, &asked).await.unwrap();
        let continuation = page.continuation;
        assert!(continuation.is_some());
        let refused = [
            (partition, Query { text: "SELECT VALUE c.n FROM c".to_owned(), ..asked.clone() }),
            (Some("p2"), asked.clone()),
            (partition, Query { parameters: vec![("@a".to_owned(), json!(1))], ..asked.clone() }),
        ];
        for (partition, other) in refused {
            let outcome =
                fixture.page(partition, &Query { continuation: continuation.clone(), ..other }).await;
            assert!(matches!(outcome, Err(StoreError::Refused { status: 400, .. })), "{outcome:?}");
        }
        // Another page size does not make it another query.
        let rest = Query { continuation, items_max: 100, ..asked.clone() };
        let all = if partition.is_some() { 7 } else { 70 };
        assert_eq!(fixture.rows(partition, rest).await.len() + page.rows.len(), all);
    }
    for garbage in ["", "x", "e30", "####"] {
        let outcome =
            fixture.page(None, &Query { continuation: Some(garbage.to_owned()), ..asked.clone() }).await;
        assert!(matches!(outcome, Err(StoreError::Refused { status: 400, .. })), "{garbage}: {outcome:?}");
    }
}

/// Regardless of who merges: a single store, a server that is asked to, or the adapter by the server's plan.
pub async fn rows_of_all_partitions_are_merged(fixture: &Fixture) {
    fill(fixture).await;
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
        assert_eq!(fixture.rows(None, query(text, 0)).await, rows, "{text}");
    }
    let groups = fixture.rows(None, query("SELECT c.n, COUNT(1) AS k FROM c GROUP BY c.n", 0)).await;
    let group = |n: i64| json!({"n": n, "k": 10}).to_string();
    assert_eq!(sorted(groups), (0..7).map(group).collect::<Vec<_>>());
    let distinct = fixture.rows(None, query("SELECT DISTINCT VALUE c.n FROM c", 0)).await;
    assert_eq!(sorted(distinct), ["0", "1", "2", "3", "4", "5", "6"]);
    let mut ids: Vec<String> = (0..10).flat_map(|p| (0..7).map(move |n| format!("p{p}-{n}"))).collect();
    ids.sort();
    for size in [1, 7, 100] {
        let ordered = fixture.rows(None, query("SELECT VALUE c.id FROM c ORDER BY c.id", size)).await;
        assert_eq!(ordered, ids, "by {size}");
    }
}

pub async fn a_malformed_query_is_refused(fixture: &Fixture) {
    for text in ["", "SELEKT", "SELECT * FROM c WHERE", "SELECT udf.none(c) FROM c"] {
        fixture.create("p", &format!("i{}", text.len()), 1).await;
        let outcome = fixture.page(Some("p"), &query(text, 0)).await;
        assert!(matches!(outcome, Err(StoreError::Refused { status: 400, .. })), "{text}: {outcome:?}");
    }
}

/// Through any adapter: a function belongs to the container, not to the protocol.
pub async fn a_query_calls_user_defined_functions(fixture: &Fixture) {
    fixture.define_function("twice", "function twice(n) { return 2 * n; }").await;
    fixture.create("p", "a", 21).await;
    let rows = fixture.rows(Some("p"), query("SELECT VALUE udf.twice(c.n) FROM c", 0)).await;
    assert_eq!(rows, [serde_json::json!(42)]);
    let unknown = fixture.page(Some("p"), &query("SELECT VALUE udf.thrice(c.n) FROM c", 0)).await;
    assert!(matches!(unknown, Err(StoreError::Refused { status: 400, .. })), "{unknown:?}");
}
