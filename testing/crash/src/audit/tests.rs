//! The auditor on histories made by hand, most of them wrong.

use super::*;
use crate::question::{Direction, Filter, Question, Wants};

fn key() -> Key {
    Key { partition: "p".to_owned(), id: "i".to_owned() }
}

fn tag(seq: Seq) -> String {
    format!("tag-{seq}")
}

fn found(seq: Seq) -> Found {
    Found { seq, etag: tag(seq) }
}

fn items(seq: Option<Seq>) -> Items {
    seq.map(|seq| (key(), found(seq))).into_iter().collect()
}

fn operation(seq: Seq, effect: Effect, began: Tick, outcome: Outcome) -> Operation {
    Operation { key: key(), seq, effect, if_match: None, began, outcome }
}

fn done(seq: Seq, effect: Effect, began: Tick, ended: Tick) -> Operation {
    operation(seq, effect, began, Outcome::Acknowledged { etag: tag(seq), ended })
}

fn written(seq: Seq, began: Tick, ended: Tick) -> Operation {
    done(seq, Effect::Write, began, ended)
}

fn deleted(seq: Seq, began: Tick, ended: Tick) -> Operation {
    done(seq, Effect::Delete, began, ended)
}

fn unanswered(seq: Seq, effect: Effect, began: Tick) -> Operation {
    operation(seq, effect, began, Outcome::Unknown)
}

fn seen(seq: Seq, began: Tick, ended: Tick) -> Sighting {
    Sighting { key: key(), seq, began, ended }
}

fn verdict(
    before: Option<Seq>,
    operations: &[Operation],
    sightings: &[Sighting],
    now: &Items,
) -> Vec<Violation> {
    audit(Round { before: &items(before), operations, sightings, asked: &[], now })
}

fn right(before: Option<Seq>, operations: &[Operation], now: Option<Seq>) {
    assert_eq!(verdict(before, operations, &[], &items(now)), []);
}

fn lost(before: Option<Seq>, operations: &[Operation], now: Option<Seq>, seq: Seq) {
    let expected = Violation::Lost { key: key(), seq, there: now };
    assert_eq!(verdict(before, operations, &[], &items(now)), [expected]);
}

#[test]
fn an_acknowledged_create_must_be_there() {
    let history = [written(1, 10, 11)];
    right(None, &history, Some(1));
    lost(None, &history, None, 1);
}

#[test]
fn an_acknowledged_update_does_not_fall_back_to_the_version_before() {
    let history = [written(1, 10, 11), written(2, 12, 13)];
    right(None, &history, Some(2));
    lost(None, &history, Some(1), 2);
    lost(None, &history, None, 2);
    lost(Some(7), &[written(8, 10, 11)], Some(7), 8);
}

#[test]
fn what_earlier_rounds_left_must_still_be_there() {
    right(Some(7), &[], Some(7));
    lost(Some(7), &[], None, 7);
}

#[test]
fn an_acknowledged_delete_does_not_come_undone() {
    let history = [written(1, 10, 11), deleted(2, 12, 13)];
    right(None, &history, None);
    lost(None, &history, Some(1), 2);
    right(None, &[written(1, 10, 11), deleted(2, 12, 13), written(3, 14, 15)], Some(3));
    lost(None, &[written(1, 10, 11), deleted(2, 12, 13), written(3, 14, 15)], None, 3);
}

#[test]
fn an_unanswered_write_is_there_or_not() {
    let history = [written(1, 10, 11), unanswered(2, Effect::Write, 12)];
    right(None, &history, Some(1));
    right(None, &history, Some(2));
    lost(None, &history, None, 1);
}

#[test]
fn an_unanswered_delete_happened_or_did_not() {
    let history = [written(1, 10, 11), unanswered(2, Effect::Delete, 12)];
    right(None, &history, Some(1));
    right(None, &history, None);
}

#[test]
fn of_two_overlapping_writes_either_may_be_last_but_not_the_one_before_both() {
    let history = [written(1, 10, 11), written(2, 12, 15), written(3, 13, 14)];
    right(None, &history, Some(2));
    right(None, &history, Some(3));
    lost(None, &history, Some(1), 2);
}

#[test]
fn nothing_is_there_that_nobody_wrote() {
    let invented = |seq| Violation::Invented { key: key(), seq };
    assert_eq!(verdict(None, &[], &[], &items(Some(9))), [invented(9)]);
    let refused = operation(2, Effect::Write, 12, Outcome::Refused);
    assert_eq!(verdict(None, &[written(1, 10, 11), refused], &[], &items(Some(2))), [invented(2)]);
    assert_eq!(verdict(None, &[deleted(1, 10, 11)], &[], &items(Some(1))), [invented(1)]);
}

#[test]
fn a_refused_write_changes_nothing() {
    let refused = operation(2, Effect::Write, 12, Outcome::Refused);
    right(None, &[written(1, 10, 11), refused], Some(1));
}

#[test]
fn the_tag_is_the_one_that_was_answered() {
    let now = Items::from([(key(), Found { seq: 1, etag: "other".to_owned() })]);
    let wrong = |seq| Violation::Tag { key: key(), seq, answered: tag(seq), there: "other".to_owned() };
    assert_eq!(verdict(None, &[written(1, 10, 11)], &[], &now), [wrong(1)]);
    assert_eq!(verdict(Some(1), &[], &[], &now), [wrong(1)]);
    assert_eq!(verdict(None, &[unanswered(1, Effect::Write, 10)], &[], &now), []);
}

#[test]
fn what_a_reader_saw_a_crash_may_not_take_away() {
    let history = [written(1, 10, 11), unanswered(2, Effect::Write, 12)];
    let sightings = [seen(2, 13, 14)];
    let taken = Violation::Lost { key: key(), seq: 2, there: Some(1) };
    assert_eq!(verdict(None, &history, &sightings, &items(Some(1))), [taken]);
    assert_eq!(verdict(None, &history, &sightings, &items(Some(2))), []);
}

#[test]
fn a_reader_is_not_shown_what_was_already_replaced() {
    let history = [written(1, 10, 11), written(2, 12, 13)];
    let stale = Violation::Stale { key: key(), shown: 1, replaced_by: 2 };
    assert_eq!(verdict(None, &history, &[seen(1, 14, 15)], &items(Some(2))), [stale]);
    assert_eq!(verdict(None, &history, &[seen(1, 12, 15)], &items(Some(2))), []);
}

#[test]
fn a_reader_is_not_shown_what_nobody_wrote() {
    let invented = Violation::Invented { key: key(), seq: 5 };
    assert_eq!(verdict(Some(1), &[], &[seen(5, 14, 15)], &items(Some(1))), [invented]);
}

#[test]
fn two_conditional_writes_on_one_version_cannot_both_win() {
    let on = |mut operation: Operation, seq| {
        operation.if_match = Some(tag(seq));
        operation
    };
    let history = [on(written(2, 10, 13), 1), on(written(3, 11, 14), 1)];
    let twice = Violation::LostUpdate { key: key(), etag: tag(1) };
    assert_eq!(verdict(Some(1), &history, &[], &items(Some(3))), [twice]);
    right(Some(1), &[on(written(2, 10, 11), 1), on(written(3, 12, 13), 2)], Some(3));
}

#[test]
fn the_feed_and_point_reads_agree() {
    let point = |seq: Option<Seq>| BTreeMap::from([(key(), seq.map(found))]);
    for (feed, read) in [(Some(1), None), (None, Some(1)), (Some(1), Some(2))] {
        assert_eq!(audit_views(&items(feed), &point(read)).len(), 1, "{feed:?} {read:?}");
    }
    assert_eq!(audit_views(&items(Some(1)), &point(Some(1))), []);
    assert_eq!(audit_views(&items(None), &point(None)), []);
}

#[test]
fn an_lsn_does_not_go_backwards() {
    let mut before = Lsns::default();
    before.raise("0", 17);
    before.raise("0", 12);
    let backwards = Violation::Backwards { range: "0".to_owned(), before: 17, after: 16 };
    assert_eq!(audit_lsn(&before, "0", 16), Some(backwards));
    assert_eq!(audit_lsn(&before, "0", 17), None);
    assert_eq!(audit_lsn(&before, "1", 1), None);
}

/// What is wrong with an answer to "kind 3", asked from 20 to 30, that had these attempts of the item in it.
fn answered(before: Option<Seq>, operations: &[Operation], now: Option<Seq>, rows: &[Seq]) -> Vec<Violation> {
    let question = of_kind_3();
    let rows = rows.iter().map(|seq| (key(), *seq)).collect();
    let asked = [Asked { question, rows, pages: 1, began: 20, ended: 30 }];
    let now = items(now);
    audit(Round { before: &items(before), operations, sightings: &[], asked: &asked, now: &now })
}

fn of_kind_3() -> Question {
    Question { filter: Filter::Kind(3), wants: Wants::Rows, partition: None }
}

fn missed(seq: Seq) -> Violation {
    Violation::Missed { key: key(), seq, question: of_kind_3().text() }
}

#[test]
fn an_item_that_matched_all_the_while_is_in_the_answer() {
    assert_eq!(answered(Some(3), &[], Some(3), &[3]), []);
    assert_eq!(answered(Some(3), &[], Some(3), &[]), [missed(3)]);
    assert_eq!(answered(None, &[written(3, 10, 19)], Some(3), &[]), [missed(3)]);
    let again = [written(26, 21, 22)];
    assert_eq!(answered(Some(3), &again, Some(26), &[]), [missed(26)], "both versions match");
}

#[test]
fn an_item_that_came_or_changed_meanwhile_may_be_in_the_answer_or_not() {
    let changes = [written(26, 19, 21)];
    assert_eq!(answered(None, &changes, Some(26), &[]), []);
    assert_eq!(answered(None, &changes, Some(26), &[26]), []);
    assert_eq!(answered(Some(3), &[written(4, 25, 26)], Some(4), &[]), [], "it did not match in the end");
    assert_eq!(answered(Some(3), &[deleted(4, 25, 26)], None, &[]), []);
    assert_eq!(answered(Some(3), &[unanswered(4, Effect::Delete, 25)], Some(3), &[]), []);
    assert_eq!(answered(Some(3), &[written(4, 31, 32)], Some(4), &[]), [missed(3)], "it was too late");
}

/// What is wrong with an answer by rank, on so many pages, that did not have the item.
fn sorted(before: Seq, operations: &[Operation], now: Seq, pages: usize) -> Vec<Violation> {
    let question =
        Question { filter: Filter::Ranks(300, 310), wants: Wants::Ranked(Direction::Up), partition: None };
    let asked = [Asked { question, rows: Vec::new(), pages, began: 20, ended: 30 }];
    let (before, now) = (items(Some(before)), items(Some(now)));
    audit(Round { before: &before, operations, sightings: &[], asked: &asked, now: &now })
}

/// Attempts 3 and 26 have the ranks 304 and 306; 502 has that of 3.
#[test]
fn an_item_that_moves_between_two_pages_may_be_on_neither() {
    assert_eq!(sorted(26, &[written(3, 21, 22)], 3, 2), []);
    assert_eq!(sorted(26, &[written(3, 21, 22)], 3, 1).len(), 1, "a page is of one moment");
    assert_eq!(sorted(3, &[written(502, 21, 22)], 502, 2).len(), 1, "it stays where it is");
    assert_eq!(sorted(3, &[], 3, 2).len(), 1, "nobody changed it");
}

#[test]
fn what_does_not_match_is_not_in_the_answer() {
    let misfit = Violation::Misfit { key: key(), seq: 4, question: of_kind_3().text() };
    assert_eq!(answered(Some(4), &[], Some(4), &[4]), [misfit]);
}

#[test]
fn the_policy_is_the_last_acknowledged_or_one_sent_after_it() {
    let change = |seq: Seq, outcome: Outcome| PolicyChange { seq, outcome };
    let done = |seq: Seq| change(seq, Outcome::Acknowledged { etag: String::new(), ended: 0 });
    let wrong = |there, acknowledged| Some(Violation::Policy { there, acknowledged });
    let changes = [done(4), change(5, Outcome::Refused), change(6, Outcome::Unknown)];
    assert_eq!(audit_policy(Some(1), &changes, Some(4)), None);
    assert_eq!(audit_policy(Some(1), &changes, Some(6)), None);
    assert_eq!(audit_policy(Some(1), &changes, Some(5)), wrong(Some(5), Some(4)));
    assert_eq!(audit_policy(Some(1), &changes, Some(1)), wrong(Some(1), Some(4)));
    assert_eq!(audit_policy(Some(1), &changes, None), wrong(None, Some(4)));
    assert_eq!(audit_policy(Some(1), &[], Some(1)), None);
}
