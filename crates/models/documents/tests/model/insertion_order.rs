//! Reads without an order give items as they were created, where there are not too many of them.

use crate::world::{World, epk, target};
use orrery_catalog::Container;
use orrery_core::limits;
use orrery_documents::item::{FeedScope, Items, Preconditions, Pruning, read_feed};
use orrery_documents::limits::INSERTION_ORDER_COLLECTED_MAX;
use orrery_keys::Epk;
use orrery_query::execute::{Host, Limits, page};
use orrery_query::plan::Rules;
use orrery_query::{QueryError, prepare};
use orrery_value::{Value, raw};

const ALWAYS: Preconditions = Preconditions { if_match: None, if_none_match: None };
const UNINDEXED: &str = r#""indexingPolicy":{"indexingMode":"none","automatic":false}"#;
const FEW: i64 = 40;
const MANY: i64 = INSERTION_ORDER_COLLECTED_MAX as i64 + 100;

struct Still(u64);

impl Host for Still {
    fn now_ms(&self) -> u64 {
        self.0
    }

    fn random(&self) -> f64 {
        0.5
    }

    fn elapsed_ms(&self) -> u64 {
        0
    }

    fn udf(&self, name: &str, _args: &[Value]) -> Result<Value, QueryError> {
        Err(QueryError::Refused(format!("no function {name}")))
    }
}

fn everything() -> FeedScope {
    FeedScope::Between(Epk::start(), Epk::end())
}

/// Ids that sort in another way than they come.
fn body(n: i64) -> String {
    format!(r#"{{"id":"{}","pk":{},"n":{n}}}"#, n * 7919 % 10_007, n % 3)
}

fn with_items(members: &str, count: i64) -> (World, Container) {
    let mut world = World::new();
    let container = world.container(members);
    world.create_all(&container, (0..count).map(body));
    (world, container)
}

fn number(row: &Value) -> i64 {
    match row.member("n") {
        Value::Number(number) => number.as_i64().unwrap(),
        other => panic!("{other:?} is no number"),
    }
}

/// One page of the read feed, and where the next begins.
fn feed_page(
    world: &World,
    container: &Container,
    scope: &FeedScope,
    after: Option<&[u8]>,
    items: usize,
) -> (Vec<i64>, Option<Vec<u8>>) {
    let limits = Limits { items, bytes: limits::PAGE_BYTES_MAX };
    let page = read_feed(&*world.snapshot(), container, scope, after, limits, world.now()).unwrap();
    (page.items.iter().map(|item| number(&Value::read(item.text()))).collect(), page.more_after)
}

/// The same of a query.
fn query_page(
    world: &World,
    container: &Container,
    scope: &FeedScope,
    query: &str,
    resume: Option<&[u8]>,
    items: usize,
) -> (Vec<i64>, Option<Vec<u8>>) {
    let prepared = prepare(query, &[], Rules::On).unwrap();
    let (snapshot, host) = (world.snapshot(), Still(world.now().millis()));
    let all = Items::new(&*snapshot, container, scope, &host).unwrap();
    let narrow = Pruning::of(&prepared, &[], container).restrict(all);
    let limits = Limits { items, bytes: limits::PAGE_BYTES_MAX };
    let page = page(&prepared.plan, &narrow.indexed().unwrap(), &host, resume, None, limits).unwrap();
    let text = format!("[{}]", String::from_utf8(page.rows).unwrap());
    (raw::elements(&text).map(|row| number(&Value::read(row))).collect(), page.next)
}

/// All pages, one after the other.
fn walk(mut page: impl FnMut(Option<&[u8]>) -> (Vec<i64>, Option<Vec<u8>>)) -> Vec<i64> {
    let (mut found, mut next) = (Vec::new(), None::<Vec<u8>>);
    loop {
        let (rows, more) = page(next.as_deref());
        found.extend(rows);
        match more {
            Some(more) => next = Some(more),
            None => return found,
        }
    }
}

#[test]
fn items_come_as_they_were_created() {
    for (members, count) in [("", FEW), (UNINDEXED, FEW), ("", MANY)] {
        let (mut world, container) = with_items(members, count);
        // Written again, it is where it was; what is gone is not there.
        world.upsert(&container, &body(3), ALWAYS).unwrap();
        world.delete(&container, &target(&container, "2", &(5 * 7919 % 10_007).to_string()), ALWAYS).unwrap();
        let expected: Vec<i64> = (0..count).filter(|n| *n != 5).collect();
        let of_partition: Vec<i64> = expected.iter().copied().filter(|n| n % 3 == 1).collect();
        let partition = FeedScope::Partition(epk(&container, "1"));
        for items in [7, 1000, 5000] {
            let feed = |scope: &FeedScope| walk(|after| feed_page(&world, &container, scope, after, items));
            assert_eq!(feed(&everything()), expected, "pages of {items} of {count}");
            assert_eq!(feed(&partition), of_partition, "pages of {items} of {count}");
            let query = |scope: &FeedScope, query: &str| {
                walk(|resume| query_page(&world, &container, scope, query, resume, items))
            };
            assert_eq!(query(&everything(), "SELECT * FROM c"), expected);
            assert_eq!(query(&everything(), "SELECT c.n FROM c WHERE c.n % 2 < 5"), expected);
            assert_eq!(query(&partition, "SELECT * FROM c"), of_partition);
            assert_eq!(query(&everything(), "SELECT * FROM c WHERE c.pk = 1"), of_partition);
        }
        let query = "SELECT * FROM c OFFSET 10 LIMIT 12";
        let window = walk(|resume| query_page(&world, &container, &everything(), query, resume, 5));
        assert_eq!(window, expected[10..22]);
    }
}

/// Unindexed items have no locator rows, so many of them come in the order of their keys. Whatever a sequence of pages began
/// with, it goes on with, and each item comes once.
#[test]
fn a_sequence_of_pages_goes_on_as_it_began() {
    let limit = INSERTION_ORDER_COLLECTED_MAX as i64;
    let (mut world, container) = with_items(UNINDEXED, limit);
    let query = "SELECT * FROM c";
    let scope = everything();
    let (mut rows, next) = query_page(&world, &container, &scope, query, None, 600);
    let (mut fed, more) = feed_page(&world, &container, &scope, None, 600);
    world.create_all(&container, (limit..limit + 10).map(body));
    rows.extend(query_page(&world, &container, &scope, query, next.as_deref(), 5000).0);
    fed.extend(feed_page(&world, &container, &scope, more.as_deref(), 5000).0);
    let all: Vec<i64> = (0..limit + 10).collect();
    assert_eq!((rows, fed), (all.clone(), all.clone()), "new ones come last");

    let (mut rows, next) = query_page(&world, &container, &scope, query, None, 600);
    let (mut fed, more) = feed_page(&world, &container, &scope, None, 600);
    assert!(!rows.is_sorted() && rows == fed, "now they are too many");
    let gone = |n: i64| target(&container, &(n % 3).to_string(), &(n * 7919 % 10_007).to_string());
    let later: Vec<i64> = (0..limit + 10).filter(|n| !rows.contains(n)).take(20).collect();
    later.iter().for_each(|n| drop(world.delete(&container, &gone(*n), ALWAYS).unwrap()));
    rows.extend(query_page(&world, &container, &scope, query, next.as_deref(), 5000).0);
    fed.extend(feed_page(&world, &container, &scope, more.as_deref(), 5000).0);
    assert_eq!(rows, fed);
    assert!(!rows.is_sorted());
    rows.sort_unstable();
    assert_eq!(rows, all.into_iter().filter(|n| !later.contains(n)).collect::<Vec<_>>());
}
