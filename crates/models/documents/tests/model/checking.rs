//! A check finds every row that is damaged, and nothing where none is.

use crate::world::{World, epk, prepared};
use bytes::Bytes;
use orrery_catalog::Container;
use orrery_core::Lsn;
use orrery_documents::index::{self, Fault, Finding, LogOwners};
use orrery_documents::item::{self, Directive, Preconditions};
use orrery_documents::row::{self, Row};
use orrery_documents::spaces::{DOCUMENTS, INDEX, OVERFLOW};
use orrery_kv::{KeyRange, META, Order, Read, overflow_key};

const ALWAYS: Preconditions = Preconditions { if_match: None, if_none_match: None };

const MEMBERS: &str = r#""defaultTtl":-1,
    "uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/email"]}]},
    "indexingPolicy":{
        "includedPaths":[{"path":"/*"}],
        "compositeIndexes":[[{"path":"/n","order":"ascending"},{"path":"/pk","order":"descending"}]],
        "spatialIndexes":[{"path":"/at/*","types":["Point"]}]}"#;

/// The tag of each kind of row, after the container's number.
const UNIQUE: u8 = 1;
const EXPIRY: u8 = 2;
const PARTITION: u8 = 3;
const PLACE: u8 = 4;
const ENTRY: u8 = 5;
const LOCAL_ENTRY: u8 = 6;
const TALLY: u8 = 7;

/// A container with every kind of row: a small partition and a large one.
fn full() -> (World, Container) {
    let mut world = World::new();
    let container = world.container(MEMBERS);
    let place = r#"{"type":"Point","coordinates":[8.5,47.4]}"#;
    let small =
        format!(r#"{{"id":"a","pk":"small","email":"a","n":1,"ttl":60,"tags":["x","y"],"at":{place}}}"#);
    world.create(&container, &small).unwrap();
    world.create(&container, r#"{"id":"b","pk":"small","email":"b","n":2}"#).unwrap();
    let long = "z".repeat(600 * 1024);
    world.create(&container, &format!(r#"{{"id":"c","pk":"large","email":"a","long":"{long}"}}"#)).unwrap();
    world.create(&container, r#"{"id":"d","pk":"large","email":"b","n":null,"ttl":90}"#).unwrap();
    (world, container)
}

fn findings(world: &World, container: &Container) -> Vec<Finding> {
    index::check_container(&*world.snapshot(), container).unwrap().findings
}

fn faults(world: &World, container: &Container) -> Vec<Fault> {
    findings(world, container).iter().map(|finding| finding.fault).collect()
}

fn rows(world: &World, container: &Container, tag: u8) -> Vec<(Bytes, Bytes)> {
    let snapshot = world.snapshot();
    let rows = snapshot.range(INDEX, &row::of_container(container.number()), Order::Ascending);
    rows.map(|row| row.unwrap()).filter(|(key, _)| key[4] == tag).collect()
}

/// What is found after a change to a full container.
fn after(change: impl FnOnce(&mut World, &Container)) -> Vec<Fault> {
    let (mut world, container) = full();
    change(&mut world, &container);
    faults(&world, &container)
}

/// What is found after a row was put into a full container.
fn after_put(key: Bytes, value: &[u8]) -> Vec<Fault> {
    let value = Bytes::copy_from_slice(value);
    after(|world, _| world.edit(|txn| txn.put(INDEX, key, value)))
}

#[test]
fn rows_that_agree_are_counted_and_nothing_is_found() {
    let (world, container) = full();
    let checked = index::check_container(&*world.snapshot(), &container).unwrap();
    assert_eq!(checked.findings, []);
    let entries = rows(&world, &container, ENTRY).len() + rows(&world, &container, LOCAL_ENTRY).len();
    assert_eq!((checked.items, checked.entries), (4, entries as u64));
    for tag in [UNIQUE, EXPIRY, PARTITION, PLACE, ENTRY, LOCAL_ENTRY, TALLY] {
        assert!(!rows(&world, &container, tag).is_empty(), "there are rows of kind {tag}");
    }
    assert_eq!(index::check_owners(&*world.snapshot(), &world.catalog(), &LogOwners::new()).unwrap(), []);
}

#[test]
fn an_empty_container_is_in_order() {
    let mut world = World::new();
    let container = world.container("");
    assert_eq!(faults(&world, &container), []);
}

/// Every row of the kind is removed alone.
fn each_removed(tag: u8, expected: &[Fault]) {
    let (world, container) = full();
    for (key, _) in rows(&world, &container, tag) {
        let mut world = world.restarted();
        world.edit(|txn| txn.delete(INDEX, key.clone()));
        assert_eq!(faults(&world, &container), expected, "without {key:?}");
    }
}

#[test]
fn every_row_that_is_gone_is_missed() {
    each_removed(UNIQUE, &[Fault::MissingUnique]);
    each_removed(EXPIRY, &[Fault::MissingExpiry]);
    each_removed(ENTRY, &[Fault::MissingEntry]);
    each_removed(LOCAL_ENTRY, &[Fault::MissingLocalEntry]);
}

#[test]
fn a_place_that_is_gone_leaves_entries_of_nobody() {
    let (mut world, container) = full();
    let (key, _) = rows(&world, &container, PLACE).remove(0);
    world.edit(|txn| txn.delete(INDEX, key));
    let found = findings(&world, &container);
    let faults: Vec<Fault> = found.iter().map(|finding| finding.fault).collect();
    assert_eq!(faults, [Fault::LostLocator, Fault::SurplusEntry, Fault::WrongTally]);
    assert!(found[0].to_string().contains("item \"a\" (number 1)"), "{}", found[0]);
    assert!(found[2].to_string().contains("indexed items of the container: 4 instead of 3"), "{}", found[2]);
}

#[test]
fn a_size_that_is_gone_or_wrong_is_found() {
    let remove = |pk: &'static str| {
        after(move |world, container| {
            let key =
                Row::Partition { container: container.number(), epk: epk(container, pk).as_bytes() }.key();
            world.edit(|txn| txn.delete(INDEX, key));
        })
    };
    assert_eq!(remove("\"small\""), [Fault::WrongSize]);
    let large = remove("\"large\"");
    assert_eq!(large, [Fault::SurplusLocalEntry, Fault::WrongSize, Fault::SurplusTally]);
    let (world, container) = full();
    for (key, value) in rows(&world, &container, PARTITION) {
        for at in [7, 15] {
            let mut value = value.to_vec();
            value[at] ^= 1;
            assert_eq!(after_put(key.clone(), &value), [Fault::WrongSize]);
        }
        assert!(after_put(key, &value[..5]).contains(&Fault::WrongSize));
    }
}

#[test]
fn a_count_that_is_too_large_is_found_and_one_too_small_only_where_it_may_not_be() {
    let (world, container) = full();
    for (key, value) in rows(&world, &container, TALLY) {
        for (at, field) in value.chunks(16).enumerate() {
            let changed = |by: i8| {
                let mut value = value.to_vec();
                value[at * 16 + 15] = value[at * 16 + 15].wrapping_add_signed(by);
                after_put(key.clone(), &value)
            };
            assert_eq!(changed(1), [Fault::WrongTally]);
            assert_eq!(after_put(key.clone(), &value[..at * 16 + 8]).last(), Some(&Fault::WrongTally));
            let is_exact = field[..8] <= [0, 0, 0, 0, 0, 0, 0, 1][..];
            assert_eq!(changed(-1), if is_exact { vec![Fault::WrongTally] } else { vec![] });
        }
    }
    assert_eq!(
        after_put(Row::Tally { container: container.number(), epk: None }.key(), &[]),
        [Fault::WrongTally]
    );
}

#[test]
fn a_place_that_tells_of_elsewhere_is_found() {
    let (world, container) = full();
    for (key, value) in rows(&world, &container, PLACE) {
        let mut other_generation = value.to_vec();
        other_generation[0] += 1;
        let other_id = [&value[..value.len() - 1], b"?"].concat();
        for value in [&other_generation[..], &other_id, &[]] {
            assert!(after_put(key.clone(), value).contains(&Fault::WrongLocator), "{value:?}");
        }
    }
}

#[test]
fn entries_that_no_item_asks_for_are_found() {
    let (world, container) = full();
    let (number, small, large) =
        (container.number(), epk(&container, "\"small\""), epk(&container, "\"large\""));
    let (small, large) = (small.as_bytes(), large.as_bytes());
    let (key, _) = rows(&world, &container, ENTRY).remove(0);
    let known = &key[5..key.len() - 12];
    for (term, ordinal, epk) in
        [(known, 77, small), (&b"no such term"[..], 1, small), (known, 1, large), (known, 4, &[][..])]
    {
        let key = Row::Entry { container: number, term, ordinal, epk }.key();
        assert_eq!(after_put(key, &[]), [Fault::SurplusEntry], "{term:?} {ordinal}");
    }
    for (term, ordinal, epk) in [(known, 1, small), (known, 77, large), (&b"none"[..], 4, large)] {
        let key = Row::LocalEntry { container: number, epk, term, ordinal }.key();
        assert_eq!(after_put(key, &[]), [Fault::SurplusLocalEntry], "{term:?} {ordinal}");
    }
}

#[test]
fn an_entry_for_another_is_found_on_both_sides() {
    let (world, container) = full();
    let (key, _) = rows(&world, &container, ENTRY).remove(0);
    let found = after(|world, _| {
        world.edit(|txn| {
            txn.delete(INDEX, key.clone());
            let ordinal = key.len() - 5;
            let mut other = key.to_vec();
            other[ordinal] = 99;
            txn.put(INDEX, other, Bytes::new());
        });
    });
    assert_eq!(found, [Fault::MissingEntry, Fault::SurplusEntry]);
}

#[test]
fn other_rows_that_no_item_asks_for_are_found() {
    let (world, container) = full();
    let (number, small) = (container.number(), epk(&container, "\"small\""));
    let (nobody, small) = (epk(&container, "\"nobody\""), small.as_bytes());
    let (_, place) = rows(&world, &container, PLACE).remove(0);
    assert_eq!(
        after_put(Row::Locator { container: number, ordinal: 77 }.key(), &place),
        [Fault::SurplusLocator]
    );
    let unique = |key, values| Row::Unique { container: number, epk: small, key, values }.key();
    assert_eq!(after_put(unique(0, b"nobody's"), b"a"), [Fault::SurplusUnique]);
    assert_eq!(after_put(unique(7, b""), b"a"), [Fault::SurplusUnique]);
    let size = [[0, 0, 0, 0, 0, 0, 0, 1]; 2].concat();
    let size = [&size[..], &[0]].concat();
    let partition = Row::Partition { container: number, epk: nobody.as_bytes() }.key();
    assert_eq!(after_put(partition, &size), [Fault::SurplusSize]);
    let tally = Row::Tally { container: number, epk: Some(small) }.key();
    assert_eq!(after_put(tally, &[1; 16]), [Fault::SurplusTally]);
}

#[test]
fn a_unique_value_that_another_item_holds_is_found() {
    let (world, container) = full();
    let (key, _) = rows(&world, &container, UNIQUE).remove(0);
    assert_eq!(after_put(key, b"someone"), [Fault::MissingUnique, Fault::SurplusUnique]);
}

#[test]
fn an_item_that_is_gone_leaves_all_its_rows_behind() {
    let found = after(|world, container| {
        let small = epk(container, "\"small\"");
        let key = Row::Item { container: container.number(), epk: small.as_bytes(), id: "a" }.key();
        world.edit(|txn| txn.delete(DOCUMENTS, key));
    });
    let expected = [
        Fault::SurplusLocator,
        Fault::SurplusEntry,
        Fault::SurplusUnique,
        Fault::WrongSize,
        Fault::WrongTally,
    ];
    assert_eq!(found, expected);
}

#[test]
fn items_that_are_damaged_or_lie_elsewhere_are_found() {
    let change = |change: fn(&mut Vec<u8>)| {
        after(move |world, container| {
            let small = epk(container, "\"small\"");
            let key = Row::Item { container: container.number(), epk: small.as_bytes(), id: "b" }.key();
            let mut value = world.snapshot().get(DOCUMENTS, &key).unwrap().unwrap().to_vec();
            change(&mut value);
            world.edit(|txn| txn.put(DOCUMENTS, key, value));
        })
    };
    assert!(change(|value| value[0] = 9).contains(&Fault::DamagedItem));
    assert!(change(|value| value.truncate(20)).contains(&Fault::DamagedItem));
    // The text begins at byte 50: {"id":"b","pk":"small",…
    assert!(change(|value| value[57] = b'x').contains(&Fault::MisplacedItem));
    assert!(change(|value| value[67] = b'x').contains(&Fault::MisplacedItem));
}

#[test]
fn texts_that_are_missing_or_too_many_are_found() {
    let (mut world, container) = full();
    let found = |world: &World| {
        let findings = index::check_texts(&*world.snapshot(), &LogOwners::new()).unwrap();
        findings.iter().map(|finding| (finding.fault, finding.count)).collect::<Vec<_>>()
    };
    let texts = |world: &World| {
        let snapshot = world.snapshot();
        let rows = snapshot.range(OVERFLOW, &KeyRange::all(), Order::Ascending);
        rows.map(|row| row.unwrap().0).collect::<Vec<Bytes>>()
    };
    assert_eq!((found(&world), texts(&world).len()), (vec![], 1));
    let long = "y".repeat(20_000);
    let body = format!(r#"{{"id":"c","pk":"large","email":"a","long":"{long}"}}"#);
    world.upsert(&container, &body, Preconditions::default()).unwrap();
    assert_eq!((found(&world), texts(&world).len()), (vec![], 2), "the log has the one that was replaced");
    let [replaced, current] = texts(&world).try_into().unwrap();
    let surplus = overflow_key(Lsn(1_000_000), 1);
    world.edit(|txn| txn.put(OVERFLOW, surplus, Bytes::from_static(b"nobody's")));
    assert_eq!(found(&world), [(Fault::SurplusText, 1)]);
    let large = epk(&container, "\"large\"");
    let key = |id| Row::Item { container: container.number(), epk: large.as_bytes(), id }.key();
    let row = world.snapshot().get(DOCUMENTS, &key("c")).unwrap().unwrap();
    world.edit(|txn| txn.put(DOCUMENTS, key("same text"), row));
    assert_eq!(found(&world), [(Fault::SurplusText, 1), (Fault::SharedText, 1)]);
    world.edit(|txn| txn.delete(DOCUMENTS, key("same text")));
    world.edit(|txn| txn.delete(OVERFLOW, replaced));
    assert_eq!(found(&world), [(Fault::MissingText, 1), (Fault::SurplusText, 1)]);
    assert_eq!(faults(&world, &container), [], "every item has its text");
    world.edit(|txn| txn.delete(OVERFLOW, current));
    assert_eq!(found(&world), [(Fault::MissingText, 2), (Fault::SurplusText, 1)]);
    assert!(faults(&world, &container).contains(&Fault::DamagedItem));
}

#[test]
fn rows_of_no_known_kind_and_of_no_container_are_found() {
    let (mut world, container) = full();
    let strange = [&container.number().to_be_bytes()[..], &[9, 1]].concat();
    assert_eq!(after_put(strange.into(), &[]), [Fault::StrangeRow]);
    let expiry = [&container.number().to_be_bytes()[..], &[EXPIRY, 1]].concat();
    assert_eq!(after_put(expiry.into(), &[]), [Fault::StrangeRow]);
    world.edit(|txn| {
        txn.put(INDEX, Row::Locator { container: 999, ordinal: 1 }.key(), Bytes::new());
        txn.put(DOCUMENTS, Bytes::from_static(&[1]), Bytes::new());
    });
    let found = index::check_owners(&*world.snapshot(), &world.catalog(), &LogOwners::new()).unwrap();
    let said: Vec<String> = found.iter().map(Finding::to_string).collect();
    assert_eq!(said.len(), 1);
    assert!(
        said[0].ends_with(": 2, such as no number in the space documents; number 999 in the space index"),
        "{said:?}"
    );
}

#[test]
fn a_container_without_its_mark_is_found() {
    let found = after(|world, container| {
        world.edit(|txn| {
            txn.delete(META, orrery_catalog::row::Row::Alive { container: container.number() }.key())
        });
    });
    assert_eq!(found, [Fault::NotAlive]);
}

#[test]
fn whatever_happens_to_items_leaves_nothing_to_find() {
    let (mut world, container) = full();
    let target = |pk: &str, id: &str| crate::world::target(&container, pk, id);
    world.upsert(&container, r#"{"id":"a","pk":"small","email":"a","n":[1,{"m":2}]}"#, ALWAYS).unwrap();
    let renamed = r#"{"id":"bb","pk":"small","email":"b2"}"#;
    world.replace(&container, &target("\"small\"", "b"), renamed, ALWAYS).unwrap();
    world.delete(&container, &target("\"large\"", "c"), ALWAYS).unwrap();
    let (left_out, stamp, ordinal) = (
        prepared(&container, r#"{"id":"e","pk":"small","email":"e"}"#).indexed(Directive::Exclude),
        world.stamp(),
        world.ordinal(),
    );
    world.txn(|txn| item::create(txn, &container, &left_out, stamp, || ordinal)).unwrap();
    assert_eq!(findings(&world, &container), []);
    world.delete(&container, &target("\"large\"", "d"), ALWAYS).unwrap();
    assert_eq!(findings(&world, &container), []);
    assert!(rows(&world, &container, LOCAL_ENTRY).is_empty());
}

#[test]
fn a_container_that_is_being_indexed_anew_is_in_order() {
    let (mut world, _) = full();
    let less = MEMBERS.replace(
        r#""includedPaths":[{"path":"/*"}]"#,
        r#""includedPaths":[{"path":"/n/?"}],"excludedPaths":[{"path":"/*"}]"#,
    );
    let changed = world.replace_container(&less).unwrap();
    assert!(!changed.generations().is_settled());
    assert_eq!(findings(&world, &changed), []);
    world.upsert(&changed, r#"{"id":"a","pk":"small","email":"a","n":7,"m":7}"#, ALWAYS).unwrap();
    assert_eq!(findings(&world, &changed), []);
}
