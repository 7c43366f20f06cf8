//! What a filter spares: items and partitions that it cannot match are not read.
//!
//! The metrics of a query say how many items it read; the rows are the same either way.

use crate::queries_ask::{Ask, add, each, sorted};
use crate::world::World;
use serde_json::{Value, json};

/// Twenty items in four partitions, and two without a key.
async fn with_items() -> World {
    let world = World::new().await;
    world.container("q", &json!({})).await;
    let item = |n: usize| json!({"id": n.to_string(), "pk": format!("p{}", n % 4), "n": n});
    add(&world, "q", (0..20).map(item)).await;
    add(&world, "q", ["x", "y"].map(|id| json!({"id": id, "n": 100}))).await;
    world
}

fn with_parameters(query: &str, values: &[(&str, Value)]) -> Ask {
    let parameters: Vec<Value> =
        values.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
    Ask::of("q", query).parameters(json!(parameters))
}

async fn check(world: &World, ask: Ask, ids: &[&str], retrieved: usize) {
    let rows = sorted(ask.rows(world).await);
    assert_eq!(each(&rows, "id"), ids);
    assert_eq!(ask.retrieved(world).await, retrieved, "{ids:?}");
}

#[tokio::test]
async fn reading_many_items_touches_only_these() {
    let world = with_items().await;
    let one_partition = with_parameters(
        "SELECT c.id FROM c WHERE c.pk = @pk AND c.id IN (@id0, @id1, @id2)",
        &[("@pk", json!("p1")), ("@id0", json!("1")), ("@id1", json!("5")), ("@id2", json!("2"))],
    );
    check(&world, one_partition, &["1", "5"], 2).await;
    let several = with_parameters(
        "SELECT c.id FROM c WHERE ( ( c.id = @param_id0 AND c.pk = @param_pk00 ) OR ( c.id = @param_id1 AND c.pk = @param_pk10 ) OR ( c.id = @param_id2 AND IS_DEFINED(c.pk) = false ) )",
        &[
            ("@param_id0", json!("0")),
            ("@param_pk00", json!("p0")),
            ("@param_id1", json!("7")),
            ("@param_pk10", json!("p3")),
            ("@param_id2", json!("x")),
        ],
    );
    check(&world, several, &["0", "7", "x"], 3).await;
    let missing = with_parameters("SELECT c.id FROM c WHERE c.id = 'nobody' AND c.pk = 'p0'", &[]);
    check(&world, missing, &[], 0).await;
    let whole_rows = Ask::of("q", "SELECT * FROM c WHERE c.pk = 'p2' AND c.id = '2'").rows(&world).await;
    assert_eq!(whole_rows[0]["n"], 2);
}

#[tokio::test]
async fn ids_alone_are_enough_where_the_id_is_the_partition_key() {
    let world = World::new().await;
    let key = json!({"paths": ["/id"], "kind": "Hash", "version": 2});
    world.container("q", &json!({"partitionKey": key})).await;
    add(&world, "q", (0..20).map(|n| json!({"id": n.to_string()}))).await;
    let ask = with_parameters(
        "SELECT * FROM c WHERE c.id IN ( @param_id0,@param_id1 )",
        &[("@param_id0", json!("3")), ("@param_id1", json!("17"))],
    );
    check(&world, ask, &["17", "3"], 2).await;
}

#[tokio::test]
async fn a_thousand_terms_with_two_thousand_parameters_answer() {
    let world = with_items().await;
    let terms: Vec<String> =
        (0..1000).map(|n| format!("( c.id = @param_id{n} AND c.pk = @param_pk{n}0 )")).collect();
    let parameters: Vec<Value> = (0..1000)
        .flat_map(|n| {
            let (id, pk) = (json!(n.to_string()), json!(format!("p{}", n % 4)));
            [
                json!({"name": format!("@param_id{n}"), "value": id}),
                json!({"name": format!("@param_pk{n}0"), "value": pk}),
            ]
        })
        .collect();
    let query = format!("SELECT * FROM c WHERE ( {} )", terms.join(" OR "));
    let ask = Ask::of("q", &query).parameters(json!(parameters));
    assert_eq!(ask.rows(&world).await.len(), 20);
    assert_eq!(ask.retrieved(&world).await, 20, "and not those without a key");
    assert_eq!(ask.by(3).pages(&world).await.concat().len(), 20);
}

#[tokio::test]
async fn a_filter_on_the_partition_key_reads_only_its_partitions() {
    let world = with_items().await;
    let ask = |filter: &str| Ask::of("q", &format!("SELECT VALUE c.n FROM c WHERE {filter}"));
    let read = [
        ("c.pk = 'p1'", 5, 5),
        ("c.pk = 'p1' AND c.n > 5", 3, 5),
        ("c.pk IN ('p1', 'p3', 'nobody')", 10, 10),
        ("c.pk = 'p1' OR c.pk = 'p2'", 10, 10),
        ("(c.pk = 'p1' OR c.pk = 'p2') AND c.pk = 'p2'", 5, 5),
        ("'p0' = c[\"pk\"]", 5, 5),
        ("c.pk = 'p1' AND c.pk = 'p2'", 0, 0),
        ("c.pk = 1", 0, 0),
        ("NOT IS_DEFINED(c.pk)", 2, 2),
        // These say nothing of the key that could be looked up.
        ("c.pk = 'p1' OR c.n = 0", 6, 22),
        ("c.pk != 'p1'", 15, 22),
        ("c.pk > 'p1'", 10, 22),
        ("NOT (c.pk = 'p1')", 15, 22),
        ("LOWER(c.pk) = 'p1'", 5, 22),
    ];
    for (filter, rows, retrieved) in read {
        assert_eq!(ask(filter).rows(&world).await.len(), rows, "{filter}");
        assert_eq!(ask(filter).retrieved(&world).await, retrieved, "{filter}");
    }
    assert_eq!(
        Ask::of("q", "SELECT VALUE COUNT(c._etag) FROM c WHERE c.pk = 'p1'").retrieved(&world).await,
        5
    );
    assert_eq!(
        Ask::of("q", "SELECT VALUE x FROM c JOIN x IN c.l WHERE c.pk = 'p1'").retrieved(&world).await,
        5
    );
    assert_eq!(ask("c.pk = 'p1'").partition("[\"p2\"]").rows(&world).await.len(), 0, "within the scope");
    assert_eq!(ask("c.pk = 'p1'").partition("[\"p2\"]").retrieved(&world).await, 0);
}

#[tokio::test]
async fn a_filter_on_the_first_levels_of_a_key_reads_only_what_begins_with_them() {
    let world = World::new().await;
    let key = json!({"paths": ["/a", "/b/c"], "kind": "MultiHash", "version": 2});
    world.container("q", &json!({"partitionKey": key})).await;
    let item = |n: usize| json!({"id": n.to_string(), "a": n % 2, "b": {"c": n % 3}});
    add(&world, "q", (0..18).map(item)).await;
    let ask = |filter: &str| Ask::of("q", &format!("SELECT VALUE c.id FROM c WHERE {filter}"));
    let read = [
        ("c.a = 0", 9, 9),
        ("c.a = 0 AND c.b.c = 1", 3, 3),
        ("c.b.c = 1", 6, 18),
        ("c.a = 0 OR c.b.c = 1", 12, 18),
    ];
    for (filter, rows, retrieved) in read {
        assert_eq!(ask(filter).rows(&world).await.len(), rows, "{filter}");
        assert_eq!(ask(filter).retrieved(&world).await, retrieved, "{filter}");
    }
    let many = ask("( c.id = '0' AND c.a = 0 AND c.b.c = 0 ) OR ( c.id = '5' AND c.a = 1 AND c.b.c = 2 )");
    assert_eq!(many.retrieved(&world).await, 2);
    assert_eq!(many.rows(&world).await.len(), 2);
}

#[tokio::test]
async fn pages_of_a_narrowed_query_go_on() {
    let world = with_items().await;
    let ask = Ask::of("q", "SELECT c.id FROM c WHERE c.pk IN ('p3', 'p0') AND c.n >= 0");
    let whole = ask.rows(&world).await;
    assert_eq!((whole.len(), &ask.clone().by(3).rows(&world).await), (10, &whole));
    let looked_up = Ask::of("q", "SELECT c.id FROM c WHERE c.id IN ('0', '4', '8', '12') AND c.pk = 'p0'");
    assert_eq!(looked_up.clone().by(1).rows(&world).await, looked_up.rows(&world).await);
}

/// They lie in one large partition with items that have no key at all.
#[tokio::test]
async fn a_key_that_is_an_array_or_an_object_is_compared_as_a_value() {
    let world = World::new().await;
    world.container("q", &json!({})).await;
    let filler = "x".repeat(30_000);
    add(&world, "q", (0..40).map(|n| json!({"id": n.to_string(), "n": n, "filler": filler}))).await;
    add(&world, "q", [json!({"id": "o", "pk": {}}), json!({"id": "a", "pk": [1, 2]})]).await;
    for (filter, ids) in
        [("c.pk = {}", &["o"][..]), ("c.pk = [1, 2]", &["a"]), ("c.pk = [1]", &[]), ("c.pk = []", &[])]
    {
        let rows = Ask::of("q", &format!("SELECT c.id FROM c WHERE {filter}")).rows(&world).await;
        assert_eq!(each(&rows, "id"), ids, "{filter}");
        let count = Ask::of("q", &format!("SELECT VALUE COUNT(1) FROM c WHERE {filter}")).rows(&world).await;
        assert_eq!(count, [json!(ids.len())], "{filter}");
    }
}
