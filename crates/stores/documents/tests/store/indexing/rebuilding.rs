//! After a change of the policy items are entered anew, some in each round; whatever is asked in between is answered
//! as a scan answers it.

use super::shelf::{Book, Shelf, composites, everything, named, nothing};
use orrery_document_store::Progress;
use orrery_documents::limits;

/// Enough for several rounds.
const ITEMS: u64 = 2 * limits::REINDEX_ITEMS_MAX as u64 + 300;

const ONE: &str = "SELECT * FROM c WHERE c.n = 17";

fn filled(policy: serde_json::Value) -> Shelf {
    let shelf = Shelf::new(policy);
    shelf.fill(0..ITEMS);
    shelf
}

/// Some of each kind of write, among items that the rebuild has been at and others that it has not.
fn write_some(shelf: &Shelf, round: u64) {
    for step in 0..4 {
        let number = (round * 577 + step * 619) % ITEMS;
        shelf.put(Book { number, version: round + 1 }).unwrap();
        shelf.put(Book::new(ITEMS + round * 10 + step)).unwrap();
        shelf.remove(Book::new(ITEMS + round * 10 + step / 2)).ok();
    }
}

/// Rounds with writes between them, until nothing is left to do. Says how many there were.
fn settle(shelf: &Shelf) -> u64 {
    for round in 0..100 {
        write_some(shelf, round);
        let progress = shelf.shop.round().unwrap();
        shelf.agree();
        if progress == Progress::Idle {
            return round;
        }
    }
    panic!("the rebuild does not end");
}

#[test]
fn queries_are_right_after_every_round_of_a_rebuild_beside_writers() {
    let shelf = filled(named());
    shelf.agree();
    shelf.set_policy(composites());
    assert_eq!(shelf.progress(), 0);
    assert!(settle(&shelf) >= 3, "several rounds are needed for {ITEMS} items");
    assert_eq!(shelf.progress(), 100);
    shelf.check();
    shelf.shop.store.close();
}

#[test]
fn an_index_is_used_from_when_it_is_whole_until_it_is_unwanted() {
    let shelf = filled(named());
    let by_rank: &[(&[&str], bool)] = &[(&["kind"], false), (&["rank"], true)];
    let by_number: &[(&[&str], bool)] = &[(&["kind"], false), (&["n"], true)];
    assert!(shelf.has(&["rank"]) && !shelf.has(&["n"]) && shelf.has_composite(by_number));
    shelf.set_policy(composites());
    for _ in 0..2 {
        assert!(!shelf.has(&["rank"]), "new items do not have it any more");
        assert!(!shelf.has(&["n"]), "old items do not have it yet");
        assert!(!shelf.has_composite(by_rank) && !shelf.has_composite(by_number));
        assert!(shelf.has(&["kind"]) && shelf.has(&["tags", "[]"]), "all items have these throughout");
        assert_eq!(shelf.documents_read(ONE), ITEMS, "every one has to be looked at");
        assert_eq!(shelf.shop.round().unwrap(), Progress::More);
    }
    shelf.shop.settle();
    assert!(shelf.has(&["n"]) && !shelf.has(&["rank"]));
    assert!(shelf.has_composite(by_rank) && !shelf.has_composite(by_number));
    assert_eq!(shelf.documents_read(ONE), 1);
    shelf.shop.store.close();
}

#[test]
fn progress_grows_with_every_round_and_is_whole_only_at_the_end() {
    let shelf = filled(everything());
    assert_eq!(shelf.progress(), 100, "a container that never changed is done");
    shelf.set_policy(named());
    let mut before = shelf.progress();
    while shelf.shop.round().unwrap() == Progress::More {
        let now = shelf.progress();
        assert!(before < now && now < 100, "{before} then {now}");
        before = now;
    }
    assert!(before > 80, "{before}");
    assert_eq!(shelf.progress(), 100);
    shelf.shop.store.close();
}

#[test]
fn a_second_change_in_the_middle_of_a_rebuild_starts_it_over() {
    let shelf = filled(everything());
    shelf.set_policy(named());
    shelf.shop.round().unwrap();
    assert!(shelf.progress() > 20);
    shelf.set_policy(composites());
    assert_eq!(shelf.progress(), 0);
    settle(&shelf);
    assert!(shelf.has(&["n"]) && !shelf.has(&["rank"]));
    shelf.check();
    shelf.shop.store.close();
}

#[test]
fn a_policy_that_comes_back_in_the_middle_of_a_rebuild_is_whole_in_the_end() {
    let shelf = filled(everything());
    shelf.set_policy(nothing());
    shelf.shop.round().unwrap();
    shelf.set_policy(everything());
    assert!(!shelf.has(&["kind"]), "some items have no entries now");
    settle(&shelf);
    assert!(shelf.has(&["kind"]));
    shelf.check();
    shelf.shop.store.close();
}

#[test]
fn a_rebuild_resumes_after_a_power_cut() {
    let first = filled(named());
    first.set_policy(composites());
    first.shop.round().unwrap();
    let before = first.progress();
    assert!(before > 20, "{before}");
    let shelf = first.reopened();
    assert_eq!(shelf.progress(), before);
    shelf.agree();
    assert_eq!(settle(&shelf), 2, "what is left takes two rounds, and the third has nothing to do");
    assert!(shelf.has(&["n"]));
    shelf.check();
    shelf.shop.store.close();
}

#[test]
fn a_power_cut_between_the_last_item_and_the_end_of_a_rebuild_loses_nothing() {
    let first = Shelf::new(named());
    first.fill(0..100);
    first.set_policy(everything());
    assert_eq!(first.shop.round().unwrap(), Progress::More);
    assert_eq!(first.progress(), 99, "all are entered, and nobody has said so yet");
    let shelf = first.reopened();
    shelf.agree();
    assert_eq!(shelf.progress(), 99);
    shelf.shop.settle();
    assert_eq!(shelf.progress(), 100);
    shelf.agree();
    shelf.check();
    shelf.shop.store.close();
}
