//! What no item asks for any more leaves no rows.

use super::shelf::{
    Book, ENTRIES, LOCAL_ENTRIES, PLACES, Shelf, TALLIES, composites, everything, named, nothing, rows_of,
};
use orrery_documents::limits;

fn heavy(number: u64) -> String {
    let mut text: serde_json::Value = serde_json::from_str(&Book::new(number).text()).unwrap();
    text["filler"] = "x".repeat(20_000).into();
    text.to_string()
}

/// Small partitions and a large one.
fn filled(policy: serde_json::Value) -> Shelf {
    let shelf = Shelf::new(policy);
    shelf.fill(0..120);
    let large: Vec<String> = (20..60).map(|n| heavy(n * 13 + 3)).collect();
    const { assert!(40 * 20_000 > limits::PARTITION_LARGE_BYTES) };
    shelf.create_all(&shelf.container(), &large);
    shelf
}

fn index_rows(shelf: &Shelf) -> [usize; 3] {
    [PLACES, ENTRIES, LOCAL_ENTRIES].map(|tag| shelf.rows(tag))
}

#[test]
fn no_index_is_no_rows_before_and_after_there_was_one() {
    let shelf = filled(nothing());
    assert_eq!(index_rows(&shelf), [0; 3]);
    shelf.set_policy(composites());
    shelf.shop.settle();
    assert_eq!(shelf.rows(PLACES), 160);
    assert!(shelf.rows(ENTRIES) > 1000 && shelf.rows(LOCAL_ENTRIES) > 300, "{:?}", index_rows(&shelf));
    shelf.set_policy(nothing());
    shelf.shop.settle();
    assert_eq!(index_rows(&shelf), [0; 3]);
    shelf.agree();
    shelf.check();
    shelf.shop.store.close();
}

#[test]
fn a_rebuild_leaves_what_a_new_container_would_have() {
    let (changed, new) = (filled(everything()), filled(named()));
    changed.set_policy(named());
    changed.shop.settle();
    assert_eq!(index_rows(&changed), index_rows(&new));
    changed.shop.store.close();
    new.shop.store.close();
}

#[test]
fn deleting_every_item_leaves_no_row() {
    let shelf = filled(composites());
    assert!(shelf.rows(TALLIES) == 2, "of the container and of the large partition");
    for book in shelf.books().into_values() {
        shelf.remove(book).unwrap();
    }
    assert_eq!(rows_of(&*shelf.shop.store.snapshot(), shelf.container().number(), None), 0);
    shelf.agree();
    shelf.shop.store.close();
}

#[test]
fn deleting_every_item_in_the_middle_of_a_rebuild_leaves_no_row() {
    let shelf = filled(composites());
    shelf.set_policy(named());
    for book in shelf.books().into_values().take(80) {
        shelf.remove(book).unwrap();
    }
    shelf.shop.round().unwrap();
    for book in shelf.books().into_values() {
        shelf.remove(book).unwrap();
    }
    assert_eq!(rows_of(&*shelf.shop.store.snapshot(), shelf.container().number(), None), 0);
    shelf.shop.settle();
    assert_eq!(shelf.progress(), 100);
    shelf.shop.store.close();
}

#[test]
fn a_dropped_container_leaves_no_row_and_its_neighbour_keeps_all() {
    let shelf = filled(composites());
    shelf.create("other", everything());
    let other = shelf.shop.container("other");
    shelf.create_all(&other, &[heavy(3), heavy(16)]);
    let kept = rows_of(&*shelf.shop.store.snapshot(), other.number(), None);
    let doomed = shelf.container().number();
    shelf.set_policy(named());
    shelf.shop.round().unwrap();
    shelf.shop.drop_container("c");
    shelf.shop.settle();
    let snapshot = shelf.shop.store.snapshot();
    assert_eq!(rows_of(&*snapshot, doomed, None), 0);
    assert_eq!(rows_of(&*snapshot, other.number(), None), kept);
    assert_eq!(orrery_documents::sweep::jobs(&*snapshot).unwrap(), []);
    shelf.shop.store.close();
}
