//! The checker itself: it must find fault with histories that are wrong, and none with those that are right.

use orrery_linear::{Answer, Call, Event, History, Seen, is_linearizable};
use proptest::prelude::*;

fn seen(value: i64, tag: u128) -> Seen {
    Seen { value, tag }
}

fn event(call: Call, answer: Answer, called: u64, answered: u64) -> Event {
    Event { call, answer, called, answered }
}

fn create(tag: u128, called: u64, answered: u64) -> Event {
    event(Call::Create { new: seen(0, tag) }, Answer::Done, called, answered)
}

fn read(answer: Answer, called: u64, answered: u64) -> Event {
    event(Call::Read, answer, called, answered)
}

fn replace(tag: u128, new: Seen, answer: Answer, called: u64, answered: u64) -> Event {
    event(Call::ReplaceIf { tag, new }, answer, called, answered)
}

fn increment(shown: Seen, called: u64, answered: u64) -> Event {
    event(Call::Increment { by: 1, tag: shown.tag }, Answer::Shown(shown), called, answered)
}

fn right(history: &[Event]) {
    assert!(is_linearizable(history), "{history:?}");
}

fn wrong(history: &[Event]) {
    assert!(!is_linearizable(history), "{history:?}");
}

#[test]
fn operations_one_after_the_other() {
    right(&[]);
    right(&[read(Answer::Missing, 1, 2), create(1, 3, 4), read(Answer::Shown(seen(0, 1)), 5, 6)]);
    right(&[create(1, 1, 2), event(Call::Delete, Answer::Done, 3, 4), read(Answer::Missing, 5, 6)]);
    right(&[
        create(1, 1, 2),
        replace(1, seen(5, 2), Answer::Done, 3, 4),
        replace(1, seen(6, 3), Answer::Changed, 5, 6),
    ]);
    wrong(&[create(1, 1, 2), read(Answer::Missing, 3, 4)]);
    wrong(&[read(Answer::Shown(seen(0, 1)), 1, 2), create(1, 3, 4)]);
    wrong(&[create(1, 1, 2), create(2, 3, 4)]);
    wrong(&[create(1, 1, 2), event(Call::Delete, Answer::Missing, 3, 4)]);
    wrong(&[event(Call::Delete, Answer::Done, 1, 2)]);
    wrong(&[
        create(1, 1, 2),
        event(Call::Create { new: seen(0, 2) }, Answer::Exists, 3, 4),
        event(Call::Delete, Answer::Done, 5, 6),
        read(Answer::Shown(seen(0, 1)), 7, 8),
    ]);
}

#[test]
fn operations_at_the_same_time_may_have_any_order() {
    right(&[create(1, 1, 4), read(Answer::Missing, 2, 3)]);
    right(&[create(1, 1, 4), read(Answer::Shown(seen(0, 1)), 2, 3)]);
    right(&[create(1, 1, 2), increment(seen(2, 3), 3, 6), increment(seen(1, 2), 4, 5)]);
    // Both reads lie inside the write: the first may see it, but then so must the second.
    right(&[
        create(1, 1, 2),
        increment(seen(1, 2), 3, 8),
        read(Answer::Shown(seen(0, 1)), 4, 5),
        read(Answer::Shown(seen(1, 2)), 6, 7),
    ]);
    wrong(&[
        create(1, 1, 2),
        increment(seen(1, 2), 3, 8),
        read(Answer::Shown(seen(1, 2)), 4, 5),
        read(Answer::Shown(seen(0, 1)), 6, 7),
    ]);
}

#[test]
fn a_lost_update_is_found() {
    let both = |second: Answer| {
        [create(1, 1, 2), replace(1, seen(1, 2), Answer::Done, 3, 6), replace(1, seen(1, 3), second, 4, 5)]
    };
    right(&both(Answer::Changed));
    wrong(&both(Answer::Done));
    wrong(&[create(1, 1, 2), increment(seen(1, 2), 3, 6), increment(seen(1, 3), 4, 5)]);
}

#[test]
fn a_stale_read_is_found() {
    wrong(&[create(1, 1, 2), increment(seen(1, 2), 3, 4), read(Answer::Shown(seen(0, 1)), 5, 6)]);
    wrong(&[create(1, 1, 2), increment(seen(1, 2), 3, 4), replace(1, seen(9, 9), Answer::Done, 5, 6)]);
    wrong(&[create(1, 1, 2), read(Answer::Shown(seen(0, 7)), 3, 4)]);
    wrong(&[create(1, 1, 2), read(Answer::Shown(seen(3, 1)), 3, 4)]);
}

#[test]
fn what_nobody_answered_may_have_happened_or_not() {
    let unknown = event(Call::Create { new: seen(4, 1) }, Answer::Unknown, 1, 2);
    right(&[unknown, read(Answer::Missing, 3, 4)]);
    right(&[unknown, read(Answer::Shown(seen(4, 1)), 3, 4)]);
    right(&[unknown, read(Answer::Missing, 3, 4), read(Answer::Shown(seen(4, 1)), 5, 6)]);
    wrong(&[unknown, read(Answer::Shown(seen(4, 1)), 3, 4), read(Answer::Missing, 5, 6)]);
    wrong(&[
        read(Answer::Shown(seen(4, 1)), 0, 1),
        event(Call::Create { new: seen(4, 1) }, Answer::Unknown, 2, 3),
    ]);
}

/// A history of one item that was made one by one, its operations then stretched so that they overlap.
fn stretched(choices: &[(u8, u8, u8)]) -> History {
    let mut state: Option<Seen> = None;
    let mut history = History::new();
    for (index, (choice, early, late)) in choices.iter().enumerate() {
        let tag = index as u128 + 1;
        let at = 1000 + 100 * index as u64;
        let (call, answer) = match (choice % 5, state) {
            (0, None) => (Call::Create { new: seen(7, tag) }, Answer::Done),
            (0, Some(_)) => (Call::Create { new: seen(7, tag) }, Answer::Exists),
            (1, there) => (Call::Read, there.map_or(Answer::Missing, Answer::Shown)),
            (2, None) => (Call::Delete, Answer::Missing),
            (2, Some(_)) => (Call::Delete, Answer::Done),
            (3, None) => (Call::Increment { by: 1, tag }, Answer::Missing),
            (3, Some(there)) => (Call::Increment { by: 1, tag }, Answer::Shown(seen(there.value + 1, tag))),
            (_, None) => (Call::ReplaceIf { tag: 1, new: seen(1, tag) }, Answer::Missing),
            (_, Some(there)) => (Call::ReplaceIf { tag: there.tag, new: seen(1, tag) }, Answer::Done),
        };
        state = match (call, answer, state) {
            (Call::Create { new } | Call::ReplaceIf { new, .. }, Answer::Done, _) => Some(new),
            (Call::Delete, Answer::Done, _) => None,
            (Call::Increment { .. }, Answer::Shown(next), _) => Some(next),
            (_, _, state) => state,
        };
        // Odd and even, so that no two moments are equal.
        let (called, answered) = (at - 2 * u64::from(*early), at + 2 * u64::from(*late) + 1);
        history.push(event(call, answer, called, answered));
    }
    history
}

proptest! {
    #[test]
    fn what_happened_one_by_one_is_right_however_long_it_took(choices in prop::collection::vec(any::<(u8, u8, u8)>(), 1..14)) {
        prop_assert!(is_linearizable(&stretched(&choices)));
    }

    #[test]
    fn an_answer_that_no_order_gives_is_found(choices in prop::collection::vec(any::<(u8, u8, u8)>(), 1..14), at in any::<prop::sample::Index>()) {
        let mut history = stretched(&choices);
        let at = at.index(history.len());
        history[at] = Event { call: Call::Read, answer: Answer::Shown(seen(-1, 999)), ..history[at] };
        prop_assert!(!is_linearizable(&history));
    }
}
