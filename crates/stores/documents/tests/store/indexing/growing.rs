//! A logical partition that grows large has entries of its own from that moment on.

use super::shelf::{Book, ENTRIES, LOCAL_ENTRIES, Shelf, everything, key, named, path, policy, walk};
use orrery_documents::item::FeedScope;
use orrery_documents::limits;
use orrery_query::access::IndexOf;

/// How many items of [`heavy`] make a partition large.
const HEAVY: u64 = 60;
/// All heavy items are in the partition of these numbers.
const PK: u64 = 3;

/// An item of the partition with so much text that sixty of them make it large.
fn heavy(n: u64) -> (Book, String) {
    let book = Book::new(n * 13 + PK);
    let mut text: serde_json::Value = serde_json::from_str(&book.text()).unwrap();
    text["filler"] = "x".repeat((limits::PARTITION_LARGE_BYTES / HEAVY) as usize).into();
    (book, text.to_string())
}

fn add(shelf: &Shelf, numbers: impl Iterator<Item = u64>) {
    let texts: Vec<String> = numbers.map(|n| heavy(n).1).collect();
    shelf.create_all(&shelf.container(), &texts);
}

/// Whether queries over the partition may use the index over a path.
fn is_used(shelf: &Shelf, steps: &[&str]) -> bool {
    let scope = FeedScope::Partition(key(&shelf.container(), PK));
    shelf.indexes(&scope, |indexes| indexes.is_some_and(|indexes| indexes.has(&path(steps))))
}

/// The ordinals in the partition's own index over `/n`.
fn numbered(shelf: &Shelf) -> Vec<u64> {
    let scope = FeedScope::Partition(key(&shelf.container(), PK));
    shelf.indexes(&scope, |indexes| walk(indexes.unwrap(), &IndexOf::Path(path(&["n"]))))
}

fn ordinals(shelf: &Shelf) -> Vec<u64> {
    let all = shelf.books().into_iter();
    all.filter(|(_, book)| book.pk() == PK).map(|(ordinal, _)| ordinal).collect()
}

#[test]
fn a_partition_that_grows_large_has_its_own_entries_at_once() {
    let shelf = Shelf::new(everything());
    shelf.fill(0..39);
    add(&shelf, 100..100 + HEAVY - 2);
    assert!(!is_used(&shelf, &["n"]), "a small partition is scanned");
    assert_eq!(shelf.rows(LOCAL_ENTRIES), 0);
    add(&shelf, [200, 201].into_iter());
    assert!(is_used(&shelf, &["n"]));
    assert_eq!(numbered(&shelf), ordinals(&shelf));
    assert!(shelf.rows(LOCAL_ENTRIES) < shelf.rows(ENTRIES), "the other partitions have none");
    shelf.agree();
    shelf.check();
    shelf.shop.store.close();
}

#[test]
fn the_entries_of_a_large_partition_follow_its_items() {
    let shelf = Shelf::new(everything());
    add(&shelf, 100..120 + HEAVY);
    let (first, _) = heavy(100);
    shelf.put(Book { version: 1, ..first }).unwrap();
    shelf.put(Book::new(900 * 13 + PK)).unwrap();
    for n in 110..120 {
        shelf.remove(heavy(n).0).unwrap();
    }
    assert!(is_used(&shelf, &["kind"]));
    assert_eq!(numbered(&shelf), ordinals(&shelf));
    shelf.agree();
    for n in 120..150 {
        shelf.remove(heavy(n).0).unwrap();
    }
    assert_ne!(shelf.rows(LOCAL_ENTRIES), 0, "it keeps them until it is empty");
    shelf.agree();
    shelf.check();
    shelf.shop.store.close();
}

#[test]
fn a_partition_that_grows_large_in_the_middle_of_a_rebuild_is_whole() {
    let shelf = Shelf::new(named());
    shelf.fill(0..2 * limits::REINDEX_ITEMS_MAX as u64);
    shelf.set_policy(policy(&["/*"], &["/filler/?"], &[]));
    shelf.shop.round().unwrap();
    add(&shelf, 1000..1000 + HEAVY);
    shelf.agree();
    assert!(is_used(&shelf, &["kind"]) && !is_used(&shelf, &["n"]));
    while shelf.progress() < 100 {
        shelf.shop.round().unwrap();
        shelf.agree();
    }
    assert_eq!(numbered(&shelf), ordinals(&shelf));
    shelf.check();
    shelf.shop.store.close();
}

#[test]
fn an_emptied_partition_is_small_again() {
    let shelf = Shelf::new(everything());
    add(&shelf, 100..100 + HEAVY);
    for n in 100..100 + HEAVY {
        shelf.remove(heavy(n).0).unwrap();
    }
    assert_eq!(shelf.rows(LOCAL_ENTRIES), 0);
    shelf.fill(0..39);
    assert!(!is_used(&shelf, &["n"]));
    assert_eq!(shelf.rows(LOCAL_ENTRIES), 0);
    shelf.agree();
    shelf.check();
    shelf.shop.store.close();
}
