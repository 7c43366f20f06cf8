//! `resumeFilter`: where a client that merges ranges itself goes on with an ORDER BY (wire guide §17.6).

use crate::queries_ask::{Ask, add};
use crate::world::World;
use serde_json::{Value, json};

const QUERY: &str = "SELECT VALUE {\"_rid\": c._rid, \"orderByItems\": [{\"item\": c.n}], \"payload\": c.id} FROM c WHERE true ORDER BY c.n";

/// `a` has no `n`; `b` has null; `c`, `d` and `e` have 1, `f` has 2 and `g` "x". Made in that order.
async fn with_items() -> (World, Vec<String>) {
    let world = World::new().await;
    let composite = json!([{"path": "/n", "order": "descending"}, {"path": "/id", "order": "ascending"}]);
    world.container("q", &json!({"indexingPolicy": {"compositeIndexes": [composite]}})).await;
    let values = [
        None,
        Some(json!(null)),
        Some(json!(1)),
        Some(json!(1)),
        Some(json!(1.0)),
        Some(json!(2)),
        Some(json!("x")),
    ];
    for (id, value) in ["a", "b", "c", "d", "e", "f", "g"].into_iter().zip(values) {
        let mut item = json!({"id": id, "pk": "p"});
        if let Some(value) = value {
            item["n"] = value;
        }
        add(&world, "q", [item]).await;
    }
    let rows = Ask::of("q", "SELECT c.id, c._rid FROM c ORDER BY c.id").rows(&world).await;
    let rids = rows.iter().map(|row| row["_rid"].as_str().unwrap().to_owned()).collect();
    (world, rids)
}

/// The payloads of what comes from there on, in one page and in pages of one.
async fn from(world: &World, query: &str, filter: Value) -> String {
    let ask = Ask::of("q", query).member("resumeFilter", filter);
    let rows = ask.rows(world).await;
    assert_eq!(ask.by(1).rows(world).await, rows, "the filter is sent again with every continuation");
    rows.iter().map(|row| row["payload"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn rows_before_the_values_are_left_out() {
    let (world, _) = with_items().await;
    let whole = Ask::of("q", QUERY).rows(&world).await;
    assert_eq!(whole.iter().map(|row| row["payload"].as_str().unwrap()).collect::<String>(), "abcdefg");
    assert_eq!(whole[0]["orderByItems"], json!([{}]), "an undefined key has no item");
    let cases = [
        (json!({"value": [1]}), "cdefg"),
        (json!({"value": [1], "exclude": false}), "cdefg"),
        (json!({"value": [1], "exclude": true}), "fg"),
        (json!({"value": [1.5]}), "fg"),
        (json!({"value": [null]}), "bcdefg"),
        (json!({"value": [[]]}), "abcdefg"),
        (json!({"value": [[]], "exclude": true}), "bcdefg"),
        (json!({"value": ["x"], "exclude": true}), ""),
    ];
    for (filter, expected) in cases {
        assert_eq!(from(&world, QUERY, filter.clone()).await, expected, "{filter}");
    }
}

#[tokio::test]
async fn among_rows_with_the_values_a_rid_says_where() {
    let (world, rids) = with_items().await;
    let at =
        |value: Value, rid: &str, exclude: bool| json!({"value": [value], "rid": rid, "exclude": exclude});
    assert_eq!(from(&world, QUERY, at(json!(1), &rids[3], false)).await, "defg");
    assert_eq!(from(&world, QUERY, at(json!(1), &rids[3], true)).await, "efg");
    assert_eq!(from(&world, QUERY, at(json!(1), &rids[4], true)).await, "fg");
    assert_eq!(from(&world, QUERY, at(json!([]), &rids[0], true)).await, "bcdefg");
    let descending = format!("{QUERY} DESC");
    assert_eq!(from(&world, &descending, json!({"value": [2]})).await, "fedcba");
    assert_eq!(from(&world, &descending, at(json!(1), &rids[3], false)).await, "dcba");
    assert_eq!(from(&world, &descending, at(json!(1), &rids[3], true)).await, "cba");
    // The row that is named need not be there any more.
    let gone = crate::call::Call::delete("dbs/d/colls/q/docs/d").partition(r#"["p"]"#);
    world.answered(204, gone).await;
    assert_eq!(from(&world, QUERY, at(json!(1), &rids[3], false)).await, "efg");
}

#[tokio::test]
async fn every_key_of_the_order_has_its_value() {
    let (world, rids) = with_items().await;
    let query = "SELECT c._rid, [{\"item\": c.n}, {\"item\": c.id}] AS orderByItems, c.id AS payload FROM c ORDER BY c.n DESC, c.id";
    assert_eq!(from(&world, query, json!({"value": [1, "d"]})).await, "deba");
    assert_eq!(from(&world, query, json!({"value": [1, "d"], "exclude": true})).await, "eba");
    assert_eq!(from(&world, query, json!({"value": [1, "d"], "rid": rids[3], "exclude": true})).await, "eba");
    assert_eq!(from(&world, query, json!({"value": [2, "a"]})).await, "fcdeba");
    assert_eq!(from(&world, query, json!({"value": [2, "z"]})).await, "cdeba");
}
