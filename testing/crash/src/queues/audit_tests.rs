//! The auditor of queues on histories made by hand, most of them wrong.

use super::*;
use crate::queues::history::Outcome::{Done, Mismatch, Missing, Unknown};

/// When the harness looked, in all of these.
const LOOKED: Tick = 1_000;

fn operation(act: Act, began: Tick, outcome: Outcome) -> MessageOperation {
    let ended = if outcome == Unknown { Tick::MAX } else { began + 1 };
    MessageOperation {
        message: 7,
        act,
        shown: None,
        given: None,
        text: None,
        hidden_until_ms: 0,
        began,
        ended,
        outcome,
    }
}

fn put(began: Tick) -> MessageOperation {
    MessageOperation { text: Some(7), ..gives(operation(Act::Put, began, Done), "r0") }
}

fn got(began: Tick, count: u32, receipt: &str) -> MessageOperation {
    MessageOperation { text: Some(7), ..gives(operation(Act::Get { count }, began, Done), receipt) }
}

fn updated(began: Tick, shown: &str, given: &str) -> MessageOperation {
    shows(gives(operation(Act::Update, began, Done), given), shown)
}

fn deleted(began: Tick, shown: &str, outcome: Outcome) -> MessageOperation {
    shows(operation(Act::Delete, began, outcome), shown)
}

fn gives(operation: MessageOperation, receipt: &str) -> MessageOperation {
    MessageOperation { given: Some(receipt.to_owned()), ..operation }
}

fn shows(operation: MessageOperation, receipt: &str) -> MessageOperation {
    MessageOperation { shown: Some(receipt.to_owned()), ..operation }
}

fn verdict_with(history: &[MessageOperation], open_gets: &[OpenGet]) -> Vec<Wrong> {
    audit_messages(history, open_gets, LOOKED).into_iter().map(|finding| finding.wrong).collect()
}

fn verdict(history: &[MessageOperation]) -> Vec<Wrong> {
    verdict_with(history, &[])
}

fn right(history: &[MessageOperation]) {
    assert_eq!(verdict(history), []);
}

fn stale(receipt: &str) -> Wrong {
    Wrong::StaleAccepted { shown: receipt.to_owned() }
}

fn forgotten(receipt: &str) -> Wrong {
    Wrong::Forgotten { shown: receipt.to_owned() }
}

#[test]
fn a_message_is_there_until_it_is_deleted() {
    right(&[put(1), got(LOOKED + 1, 1, "r1")]);
    right(&[put(1), got(3, 1, "r1"), deleted(5, "r1", Done)]);
    assert_eq!(verdict(&[put(1)]), [Wrong::Lost]);
    assert_eq!(verdict(&[put(1), got(3, 1, "r1")]), [Wrong::Lost]);
    assert_eq!(verdict(&[put(1), got(3, 1, "r1"), deleted(5, "r0", Mismatch)]), [Wrong::Lost]);
}

#[test]
fn what_was_never_answered_may_be_or_not() {
    let unanswered = MessageOperation { text: Some(7), ..operation(Act::Put, 1, Unknown) };
    right(std::slice::from_ref(&unanswered));
    right(&[unanswered.clone(), got(LOOKED + 1, 1, "r1")]);
    // It was seen, so it was put.
    assert_eq!(verdict(&[unanswered, got(3, 1, "r1")]), [Wrong::Lost]);
    right(&[put(1), got(3, 1, "r1"), deleted(5, "r1", Unknown)]);
    right(&[put(1), got(3, 1, "r1"), deleted(5, "r1", Unknown), got(LOOKED + 1, 2, "r2")]);
}

#[test]
fn a_deleted_message_does_not_come_back() {
    let history = [put(1), got(3, 1, "r1"), deleted(5, "r1", Done), got(LOOKED + 1, 2, "r2")];
    assert_eq!(verdict(&history), [Wrong::Back]);
    // Of messages that are gone, only the deletes are kept.
    assert_eq!(verdict(&[deleted(5, "r1", Done), got(LOOKED + 1, 2, "r2")]), [Wrong::Back]);
    right(&[deleted(5, "r1", Done)]);
}

#[test]
fn a_message_of_nobody_is_invented() {
    let found = verdict(&[got(LOOKED + 1, 1, "r1")]);
    assert_eq!(found, [Wrong::Invented, Wrong::Text { found: 7 }]);
}

#[test]
fn a_receipt_is_not_taken_after_a_later_one_was_given() {
    let there = || got(LOOKED + 1, 3, "r9");
    let first = || [put(1), got(3, 1, "r1")];
    let history = |more: &[MessageOperation]| [&first()[..], more, &[there()]].concat();
    right(&history(&[got(5, 2, "r2"), deleted(7, "r1", Mismatch)]));
    assert_eq!(verdict(&history(&[got(5, 2, "r2"), updated(7, "r1", "r3")])), [stale("r1")]);
    assert_eq!(
        verdict(&[&first()[..], &[updated(5, "r1", "r2"), deleted(7, "r1", Done)]].concat()),
        [stale("r1")]
    );
    assert_eq!(verdict(&history(&[got(5, 2, "r2"), updated(7, "r0", "r3")])), [stale("r0")]);
    // Overlapping, either may have been first.
    let mut late = got(5, 2, "r2");
    late.ended = 9;
    right(&history(&[late, updated(7, "r1", "r3")]));
}

#[test]
fn the_newest_receipt_is_not_refused() {
    let history =
        |more: &[MessageOperation]| [&[put(1), got(3, 1, "r1")], more, &[got(LOOKED + 1, 2, "r9")]].concat();
    assert_eq!(verdict(&history(&[deleted(7, "r1", Mismatch)])), [forgotten("r1")]);
    assert_eq!(verdict(&history(&[deleted(7, "r1", Missing)])), [Wrong::Lost]);
    // An update that was never answered may have replaced it.
    right(&history(&[shows(operation(Act::Update, 5, Unknown), "r1"), deleted(7, "r1", Mismatch)]));
    right(&history(&[deleted(5, "r1", Unknown), deleted(7, "r1", Missing)]));
}

#[test]
fn a_get_without_an_answer_takes_only_what_is_visible() {
    let held = MessageOperation { hidden_until_ms: 500, ..got(3, 1, "r1") };
    let history = [put(1), held, deleted(7, "r1", Mismatch), got(LOOKED + 1, 2, "r9")];
    let open = |ended_ms| OpenGet { began: 5, ended_ms };
    assert_eq!(verdict_with(&history, &[open(499)]), [forgotten("r1")]);
    assert_eq!(verdict_with(&history, &[open(500)]), []);
}

#[test]
fn a_text_is_the_last_one_that_was_written() {
    let write = |began, outcome| MessageOperation {
        text: Some(8),
        ..shows(gives(operation(Act::Update, began, outcome), "r2"), "r1")
    };
    let found = |text| MessageOperation { text: Some(text), ..got(LOOKED + 1, 2, "r9") };
    let history = |outcome, text| [put(1), got(3, 1, "r1"), write(5, outcome), found(text)];
    right(&history(Done, 8));
    right(&history(Unknown, 8));
    right(&history(Unknown, 7));
    assert_eq!(verdict(&history(Done, 7)), [Wrong::Text { found: 7 }]);
    assert_eq!(verdict(&history(Mismatch, 8)), [forgotten("r1"), Wrong::Text { found: 8 }]);
    // Once it was seen it stays, whatever became of its answer.
    let seen = MessageOperation { text: Some(8), ..got(7, 2, "r3") };
    let back = MessageOperation { text: Some(7), ..got(LOOKED + 1, 3, "r9") };
    let history = [put(1), got(3, 1, "r1"), write(5, Unknown), seen, back];
    assert_eq!(verdict(&history), [Wrong::Text { found: 7 }]);
}

#[test]
fn the_count_of_gets_fits_the_gets() {
    let there = |count| [put(1), got(3, 1, "r1"), got(LOOKED + 1, count, "r9")];
    right(&there(2));
    let count = |count| Wrong::Count { count, least: 2, most: 2 };
    assert_eq!(verdict(&there(3)), [count(3)]);
    assert_eq!(
        verdict(&there(1)),
        [Wrong::SameDelivery { count: 1 }, count(1), Wrong::SameDelivery { count: 1 }]
    );
    assert_eq!(verdict_with(&there(3), &[OpenGet { began: 5, ended_ms: 0 }]), []);
}
