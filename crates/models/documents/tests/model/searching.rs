//! Items as a query sees them: in key order, from any position, as narrow as asked, and only those that are there.

use crate::world::{World, epk, target};
use orrery_catalog::Container;
use orrery_documents::item::{FeedScope, Items, Preconditions};
use orrery_keys::{Epk, prefix_range};
use orrery_query::execute::{Collection, Host, Limits, Start, page};
use orrery_query::plan::Rules;
use orrery_query::{Datum, QueryError, prepare};
use orrery_value::Value;
use std::ops::ControlFlow;

const ALWAYS: Preconditions = Preconditions { if_match: None, if_none_match: None };

/// A host at the world's time.
struct Now(u64);

impl Host for Now {
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

fn whole() -> FeedScope {
    FeedScope::Between(Epk::start(), Epk::end())
}

/// What `look` makes of the items in a scope.
fn over<T>(world: &World, container: &Container, scope: &FeedScope, look: impl FnOnce(Items<'_>) -> T) -> T {
    let (snapshot, host) = (world.snapshot(), Now(world.now().millis()));
    look(Items::new(&*snapshot, container, scope, &host).unwrap())
}

/// Positions and ids, from a start on.
fn scan(items: &Items<'_>, start: &Start) -> Vec<(Vec<u8>, String)> {
    let mut found = Vec::new();
    let all = items.scan(start, &mut |it| {
        found.push((it.position.to_vec(), it.root.member("id").as_str().unwrap().to_owned()));
        ControlFlow::Continue(())
    });
    all.unwrap();
    found
}

fn ids(items: &Items<'_>) -> Vec<String> {
    let mut ids: Vec<String> = scan(items, &Start::Beginning).into_iter().map(|(_, id)| id).collect();
    ids.sort();
    ids
}

/// The rows of a query, as one JSON array.
fn rows(world: &World, container: &Container, query: &str) -> String {
    let plan = prepare(query, &[], Rules::On).unwrap().plan;
    let host = Now(world.now().millis());
    over(world, container, &whole(), |items| {
        let page = page(&plan, &items, &host, None, None, Limits { items: 1000, bytes: usize::MAX }).unwrap();
        format!("[{}]", String::from_utf8(page.rows).unwrap())
    })
}

/// Items `0` to `19` in four partitions.
fn with_items() -> (World, Container) {
    let mut world = World::new();
    let container = world.container(r#""defaultTtl":-1"#);
    world.create_all(&container, (0..20).map(|n| format!(r#"{{"id":"{n}","pk":{},"n":{n}}}"#, n % 4)));
    (world, container)
}

#[test]
fn positions_sort_as_the_items_come_and_a_scan_begins_at_any_of_them() {
    let (world, container) = with_items();
    over(&world, &container, &whole(), |items| {
        let all = scan(&items, &Start::Beginning);
        assert_eq!(all.len(), 20);
        assert!(all.is_sorted());
        for (i, (position, _)) in all.iter().enumerate() {
            assert_eq!(scan(&items, &Start::At(position.clone())), all[i..]);
            assert_eq!(scan(&items, &Start::After(position.clone())), all[i + 1..]);
        }
        assert_eq!(scan(&items, &Start::At(Vec::new())), all);
        assert_eq!(scan(&items, &Start::At(vec![0xff; 200])), []);
    });
}

#[test]
fn a_position_is_good_after_its_item_is_gone_and_in_another_scope() {
    let (mut world, container) = with_items();
    let all = over(&world, &container, &whole(), |items| scan(&items, &Start::Beginning));
    let (position, id) = &all[7];
    let pk = (id.parse::<u32>().unwrap() % 4).to_string();
    world.delete(&container, &target(&container, &pk, id), ALWAYS).unwrap();
    over(&world, &container, &whole(), |items| {
        assert_eq!(scan(&items, &Start::At(position.clone())), all[8..]);
        assert_eq!(scan(&items, &Start::After(position.clone())), all[8..]);
    });
    let mut by_partition = Vec::new();
    for pk in ["0", "1", "2", "3"] {
        let scope = FeedScope::Partition(epk(&container, pk));
        let rest = over(&world, &container, &scope, |items| scan(&items, &Start::At(position.clone())));
        by_partition.extend(rest);
    }
    by_partition.sort();
    assert_eq!(by_partition, all[8..]);
}

#[test]
fn a_scan_ends_when_it_is_told_to() {
    let (world, container) = with_items();
    let seen = over(&world, &container, &whole(), |items| {
        let mut seen = 0;
        let stop = |_: orrery_query::execute::ScannedDocument<'_>| {
            seen += 1;
            if seen == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        items.restrict_ranges(&[(Epk::start(), Epk::end())]).scan(&Start::Beginning, &mut { stop }).unwrap();
        seen
    });
    assert_eq!(seen, 3);
}

#[test]
fn narrowing_leaves_only_what_is_named_and_in_scope() {
    let (world, container) = with_items();
    let key = |pk: &str| (epk(&container, pk), epk(&container, pk));
    let of = |pk: u32| (0..20).filter(move |n| n % 4 == pk).map(|n| n.to_string()).collect::<Vec<_>>();
    let sorted = |mut ids: Vec<String>| {
        ids.sort();
        ids
    };
    let within = |scope: &FeedScope, keys: &[(Epk, Epk)]| {
        over(&world, &container, scope, |items| ids(&items.restrict_ranges(keys)))
    };
    assert_eq!(within(&whole(), &[key("2")]), sorted(of(2)));
    let two = sorted([of(1), of(3)].concat());
    assert_eq!(within(&whole(), &[key("3"), key("1")]), two, "in any order");
    assert_eq!(within(&whole(), &[key("3"), key("1"), key("3")]), two, "and once");
    assert_eq!(within(&whole(), &[key("7")]), [""; 0]);
    assert_eq!(within(&whole(), &[]), [""; 0]);
    let everything = (Epk::start(), Epk::end());
    assert_eq!(within(&whole(), &[key("1"), everything.clone(), key("3")]).len(), 20, "overlaps are one");
    let partition = FeedScope::Partition(epk(&container, "1"));
    assert_eq!(within(&partition, &[everything]), sorted(of(1)), "a scope is not widened");
    assert_eq!(within(&partition, &[key("2")]), [""; 0]);
}

#[test]
fn single_items_are_looked_up_by_partition_and_id() {
    let (world, container) = with_items();
    let item = |pk: &str, id: &str| (epk(&container, pk), id.to_owned());
    let among = |scope: &FeedScope, items: &[(Epk, String)]| {
        over(&world, &container, scope, |all| ids(&all.restrict_ids(items)))
    };
    let named =
        [item("1", "5"), item("0", "4"), item("1", "5"), item("1", "4"), item("3", "nobody"), item("1", "1")];
    assert_eq!(among(&whole(), &named), ["1", "4", "5"]);
    assert_eq!(among(&FeedScope::Partition(epk(&container, "1")), &named), ["1", "5"]);
    // `1` is not a prefix of `11` to a lookup.
    assert_eq!(among(&whole(), &[item("3", "1")]), [""; 0]);
    assert_eq!(among(&whole(), &[item("3", "11")]), ["11"]);
}

#[test]
fn a_prefix_of_a_hierarchical_key_is_a_range_of_partitions() {
    let mut world = World::new();
    let container = world.container(r#""partitionKey":{"paths":["/a","/b"],"kind":"MultiHash","version":2}"#);
    world.create_all(&container, (0..12).map(|n| format!(r#"{{"id":"{n}","a":{},"b":{}}}"#, n % 2, n % 3)));
    let prefix = prefix_range(&epk(&container, "1"));
    let found =
        over(
            &world,
            &container,
            &whole(),
            |items| ids(&items.restrict_ranges(std::slice::from_ref(&prefix))),
        );
    assert_eq!(found, ["1", "11", "3", "5", "7", "9"]);
    let exact = epk(&container, "1,2");
    let both = over(&world, &container, &whole(), |items| {
        ids(&items.restrict_ranges(&[(exact.clone(), exact), prefix]))
    });
    assert_eq!(both, found, "a key inside the prefix adds nothing");
}

#[test]
fn other_containers_are_never_seen() {
    let (mut world, container) = with_items();
    let other = world.named_container("other", "");
    world.create_all(&other, (0..3).map(|n| format!(r#"{{"id":"other {n}","pk":{n}}}"#)));
    assert_eq!(rows(&world, &container, "SELECT VALUE COUNT(1) FROM c"), "[20]");
    assert_eq!(rows(&world, &other, "SELECT VALUE COUNT(1) FROM c"), "[3]");
}

#[test]
fn an_expired_item_is_gone_at_its_second() {
    let (mut world, container) = with_items();
    world.create(&container, r#"{"id":"brief","pk":1,"ttl":5}"#).unwrap();
    let brief = "SELECT VALUE c.id FROM c WHERE c.id = 'brief'";
    world.at(4);
    assert_eq!(rows(&world, &container, brief), r#"["brief"]"#);
    world.at(5);
    assert_eq!(rows(&world, &container, brief), "[]");
    assert_eq!(rows(&world, &container, "SELECT VALUE COUNT(1) FROM c"), "[20]");
}

#[test]
fn a_document_has_its_system_properties_and_its_text_is_the_items() {
    let mut world = World::new();
    let container = world.container("");
    let item = world.create(&container, r#"{"id":"a","pk":1, "x" : [1,  2]}"#).unwrap();
    let text = crate::world::json(&container, &item);
    over(&world, &container, &whole(), |items| {
        let mut seen = 0;
        let check = |found: orrery_query::execute::ScannedDocument<'_>| {
            seen += 1;
            assert_eq!((found.ordinal, found.part), (item.ordinal(), 0));
            assert_eq!(found.bytes, item.text_length());
            let mut written = Vec::new();
            found.root.write_json(&mut written);
            assert_eq!(String::from_utf8(written).unwrap(), text);
            let value = Value::parse(&text).unwrap();
            for name in ["id", "pk", "x", "_rid", "_self", "_etag", "_attachments", "_ts"] {
                let (member, expected) = (found.root.member(name), Datum::of(value.member(name)));
                assert!(!member.is_undefined() && member.same(&expected), "{name}: {member:?}");
            }
            assert!(found.root.member("_none").is_undefined() && found.root.member("none").is_undefined());
            ControlFlow::Continue(())
        };
        items.scan(&Start::Beginning, &mut { check }).unwrap();
        assert_eq!(seen, 1);
    });
}

#[test]
fn a_computed_property_sees_the_item_as_it_is_stored() {
    let mut world = World::new();
    let container = world.container(
        r#""computedProperties":[
            {"name":"low","query":"SELECT VALUE LOWER(c.name) FROM c"},
            {"name":"both","query":"SELECT VALUE {\"low\": c.low, \"name\": c.name} FROM c"},
            {"name":"tag","query":"SELECT VALUE IS_STRING(c._etag) FROM c"}]"#,
    );
    world.create(&container, r#"{"id":"a","pk":1,"name":"Al"}"#).unwrap();
    world.create(&container, r#"{"id":"b","pk":1}"#).unwrap();
    assert_eq!(
        rows(&world, &container, "SELECT c.id, c.low FROM c"),
        r#"[{"id":"a","low":"al"},{"id":"b"}]"#
    );
    assert_eq!(rows(&world, &container, "SELECT VALUE c.id FROM c WHERE c.low = 'al'"), r#"["a"]"#);
    let both = rows(&world, &container, "SELECT VALUE c.both FROM c WHERE c.id = 'a'");
    assert_eq!(both, r#"[{"name":"Al"}]"#, "and no other computed property");
    assert_eq!(rows(&world, &container, "SELECT VALUE c.tag FROM c"), "[true,true]");
    assert!(!rows(&world, &container, "SELECT * FROM c").contains("\"low\""));
}

#[test]
fn a_long_scan_shows_each_item_once_in_order_and_stops_when_told() {
    let mut world = World::new();
    let container = world.container("");
    world.create_all(&container, (0..3000).map(|n| format!(r#"{{"id":"{n:04}","pk":{}}}"#, n % 3)));
    over(&world, &container, &whole(), |items| {
        let all = scan(&items, &Start::Beginning);
        assert_eq!(all.len(), 3000);
        assert!(all.is_sorted_by(|a, b| a.0 < b.0), "in the order of their positions");
        for stop in [1, 511, 512, 513, 2000] {
            let mut seen = 0;
            let stopped = items.scan(&Start::After(all[10].0.clone()), &mut |it| {
                assert_eq!(it.position, all[11 + seen].0);
                seen += 1;
                if seen == stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            stopped.unwrap();
            assert_eq!(seen, stop);
        }
    });
}
