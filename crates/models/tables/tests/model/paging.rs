//! Pages: their ends, going on from them while others write, and the bounds of signatures.

use crate::world::{World, entity, key};
use orrery_tables::{EntityOperation, EntityRow, Filter, IfMatch, KeyBounds, Position, Query, Value, limits};

fn world(partitions: usize, rows: usize) -> World {
    let mut world = World::new();
    let all = (0..partitions).flat_map(|partition| {
        (0..rows).map(move |row| {
            let n = Value::Int32(row as i32);
            entity(&format!("p{partition}"), &format!("r{row:03}"), &[("n", n)])
        })
    });
    world.fill(all);
    world
}

fn names(entities: &[EntityRow]) -> Vec<String> {
    entities.iter().map(|entity| format!("{}/{}", entity.partition_key(), entity.row_key())).collect()
}

fn position(partition_key: &str, row_key: Option<&str>) -> Position {
    Position { partition_key: partition_key.to_owned(), row_key: row_key.map(str::to_owned) }
}

/// All pages of a query, going on until there are no more.
fn pages(world: &World, mut query: Query) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    loop {
        let page = world.query(&query);
        pages.push(names(&page.entities));
        assert!(pages.len() < 100, "it comes to an end");
        match page.next {
            Some(next) => query.from = Some(next),
            None => return pages,
        }
    }
}

fn filtered(text: &str) -> Query {
    Query { filter: Some(Filter::parse(text).unwrap()), ..Query::default() }
}

#[test]
fn a_page_ends_at_top_and_says_where_the_next_begins() {
    let world = world(2, 3);
    let page = world.query(&Query { top: Some(4), ..Query::default() });
    assert_eq!(names(&page.entities), ["p0/r000", "p0/r001", "p0/r002", "p1/r000"]);
    assert_eq!(page.next, Some(position("p1", Some("r001"))));
    let rest = world.query(&Query { from: page.next, ..Query::default() });
    assert_eq!(names(&rest.entities), ["p1/r001", "p1/r002"]);
    assert_eq!(rest.next, None);
    let exact = world.query(&Query { top: Some(6), ..Query::default() });
    assert_eq!((exact.entities.len(), exact.next), (6, None), "nothing is left, so nothing is to be said");
    let none = world.query(&Query { top: Some(0), ..Query::default() });
    assert_eq!((none.entities.len(), none.next), (0, None));
}

#[test]
fn pages_of_a_filter_go_on_across_its_ranges() {
    let world = world(3, 4);
    let query = filtered("PartitionKey eq 'p0' and RowKey ge 'r002' or PartitionKey eq 'p2' and n lt 3");
    let expected = ["p0/r002", "p0/r003", "p2/r000", "p2/r001", "p2/r002"];
    for top in 1..7 {
        let pages = pages(&world, Query { top: Some(top), ..query.clone() });
        assert!(pages.iter().all(|page| page.len() <= top));
        assert_eq!(pages.concat(), expected, "{top}");
    }
}

#[test]
fn a_thousand_entities_are_a_page() {
    let world = world(1, 1001);
    let page = world.query(&Query::default());
    assert_eq!(page.entities.len(), limits::PAGE_ROWS_MAX);
    assert_eq!(page.next, Some(position("p0", Some("r999"))));
    let page = world.query(&Query { top: Some(5000), ..Query::default() });
    assert_eq!(page.entities.len(), limits::PAGE_ROWS_MAX);
}

#[test]
fn a_page_ends_before_it_has_too_many_bytes() {
    let mut world = World::new();
    let large = || Value::Binary(vec![0; 64 * 1024].into());
    world.fill((0..80).map(|row| entity("p", &format!("r{row:03}"), &[("b", large())])));
    let pages = pages(&world, Query::default());
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [64, 16]);
}

#[test]
fn an_empty_page_may_go_on() {
    let mut world = World::new();
    world.fill((0..limits::PAGE_ROWS_SCANNED_MAX + 10).map(|row| entity("p", &format!("r{row:06}"), &[])));
    world.insert(entity("p", "s", &[("n", Value::Int32(1))]));
    let query = filtered("n eq 1");
    let page = world.query(&query);
    assert_eq!(page.entities.len(), 0);
    assert_eq!(page.scanned.rows, limits::PAGE_ROWS_SCANNED_MAX);
    assert!(page.next.is_some());
    assert_eq!(pages(&world, query).concat(), ["p/s"]);
}

#[test]
fn a_continuation_survives_what_others_write() {
    let mut world = world(1, 6);
    let first = world.query(&Query { top: Some(2), ..Query::default() });
    // The row it goes on from is deleted, one is added before it and one behind it.
    for gone in ["r000", "r002"] {
        world.apply(&EntityOperation::Delete(key("p0", gone), IfMatch::Any)).unwrap();
    }
    world.insert(entity("p0", "r001a", &[]));
    world.insert(entity("p0", "r003a", &[]));
    let rest = world.query(&Query { from: first.next, ..Query::default() });
    assert_eq!(names(&rest.entities), ["p0/r003", "p0/r003a", "p0/r004", "p0/r005"]);
}

#[test]
fn a_continuation_may_name_just_a_partition_and_what_never_was() {
    let world = world(3, 1);
    let from = |from: Position| names(&world.query(&Query { from: Some(from), ..Query::default() }).entities);
    assert_eq!(from(position("p1", None)), ["p1/r000", "p2/r000"]);
    assert_eq!(from(position("p1", Some("r001"))), ["p2/r000"]);
    assert_eq!(from(position("p0x", Some("zzz"))), ["p1/r000", "p2/r000"]);
    assert_eq!(from(position("", None)), ["p0/r000", "p1/r000", "p2/r000"]);
    assert_eq!(from(position("z", None)), Vec::<String>::new());
}

#[test]
fn a_query_sees_only_what_a_signature_allows() {
    let world = world(4, 3);
    let bounded = |start: Option<Position>, end: Option<Position>, filter: Option<&str>| {
        let bounds = KeyBounds { start, end };
        let filter = filter.map(|text| Filter::parse(text).unwrap());
        let found = world.query(&Query { filter, bounds: bounds.clone(), ..Query::default() }).entities;
        assert!(found.iter().all(|entity| bounds.contains(&entity.key())));
        names(&found)
    };
    let (p1, p2) = (|| Some(position("p1", None)), || Some(position("p2", None)));
    assert_eq!(bounded(p1(), p1(), None), ["p1/r000", "p1/r001", "p1/r002"]);
    assert_eq!(bounded(p1(), p2(), Some("RowKey eq 'r001'")), ["p1/r001", "p2/r001"]);
    assert_eq!(bounded(p2(), None, Some("PartitionKey eq 'p1'")), Vec::<String>::new());
    let (from, to) = (Some(position("p1", Some("r002"))), Some(position("p2", Some("r000"))));
    assert_eq!(bounded(from, to, None), ["p1/r002", "p2/r000"]);
    let keys =
        KeyBounds { start: Some(position("p1", Some("r002"))), end: Some(position("p2", Some("r000"))) };
    for (partition_key, row_key, expected) in [
        ("p1", "r001", false),
        ("p1", "r002", true),
        ("p1", "z", true),
        ("p2", "r000", true),
        ("p2", "r001", false),
    ] {
        assert_eq!(keys.contains(&key(partition_key, row_key)), expected, "{partition_key}/{row_key}");
    }
}

#[test]
fn a_page_looks_at_no_more_than_its_ranges() {
    let world = world(5, 20);
    let scanned = |text: &str| {
        let page = world.query(&filtered(text));
        (page.scanned.rows, page.scanned.ranges, page.entities.len())
    };
    assert_eq!(scanned("PartitionKey eq 'p2' and RowKey eq 'r005'"), (1, 1, 1));
    assert_eq!(scanned("PartitionKey eq 'p2' and RowKey ge 'r005' and RowKey lt 'r010'"), (5, 1, 5));
    assert_eq!(scanned("PartitionKey eq 'p2' and n eq 3"), (20, 1, 1));
    assert_eq!(scanned("PartitionKey eq 'p2' or PartitionKey eq 'p4'"), (40, 2, 40));
    assert_eq!(scanned("n eq 3"), (100, 1, 5));
    assert_eq!(scanned("PartitionKey eq 5"), (0, 0, 0));
}
