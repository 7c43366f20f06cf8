//! A change of the policy and the writes and queries that meet it.

use super::shelf::{
    Book, ENTRIES, Now, PLACES, Shelf, agree, composites, everything, named, nothing, target,
};
use crate::shop::prepared;
use orrery_catalog::limits;
use orrery_document_store::WriteError;
use orrery_documents::catalog::{CatalogError, Container};
use orrery_documents::item::Directive;
use orrery_documents::limits::INDEX_TERMS_MAX;
use orrery_kv::limits::TALLY_FIELDS_MAX;

#[test]
fn a_write_decided_before_a_change_is_refused_and_taken_when_decided_again() {
    let shelf = Shelf::new(everything());
    shelf.fill(0..40);
    let old = shelf.container();
    let new = shelf.set_policy(named());
    let [known, fresh] = [Book { number: 3, version: 1 }, Book::new(50)];
    let shop = &shelf.shop;
    check_refused(&shelf, &old, known, fresh);
    // The items may be entered already in a way that the old container does not know.
    shelf.put(Book { number: 3, version: 2 }).unwrap();
    check_refused(&shelf, &old, known, fresh);
    shelf.shop.settle();
    check_refused(&shelf, &old, known, fresh);
    assert_eq!(shelf.books().len(), 40, "nothing of them is left");
    shop.create(&new, &prepared(&new, &fresh.text())).unwrap();
    shop.upsert(&new, &prepared(&new, &known.text())).unwrap();
    shop.replace(&new, &target(&new, known), &prepared(&new, &known.text())).unwrap();
    shop.delete(&new, &target(&new, known)).unwrap();
    shelf.agree();
    shelf.check();
    shelf.shop.store.close();
}

/// Every kind of write is refused that goes by what the container was.
fn check_refused(shelf: &Shelf, old: &Container, known: Book, fresh: Book) {
    let shop = &shelf.shop;
    let (known, fresh) = ((prepared(old, &known.text()), target(old, known)), prepared(old, &fresh.text()));
    let refused = [
        shop.create(old, &fresh),
        shop.upsert(old, &known.0),
        shop.replace(old, &known.1, &known.0),
        shop.delete(old, &known.1),
    ];
    for answer in refused {
        assert!(matches!(answer, Err(WriteError::PreconditionFailed)), "{answer:?}");
    }
}

#[test]
fn a_change_that_indexes_the_same_refuses_nobody_and_rebuilds_nothing() {
    let shelf = Shelf::new(composites());
    shelf.fill(0..40);
    let old = shelf.container();
    shelf.set_policy(composites());
    assert_eq!(shelf.progress(), 100);
    shelf.shop.create(&old, &prepared(&old, &Book::new(50).text())).unwrap();
    shelf.agree();
    shelf.shop.store.close();
}

#[test]
fn every_policy_follows_every_other() {
    let policies = [nothing(), everything(), composites(), named()];
    for from in &policies {
        for to in &policies {
            let shelf = Shelf::new(from.clone());
            shelf.fill(0..60);
            shelf.agree();
            shelf.set_policy(to.clone());
            shelf.put(Book { number: 7, version: 1 }).unwrap();
            shelf.put(Book::new(70)).unwrap();
            shelf.remove(Book::new(8)).unwrap();
            shelf.agree();
            shelf.shop.settle();
            shelf.agree();
            shelf.check();
            assert_eq!(shelf.has(&["kind"]), *to != nothing());
            shelf.shop.store.close();
        }
    }
}

/// A query takes the container from the catalog and the items from a snapshot, a moment apart.
#[test]
fn a_query_is_right_with_a_container_and_a_snapshot_of_different_moments() {
    let shelf = Shelf::new(everything());
    shelf.fill(0..60);
    let store = &shelf.shop.store;
    let host = Now(store.env().now().millis());
    let mut moments = vec![(store.snapshot(), shelf.container())];
    let mut remember = || moments.push((store.snapshot(), shelf.container()));
    shelf.set_policy(named());
    remember();
    shelf.put(Book { number: 3, version: 1 }).unwrap();
    shelf.put(Book::new(70)).unwrap();
    remember();
    shelf.shop.round().unwrap();
    remember();
    shelf.shop.settle();
    remember();
    shelf.set_policy(composites());
    shelf.put(Book { number: 4, version: 1 }).unwrap();
    remember();
    shelf.shop.settle();
    remember();
    for (snapshot, _) in &moments {
        for (_, container) in &moments {
            agree(&**snapshot, container, &host);
        }
    }
    shelf.shop.store.close();
}

#[test]
fn changes_beyond_what_can_wait_are_refused_until_the_items_have_caught_up() {
    let shelf = Shelf::new(everything());
    shelf.fill(0..60);
    let change = |n: usize| shelf.try_policy([named(), composites()][n % 2].clone());
    let refused = (0..2 * limits::INDEX_GENERATIONS_MAX).find_map(|n| change(n).err());
    assert!(matches!(refused, Some(WriteError::Model(CatalogError::StillIndexing))), "{refused:?}");
    shelf.agree();
    shelf.shop.settle();
    shelf.set_policy(everything());
    shelf.shop.settle();
    shelf.agree();
    shelf.check();
    shelf.shop.store.close();
}

#[test]
fn generations_are_told_apart_after_their_number_came_round() {
    let shelf = Shelf::new(everything());
    shelf.fill(0..3);
    for n in 0..260 {
        shelf.set_policy([named(), composites()][n % 2].clone());
        if n % 10 == 9 {
            shelf.shop.settle();
        }
    }
    shelf.agree();
    shelf.shop.settle();
    shelf.agree();
    shelf.check();
    shelf.shop.store.close();
}

#[test]
fn an_item_that_is_left_out_by_its_own_request_is_found_all_the_same() {
    let shelf = Shelf::new(everything());
    shelf.fill(0..60);
    let container = shelf.container();
    let put = |book: Book, directive: Directive| {
        let item = prepared(&container, &book.text()).indexed(directive);
        shelf.shop.upsert(&container, &item).unwrap();
        shelf.agree();
    };
    assert!(shelf.has(&["kind"]));
    put(Book::new(70), Directive::Exclude);
    assert!(!shelf.has(&["kind"]), "an index that lacks an item is of no use");
    put(Book { number: 3, version: 1 }, Directive::Exclude);
    put(Book { number: 70, version: 1 }, Directive::Include);
    assert!(!shelf.has(&["kind"]));
    shelf.remove(Book::new(3)).unwrap();
    assert!(shelf.has(&["kind"]), "it is whole again");
    shelf.agree();
    shelf.check();
    shelf.shop.store.close();
}

/// Their counts do not all fit into the container's tally.
#[test]
fn items_with_more_paths_than_are_counted_are_found() {
    let wide = |number: u64, paths: usize| {
        let mut text: serde_json::Value = serde_json::from_str(&Book::new(number).text()).unwrap();
        (0..paths).for_each(|n| text[format!("wide{number}-{n}")] = n.into());
        text.to_string()
    };
    let shelf = Shelf::new(everything());
    let container = shelf.container();
    let put = |text: &str, directive: Directive| {
        shelf.shop.upsert(&container, &prepared(&container, text).indexed(directive)).unwrap();
        shelf.agree();
    };
    put(&wide(1, TALLY_FIELDS_MAX), Directive::Default);
    put(&wide(2, TALLY_FIELDS_MAX), Directive::Default);
    let is_used = shelf.has(&["kind"]);
    put(&wide(1, 0), Directive::Default);
    put(&wide(2, 0), Directive::Default);
    put(&wide(3, 0), Directive::Exclude);
    put(&wide(4, 0), Directive::Exclude);
    assert!(!shelf.has(&["kind"]), "an index that lacks an item is of no use");
    assert!(is_used, "counts that are missing keep no index from being used");
    shelf.shop.store.close();
}

/// More terms than an item is entered by: it is stored, found by every query, and leaves the index when it goes.
#[test]
fn an_item_with_too_many_terms_is_left_out_of_the_index() {
    let wide = |number: u64, values: usize| {
        let mut text: serde_json::Value = serde_json::from_str(&Book::new(number).text()).unwrap();
        text["values"] = (0..values).collect();
        text.to_string()
    };
    let shelf = Shelf::new(everything());
    let container = shelf.container();
    let put = |text: &str| {
        shelf.shop.upsert(&container, &prepared(&container, text)).unwrap();
        shelf.agree();
        shelf.check();
    };
    shelf.fill(0..30);
    let rows = [PLACES, ENTRIES].map(|tag| shelf.rows(tag));
    put(&wide(40, INDEX_TERMS_MAX));
    assert_eq!([PLACES, ENTRIES].map(|tag| shelf.rows(tag)), rows);
    assert!(!shelf.has(&["kind"]), "an index that lacks an item is of no use");
    put(&wide(40, 100));
    assert!(shelf.has(&["kind"]) && shelf.rows(PLACES) == rows[0] + 1);
    put(&wide(40, INDEX_TERMS_MAX));
    assert_eq!([PLACES, ENTRIES].map(|tag| shelf.rows(tag)), rows);
    // A policy that does not ask for so many.
    shelf.set_policy(named());
    shelf.shop.settle();
    assert!(shelf.has(&["kind"]), "all items are entered");
    shelf.agree();
    shelf.check();
    shelf.shop.store.close();
}
