//! Continuation tokens of queries: what they survive, and what they are refused for.

use crate::call::Call;
use crate::queries_ask::{Ask, CONTINUATION, add, each, sorted, split, splittable};
use crate::world::World;
use orrery_core::{Env, Timestamp};
use serde_json::{Value, json};

fn item(number: usize) -> Value {
    json!({"id": format!("{number:02}"), "pk": number, "n": number * 7 % 30, "l": ["a", "b", "c"]})
}

const WAYS: [&str; 6] = [
    "SELECT c.id FROM c",
    "SELECT c.id, e FROM c JOIN e IN c.l",
    "SELECT c.id, c.n FROM c ORDER BY c.n",
    "SELECT c.id, c.n, e FROM c JOIN e IN c.l ORDER BY c.n DESC",
    "SELECT DISTINCT c.n FROM c",
    "SELECT c.n, COUNT(1) AS many FROM c GROUP BY c.n",
];

#[tokio::test]
async fn a_token_outlives_another_page_size_and_a_restart() {
    let world = World::new().await;
    world.container("q", &json!({})).await;
    add(&world, "q", (0..12).map(item)).await;
    let mut tokens = Vec::new();
    for query in WAYS {
        let whole = Ask::of("q", query).rows(&world).await;
        let first = Ask::of("q", query).by(4).page(&world, None).await;
        let token = first.next.unwrap();
        for size in [1, 5, 1000] {
            let rest = Ask::of("q", query).by(size).pages_from(&world, Some(&token)).await.concat();
            assert_eq!([&first.rows[..], &rest].concat(), whole, "{query} by {size}");
        }
        tokens.push((query, whole, first.rows, token));
    }
    let later = World::on(world.engine.crash(0), Env::seeded(Timestamp::from_seconds(1_800_000_100), 9));
    for (query, whole, first, token) in tokens {
        let rest = Ask::of("q", query).pages_from(&later, Some(&token)).await.concat();
        assert_eq!([first, rest].concat(), whole, "{query}");
    }
}

/// A range splits, and each child goes on where the parent was.
#[tokio::test]
async fn a_token_of_a_range_is_good_for_its_children() {
    let world = World::new().await;
    splittable(&world, "s").await;
    add(&world, "s", (0..30).map(item)).await;
    let mut begun = Vec::new();
    for query in WAYS {
        let ask = Ask::of("s", query).by(8);
        let first = ask.clone().range("0").page(&world, None).await;
        let rest = ask.pages_from(&world, first.next.as_deref()).await.concat();
        begun.push((ask, first, rest));
    }
    let children = split(&world, "s").await;
    for (ask, first, expected) in begun {
        let token = first.next.as_deref();
        let (mut by_range, mut by_bounds) = (Vec::new(), Vec::new());
        for child in &children {
            let text = |member: &str| child[member].as_str().unwrap();
            let range = ask.clone().range(text("id"));
            by_range.extend(range.pages_from(&world, token).await.concat());
            // The halves of a child, by bounds alone.
            let (min, max) = (text("minInclusive"), text("maxExclusive"));
            let middle = format!("{}80", if min.is_empty() { "00" } else { min });
            for (min, max) in [(min, middle.as_str()), (&middle, max)] {
                by_bounds.extend(ask.clone().between(min, max).pages_from(&world, token).await.concat());
            }
        }
        assert_eq!(sorted(by_range), sorted(expected.clone()));
        assert_eq!(sorted(by_bounds), sorted(expected));
        let gone = ask.clone().range("0").from(token.unwrap());
        world.refused(gone, (410, 1002), "is gone; read the ranges again").await;
    }
}

#[tokio::test]
async fn a_token_is_refused_for_another_question() {
    let world = World::new().await;
    world.container("q", &json!({})).await;
    world.container("other", &json!({})).await;
    add(&world, "q", (0..6).map(item)).await;
    let query = "SELECT * FROM c WHERE c.n >= @n";
    let parameters = json!([{"name": "@n", "value": 0}]);
    let ask = |container: &str, query: &str, parameters: &Value| {
        Ask::of(container, query).parameters(parameters.clone()).by(2)
    };
    let token = ask("q", query, &parameters).page(&world, None).await.next.unwrap();
    world.answered(200, ask("q", query, &parameters).from(&token)).await;
    let another = "Invalid Continuation Token: it is of another query";
    let others = [
        ("SELECT * FROM c WHERE c.n > @n", parameters.clone()),
        ("SELECT * FROM c WHERE c.n >= @n ", parameters.clone()),
        (query, json!([{"name": "@n", "value": 1}])),
        (query, json!([{"name": "@n", "value": "0"}])),
        (query, json!([{"name": "@n"}])),
        (query, json!([{"name": "@n", "value": 0}, {"name": "@m", "value": 0}])),
    ];
    for (query, parameters) in others {
        world.refused(ask("q", query, &parameters).from(&token), (400, 0), another).await;
    }
    let elsewhere = ask("other", query, &parameters).from(&token);
    world.refused(elsewhere, (400, 0), "Invalid Continuation Token").await;
    world.answered(204, Call::delete("dbs/d/colls/q")).await;
    world.container("q", &json!({})).await;
    let reborn = ask("q", query, &parameters).from(&token);
    world.refused(reborn, (400, 0), "Invalid Continuation Token").await;
}

#[tokio::test]
async fn a_token_is_good_only_whole_and_for_queries() {
    let world = World::new().await;
    world.container("q", &json!({})).await;
    add(&world, "q", (0..6).map(item)).await;
    let ask = Ask::of("q", "SELECT * FROM c").by(2);
    let token = ask.page(&world, None).await.next.unwrap();
    let fragment = "Invalid Continuation Token";
    for at in 0..token.len() {
        let mut changed = token.clone().into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        world.refused(ask.from(&String::from_utf8(changed).unwrap()), (400, 0), fragment).await;
    }
    for broken in [&token[1..], &token[..token.len() - 1], &format!("{token}A"), "x", "{}", "-1"] {
        world.refused(ask.from(broken), (400, 0), fragment).await;
    }
    world.refused(ask.from(&"A".repeat(20_000)), (400, 0), fragment).await;
    let items = "dbs/d/colls/q/docs";
    let feed = world.answered(200, Call::get(items).header("x-ms-max-item-count", "2")).await;
    let of_feed = feed.header(CONTINUATION).unwrap();
    world.refused(ask.from(of_feed), (400, 0), fragment).await;
    world.refused(Call::get(items).header(CONTINUATION, token.as_str()), (400, 0), fragment).await;
    let empty = world.answered(200, ask.from("")).await;
    assert_eq!(empty.json().unwrap()["_count"], 2, "an empty one is none");
}

#[tokio::test]
async fn a_token_is_short_also_for_long_ids() {
    let world = World::new().await;
    world.container("q", &json!({})).await;
    let long = |n: usize| json!({"id": format!("{n}{}", "é".repeat(250)), "pk": "p".repeat(1000), "n": n});
    add(&world, "q", (0..3).map(long)).await;
    for query in ["SELECT c.n FROM c", "SELECT c.n FROM c ORDER BY c.n"] {
        let rows = Ask::of("q", query).by(1).rows(&world).await;
        assert_eq!(each(&rows, "n"), [0, 1, 2], "{query}");
    }
}
