//! Pages of items: each item once, whatever is written between the pages.

use crate::world::{World, Written, epk, target};
use orrery_catalog::Container;
use orrery_core::limits;
use orrery_documents::item::{FeedScope, Page, Preconditions, read_feed};
use orrery_documents::limits::PAGE_ROWS_SCANNED_MAX;
use orrery_documents::row::Row;
use orrery_documents::spaces::DOCUMENTS;
use orrery_keys::{Epk, prefix_range};
use orrery_kv::{Engine, Put, Read, Sync};
use orrery_query::execute::Limits;
use orrery_value::Value;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const ALL: Limits = Limits { items: 1000, bytes: limits::PAGE_BYTES_MAX };

fn everything() -> FeedScope {
    FeedScope::Between(Epk::start(), Epk::end())
}

fn page(
    world: &World,
    container: &Container,
    scope: &FeedScope,
    after: Option<&[u8]>,
    limits: Limits,
) -> Page {
    read_feed(&*world.snapshot(), container, scope, after, limits, world.now()).unwrap()
}

/// The member `n` of each item of a page.
fn numbers(page: &Page) -> Vec<i64> {
    let number = |text: &str| match Value::parse(text).unwrap().member("n") {
        Value::Number(number) => number.as_i64().unwrap(),
        other => panic!("{other:?} is no number"),
    };
    page.items.iter().map(|item| number(item.text())).collect()
}

/// The numbers of all items of a scope, page by page.
fn walk(world: &World, container: &Container, scope: &FeedScope, limits: Limits) -> Vec<i64> {
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = page(world, container, scope, after.as_deref(), limits);
        assert!(page.items.len() <= limits.items);
        found.extend(numbers(&page));
        match page.more_after {
            None => return found,
            Some(key) => {
                assert!(after.is_none_or(|before| before < key), "a page goes on");
                after = Some(key);
            }
        }
    }
}

fn body(n: i64) -> String {
    format!(r#"{{"id":"{n}","pk":{},"n":{n}}}"#, n % 5)
}

fn with_items(count: i64) -> (World, Container) {
    let mut world = World::new();
    let container = world.container(r#""defaultTtl":-1"#);
    world.create_all(&container, (0..count).map(body));
    (world, container)
}

#[test]
fn pages_end_at_their_number_of_items() {
    let (world, container) = with_items(20);
    for items in [1, 3, 19, 20, 21] {
        let limits = Limits { items, ..ALL };
        let found = walk(&world, &container, &everything(), limits);
        assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), 20);
        assert_eq!(found.len(), 20);
        let first = page(&world, &container, &everything(), None, limits);
        assert_eq!((first.items.len(), first.more_after.is_some()), (items.min(20), items < 20));
    }
}

#[test]
fn pages_end_before_their_number_of_bytes_but_never_empty() {
    let (world, container) = with_items(10);
    let bytes = body(1).len();
    for (limit, expected) in [
        (1, 1),
        (bytes, 1),
        (2 * bytes - 1, 1),
        (2 * bytes, 2),
        (3 * bytes, 3),
        (10 * bytes, 10),
        (1 << 30, 10),
    ] {
        let first = page(&world, &container, &everything(), None, Limits { bytes: limit, items: 100 });
        assert_eq!(first.items.len(), expected, "items of {bytes} bytes in a page of {limit}");
        assert_eq!(first.more_after.is_some(), expected < 10);
    }
    assert_eq!(walk(&world, &container, &everything(), Limits { bytes: 1, items: 100 }).len(), 10);
}

#[test]
fn an_empty_scope_is_one_empty_page() {
    let (world, container) = with_items(5);
    let nobody = FeedScope::Partition(epk(&container, "\"nobody\""));
    let backwards = FeedScope::Between(Epk::end(), Epk::start());
    for scope in [nobody, backwards] {
        let page = page(&world, &container, &scope, None, ALL);
        assert!(page.items.is_empty() && page.more_after.is_none());
    }
}

#[test]
fn a_partition_has_its_own_items_in_the_order_of_their_creation() {
    let (world, container) = with_items(20);
    let scope = FeedScope::Partition(epk(&container, "3"));
    let expected = vec![3, 8, 13, 18];
    assert_eq!(walk(&world, &container, &scope, ALL), expected);
    assert_eq!(walk(&world, &container, &scope, Limits { items: 1, ..ALL }), expected);
}

#[test]
fn a_partition_key_that_begins_like_another_is_another_partition() {
    let mut world = World::new();
    let container = world.container(r#""partitionKey":{"paths":["/pk"],"kind":"Hash","version":1}"#);
    let keys = [r#""""#, r#""a""#, r#""aa""#, r#""a\u0000""#, r#""a\u0000\u0000""#, "null", "0", "1", "true"];
    world.create_all(
        &container,
        keys.iter().enumerate().map(|(n, key)| format!(r#"{{"id":"x","pk":{key},"n":{n}}}"#)),
    );
    for (n, key) in keys.iter().enumerate() {
        let scope = FeedScope::Partition(epk(&container, key));
        assert_eq!(walk(&world, &container, &scope, ALL), [n as i64], "{key}");
    }
}

#[test]
fn a_prefix_of_a_hierarchical_key_covers_what_is_below_it() {
    let mut world = World::new();
    let container =
        world.container(r#""partitionKey":{"paths":["/t","/u","/v"],"kind":"MultiHash","version":2}"#);
    let bodies =
        (0..27).map(|n| format!(r#"{{"id":"{n}","t":{},"u":{},"v":{},"n":{n}}}"#, n / 9, n / 3 % 3, n % 3));
    world.create_all(&container, bodies);
    let check = |prefix: &str, expected: Vec<i64>| {
        let (min, max) = prefix_range(&epk(&container, prefix));
        let found = walk(&world, &container, &FeedScope::Between(min, max), Limits { items: 4, ..ALL });
        assert_eq!(found.len(), expected.len(), "{prefix}");
        assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected.into_iter().collect());
    };
    check("1", (9..18).collect());
    check("1,2", vec![15, 16, 17]);
    check("1,2,0", vec![15]);
    check("7", vec![]);
}

#[test]
fn a_page_that_meets_only_expired_items_ends_and_goes_on() {
    let (mut world, container) = with_items(1);
    let old = world.create(&container, r#"{"id":"old","pk":9,"ttl":1,"n":-1}"#).unwrap();
    let (partition, count) = (epk(&container, "9"), PAGE_ROWS_SCANNED_MAX + 1);
    let put = |n: usize| {
        let id = format!("old{n}");
        let key = Row::Item { container: container.number(), epk: partition.as_bytes(), id: &id }.key();
        Put { space: DOCUMENTS, key, value: Some(old.bytes().clone()) }
    };
    world.engine.write((0..count).map(put).collect(), Sync::Data).unwrap();
    world.at(1);
    world.create(&container, r#"{"id":"young","pk":9,"n":7}"#).unwrap();
    let scope = FeedScope::Partition(partition);
    let first = page(&world, &container, &scope, None, ALL);
    assert!(first.items.is_empty() && first.more_after.is_some());
    assert_eq!(walk(&world, &container, &scope, ALL), [7]);
}

/// What happens between two pages.
#[derive(Clone, Debug)]
enum Step {
    Put(i64),
    Delete(i64),
}

fn steps() -> impl Strategy<Value = Vec<Vec<Step>>> {
    let number = 0..40i64;
    let step = prop_oneof![number.clone().prop_map(Step::Put), number.prop_map(Step::Delete)];
    prop::collection::vec(prop::collection::vec(step, 0..6), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn an_item_that_was_there_throughout_is_seen_exactly_once(
        first in prop::collection::btree_set(0..40i64, 0..30), steps in steps(), items in 1usize..6, bytes in 1usize..200,
    ) {
        let mut world = World::new();
        let container = world.container("");
        world.create_all(&container, first.iter().map(|n| body(*n)));
        // An item that is deleted and created again is another one, and may be seen again.
        let mut made: BTreeMap<i64, usize> = first.iter().map(|n| (*n, 1)).collect();
        let mut throughout = first;
        let mut seen: BTreeMap<i64, usize> = BTreeMap::new();
        let (mut after, mut steps) = (None, steps.into_iter());
        loop {
            let page = page(&world, &container, &everything(), after.as_deref(), Limits { items, bytes });
            numbers(&page).into_iter().for_each(|n| *seen.entry(n).or_default() += 1);
            let Some(key) = page.more_after else { break };
            after = Some(key);
            for step in steps.next().unwrap_or_default() {
                match step {
                    Step::Put(n) => {
                        let written = world.upsert(&container, &body(n), Preconditions::default()).unwrap();
                        *made.entry(n).or_default() += usize::from(matches!(written, Written::Created(_)));
                    }
                    Step::Delete(n) => {
                        throughout.remove(&n);
                        let place = target(&container, &(n % 5).to_string(), &n.to_string());
                        let _ = world.delete(&container, &place, Preconditions::default());
                    }
                }
            }
        }
        prop_assert!(throughout.iter().all(|n| seen.get(n) == Some(&1)), "{:?} of {:?}", seen, throughout);
        prop_assert!(seen.iter().all(|(n, times)| made.get(n) >= Some(times)), "{:?} of {:?}", seen, made);
    }

    #[test]
    fn bounds_cut_the_items_as_their_keys_lie(version in 1..=2, cuts in prop::collection::btree_set(0..12usize, 0..4)) {
        let mut world = World::new();
        let container = world.container(&format!(r#""partitionKey":{{"paths":["/pk"],"version":{version}}}"#));
        let keys = ["null", "0", "1", "-1", "true", r#""""#, r#""a""#, r#""a\u0000b""#, "1e300", "0.5", "false", r#""é""#];
        world.create_all(&container, keys.iter().enumerate().map(|(n, key)| format!(r#"{{"id":"{n}","pk":{key},"n":{n}}}"#)));
        let place = |n: usize| epk(&container, keys[n]);
        let mut bounds: Vec<Epk> = cuts.into_iter().map(place).chain([Epk::start(), Epk::end()]).collect();
        bounds.sort();
        let mut found = Vec::new();
        for ends in bounds.windows(2) {
            let inside = walk(&world, &container, &FeedScope::Between(ends[0].clone(), ends[1].clone()), ALL);
            let expected: BTreeSet<i64> =
                (0..keys.len()).filter(|n| ends[0] <= place(*n) && place(*n) < ends[1]).map(|n| n as i64).collect();
            prop_assert_eq!(&inside.iter().copied().collect::<BTreeSet<_>>(), &expected);
            found.extend(inside);
        }
        prop_assert_eq!(found.len(), keys.len());
        prop_assert_eq!(walk(&world, &container, &everything(), ALL).len(), keys.len());
    }
}

#[test]
fn a_position_outside_the_scope_reads_nothing_foreign() {
    let (mut world, container) = with_items(5);
    let other = world.named_container("other", "");
    world.create(&other, r#"{"id":"x","pk":1,"n":99}"#).unwrap();
    let beyond = page(&world, &container, &everything(), Some(&[0xff; 8]), ALL);
    assert!(beyond.items.is_empty() && beyond.more_after.is_none());
    let before = page(&world, &other, &everything(), Some(&[0]), ALL);
    assert_eq!(numbers(&before), [99]);
    assert!(world.snapshot().get(DOCUMENTS, &[0]).unwrap().is_none());
}
