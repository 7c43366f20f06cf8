//! Pages of queries: how large they are, and that each row is on one of them whatever is written between.

use crate::call::Call;
use crate::queries_ask::{Ask, add, each};
use crate::world::World;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Every way a query goes on from page to page. Rows have an `id`, or an `n`.
const WAYS: [&str; 12] = [
    "SELECT c.id, c.n FROM c",
    "SELECT c.id, c.n FROM c WHERE c.n >= 0",
    "SELECT c.id, c.n, e FROM c JOIN e IN c.l",
    "SELECT c.id, c.n FROM c ORDER BY c.n",
    "SELECT c.id, c.n FROM c ORDER BY c.n DESC",
    "SELECT c.id, c.n FROM c ORDER BY c.g DESC, c.n",
    "SELECT c.id, c.n, e FROM c JOIN e IN c.l ORDER BY e DESC",
    "SELECT DISTINCT c.n FROM c",
    "SELECT DISTINCT c.n, c.g FROM c ORDER BY c.n DESC",
    "SELECT c.n, COUNT(1) AS many FROM c GROUP BY c.n",
    "SELECT s.id, s.n FROM (SELECT c.id, c.n FROM c WHERE c.n >= 0) AS s",
    "SELECT s.id, s.n, e FROM (SELECT c.id, c.n, c.l FROM c) AS s JOIN e IN s.l",
];

/// An item that stays has an even `n`, one that comes and goes an odd one; they alternate in every order.
fn item(number: usize) -> Value {
    json!({"id": format!("{number:03}"), "pk": number / 2 % 3, "n": number, "g": number / 2 % 4, "l": [1, 2, 3]})
}

fn stays(row: &Value) -> bool {
    row["n"].as_u64().unwrap().is_multiple_of(2)
}

async fn with_items(world: &World, container: &str, count: usize) {
    let composite = json!([{"path": "/g", "order": "descending"}, {"path": "/n", "order": "ascending"}]);
    world.container(container, &json!({"indexingPolicy": {"compositeIndexes": [composite]}})).await;
    add(world, container, (0..count).map(item)).await;
}

const ARRIVALS_MAX: usize = 30;

/// Items that come and go, while pages are read.
struct Passing {
    container: &'static str,
    here: BTreeMap<u64, Value>,
    next: usize,
}

impl Passing {
    fn new(container: &'static str, count: usize) -> Self {
        let odd = (0..count).filter(|number| number % 2 == 1);
        let here = odd.map(|number| (number as u64, item(number))).collect();
        Self { container, here, next: 0 }
    }

    async fn delete(&mut self, world: &World, n: u64) {
        if let Some(item) = self.here.remove(&n) {
            let path = format!("dbs/d/colls/{}/docs/{}", self.container, item["id"].as_str().unwrap());
            world.answered(204, Call::delete(&path).partition(&format!("[{}]", item["pk"]))).await;
        }
    }

    /// The last row's item goes, and so does the first that is left; two come, but not for ever.
    async fn change(&mut self, world: &World, last: Option<&Value>) {
        if let Some(n) = last.and_then(|row| row["n"].as_u64()) {
            self.delete(world, n).await;
        }
        if let Some((&first, _)) = self.here.first_key_value() {
            self.delete(world, first).await;
        }
        for _ in 0..2 {
            self.next += 1;
            let mut new = item(self.next * 34 % 60 + 1);
            let n = new["n"].as_u64().unwrap();
            if self.here.contains_key(&n) || self.next > ARRIVALS_MAX {
                continue;
            }
            new["id"] = json!(format!("{n:03}+{}", self.next));
            add(world, self.container, [new.clone()]).await;
            self.here.insert(n, new);
        }
    }
}

/// All rows of a query, read in pages of so many while other items come and go.
async fn read_while_changing(world: &World, ask: &Ask, passing: &mut Passing) -> Vec<Value> {
    let (mut rows, mut token) = (Vec::new(), None::<String>);
    loop {
        let page = ask.page(world, token.as_deref()).await;
        passing.change(world, page.rows.last()).await;
        rows.extend(page.rows);
        assert!(rows.len() < 500, "the pages do not end");
        match page.next {
            None => return rows,
            next => token = next,
        }
    }
}

#[tokio::test]
async fn rows_that_are_there_throughout_come_once_and_in_order_whatever_comes_and_goes() {
    const COUNT: usize = 24;
    const NAMES: [&str; 2] = ["by-1", "by-4"];
    let world = World::new().await;
    for query in WAYS {
        for (container, size) in NAMES.into_iter().zip([1, 4]) {
            with_items(&world, container, COUNT).await;
            let ask = Ask::of(container, query);
            let expected: Vec<Value> = ask.rows(&world).await.into_iter().filter(stays).collect();
            assert!(expected.len() >= COUNT / 2, "{query}");
            let mut passing = Passing::new(container, COUNT);
            let found = read_while_changing(&world, &ask.by(size), &mut passing).await;
            let kept: Vec<Value> = found.into_iter().filter(stays).collect();
            assert_eq!(kept, expected, "{query} by {size}");
            world.answered(204, Call::delete(&format!("dbs/d/colls/{container}"))).await;
        }
    }
}

/// How many rows are skipped and taken does not begin again with a page.
#[tokio::test]
async fn a_window_has_its_rows_once_whatever_comes_and_goes() {
    const COUNT: usize = 24;
    let world = World::new().await;
    let windows = [
        ("SELECT c.id, c.n FROM c OFFSET 3 LIMIT 9", 9),
        ("SELECT TOP 9 c.id, c.n FROM c", 9),
        ("SELECT c.id, c.n FROM c ORDER BY c.n OFFSET 5 LIMIT 8", 8),
        ("SELECT TOP 7 c.id, c.n FROM c ORDER BY c.n DESC", 7),
        ("SELECT DISTINCT c.n FROM c OFFSET 4 LIMIT 8", 8),
        ("SELECT c.n, COUNT(1) AS many FROM c GROUP BY c.n OFFSET 2 LIMIT 7", 7),
    ];
    for (query, count) in windows {
        with_items(&world, "w", COUNT).await;
        let whole = query.split(" OFFSET").next().unwrap().replace("TOP 9 ", "").replace("TOP 7 ", "");
        let all: Vec<Value> = Ask::of("w", &whole).rows(&world).await.into_iter().filter(stays).collect();
        let found =
            read_while_changing(&world, &Ask::of("w", query).by(2), &mut Passing::new("w", COUNT)).await;
        assert_eq!(found.len(), count, "{query}");
        let kept: Vec<Value> = found.into_iter().filter(stays).collect();
        let first = all.iter().position(|row| Some(row) == kept.first()).unwrap();
        assert_eq!(kept, all[first..first + kept.len()], "{query}: none is left out in the middle");
        world.answered(204, Call::delete("dbs/d/colls/w")).await;
    }
}

#[tokio::test]
async fn pages_have_as_many_rows_as_asked_for_and_the_last_one_no_continuation() {
    let world = World::new().await;
    with_items(&world, "q", 10).await;
    for query in WAYS {
        let whole = Ask::of("q", query).pages(&world).await;
        assert_eq!(whole.len(), 1, "{query}");
        for size in [1, 3, 7] {
            let pages = Ask::of("q", query).by(size).pages(&world).await;
            let (last, full) = pages.split_last().unwrap();
            assert!(full.iter().all(|page| page.len() == size), "{query}: {pages:?}");
            assert!(!last.is_empty() && last.len() <= size, "{query}: {pages:?}");
            assert_eq!(pages.concat(), whole[0], "{query}");
        }
    }
    for query in
        ["SELECT VALUE COUNT(1) FROM c", "SELECT TOP 4 * FROM c", "SELECT TOP 4 * FROM c ORDER BY c.n"]
    {
        let pages = Ask::of("q", query).by(4).pages(&world).await;
        assert_eq!(pages.len(), 1, "{query} is done when its last row is");
    }
    assert_eq!(Ask::of("q", "SELECT TOP 0 * FROM c").pages(&world).await, [[] as [Value; 0]]);
    assert_eq!(Ask::of("q", "SELECT * FROM c OFFSET 99 LIMIT 5").rows(&world).await, [] as [Value; 0]);
}

#[tokio::test]
async fn a_page_ends_at_four_megabytes_and_a_larger_row_comes_alone() {
    const ROW: usize = 1_500_000;
    let world = World::new().await;
    world.container("big", &json!({})).await;
    let item = |n: usize| json!({"id": n.to_string(), "pk": "p", "n": n, "t": "x".repeat(ROW)});
    add(&world, "big", (0..5).map(item)).await;
    for query in [
        "SELECT c.n, c.t FROM c",
        "SELECT c.n, c.t FROM c ORDER BY c.n",
        "SELECT c.n, MAX(c.t) AS t FROM c GROUP BY c.n",
    ] {
        let pages = Ask::of("big", query).pages(&world).await;
        let sizes: Vec<usize> = pages.iter().map(Vec::len).collect();
        assert_eq!(sizes, [2, 2, 1], "{query}");
        assert_eq!(each(&pages.concat(), "n"), [0, 1, 2, 3, 4], "{query}");
    }
    for query in [
        "SELECT c.n, [c.t, c.t, c.t] AS t FROM c",
        "SELECT c.n, [c.t, c.t, c.t] AS t FROM c ORDER BY c.n DESC",
    ] {
        let pages = Ask::of("big", query).pages(&world).await;
        let sizes: Vec<usize> = pages.iter().map(Vec::len).collect();
        assert_eq!(sizes, [1; 5], "{query}");
    }
    // Small rows of large items are not large.
    assert_eq!(Ask::of("big", "SELECT VALUE c.n FROM c ORDER BY c.n").pages(&world).await.len(), 1);
}

#[tokio::test]
async fn an_item_that_was_changed_keeps_its_place() {
    let world = World::new().await;
    with_items(&world, "q", 6).await;
    let ask = Ask::of("q", "SELECT c.id, c.v FROM c ORDER BY c.n").by(2);
    let first = ask.page(&world, None).await;
    for number in [1, 3] {
        let mut changed = item(number);
        changed["v"] = json!("changed");
        world.answered(200, Call::post("dbs/d/colls/q/docs", changed.to_string()).upsert()).await;
    }
    let rest = ask.pages_from(&world, first.next.as_deref()).await.concat();
    assert_eq!(each(&rest, "id"), ["002", "003", "004", "005"]);
    assert_eq!(rest[1]["v"], "changed", "a page shows what is there when it is read");
}
