//! Queries over lists of users, permissions, scripts and client encryption keys.

use crate::call::Call;
use crate::children::{SORTS, with_owner, without_token};
use crate::queries_ask::Ask;
use serde_json::json;

#[tokio::test]
async fn each_list_is_queried_in_the_same_language() {
    let world = with_owner().await;
    for sort in &SORTS {
        for n in [3, 0, 4, 1, 2] {
            world.made(Call::post(sort.list, sort.text(&format!("x{n}")))).await;
        }
        let ask = |query: &str| Ask::at(sort.list, query);
        let ids = "SELECT VALUE r.id FROM root r WHERE r.id >= 'x1' AND r.id < 'x4' ORDER BY r.id DESC";
        assert_eq!(ask(ids).rows(&world).await, ["x3", "x2", "x1"], "{}", sort.list);
        let count = "SELECT VALUE COUNT(1) FROM r WHERE STARTSWITH(r.id, 'x')";
        assert_eq!(ask(count).rows(&world).await, [5]);
        let by_id =
            ask("SELECT * FROM root r WHERE r.id=@id").parameters(json!([{"name": "@id", "value": "x2"}]));
        let whole = world.answered(200, Call::get(&sort.path("x2"))).await.json().unwrap();
        let found: Vec<_> = by_id.rows(&world).await.into_iter().map(without_token).collect();
        assert_eq!(found, [without_token(whole)]);
        for size in [1, 2, 3] {
            let pages = ask("SELECT VALUE r.id FROM r WHERE r.id != 'owner'").by(size);
            assert_eq!(pages.rows(&world).await, ["x0", "x1", "x2", "x3", "x4"], "{} by {size}", sort.list);
        }
    }
}

#[tokio::test]
async fn a_script_is_found_by_what_it_is() {
    let world = with_owner().await;
    for (id, when) in [("a", "Pre"), ("b", "post"), ("c", "pre")] {
        let body =
            json!({"id": id, "body": "function () {}", "triggerType": when, "triggerOperation": "All"});
        world.made(Call::post("dbs/d/colls/c/triggers", body.to_string())).await;
    }
    let pre =
        Ask::at("dbs/d/colls/c/triggers", "SELECT VALUE t.id FROM t WHERE LOWER(t.triggerType) = 'pre'");
    assert_eq!(pre.rows(&world).await, ["a", "c"]);
}
