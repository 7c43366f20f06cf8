//! Going back to a mark in a transaction, and what holds the LSN of its own commit: log entries, and the keys of texts.

use bytes::Bytes;
use orrery_core::Lsn;
use orrery_kv::contract::{DOCUMENTS, INDEX, LOG, OVERFLOW, SPACES};
use orrery_kv::{
    Batch, Db, Engine, Expect, KeyRange, LogRecord, META, MemoryEngine, Order, Overlay, Put, Read, Space,
    Sync, Tally, Txn, overflow_key,
};
use proptest::prelude::*;

fn db() -> Db {
    Db::open(Box::new(MemoryEngine::new(&SPACES)), Sync::Data).expect("opened")
}

fn rows(state: &dyn Read, space: Space) -> Vec<(Bytes, Bytes)> {
    state.range(space, &KeyRange::all(), Order::Ascending).collect::<Result<_, _>>().expect("readable")
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Put(u8, u8),
    Delete(u8),
    Overflow(u8),
    Blind(u8, bool),
    Tally(i8),
    Log(u8),
    Require,
}

fn act(txn: &mut Txn<'_>, act: Act) {
    let key = |n: u8| Bytes::copy_from_slice(&[n]);
    match act {
        Act::Put(n, value) => txn.put(DOCUMENTS, key(n), vec![value]),
        Act::Delete(n) => txn.delete(DOCUMENTS, key(n)),
        Act::Overflow(n) => drop(txn.put_overflow(OVERFLOW, key(n))),
        Act::Blind(n, is_put) => txn.put_blind(INDEX, key(n), is_put.then(Bytes::new)),
        Act::Tally(by) => txn.tally(META, Bytes::from_static(b"tally"), 1, i64::from(by)),
        Act::Log(n) => {
            let mut payload = Batch::log_payload(1);
            payload.push(n);
            txn.log(LOG, 7, payload);
        }
        // One that cannot hold: the commit is refused unless this is undone.
        Act::Require => txn.require(META, Bytes::from_static(b"nothing"), Expect::Present),
    }
}

fn any_act() -> impl Strategy<Value = Act> {
    prop_oneof![
        (0u8..5, any::<u8>()).prop_map(|(n, value)| Act::Put(n, value)),
        (0u8..5).prop_map(Act::Delete),
        any::<u8>().prop_map(Act::Overflow),
        (0u8..5, any::<bool>()).prop_map(|(n, is_put)| Act::Blind(n, is_put)),
        (1i8..5).prop_map(Act::Tally),
        any::<u8>().prop_map(Act::Log),
    ]
}

proptest! {
    #[test]
    fn what_is_undone_was_never_done(
        kept in prop::collection::vec(any_act(), 0..8),
        undone in prop::collection::vec(any_act(), 0..8),
        later in prop::collection::vec(any_act(), 0..8),
    ) {
        let (with, without) = (db(), db());
        for (db, undone) in [(&with, &undone[..]), (&without, &[])] {
            let (snapshot, nothing) = (db.snapshot(), Overlay::default());
            let mut txn = Txn::new(&snapshot, &nothing);
            kept.iter().for_each(|one| act(&mut txn, *one));
            let seen = |txn: &Txn<'_>| [DOCUMENTS, OVERFLOW].map(|space| rows(txn, space));
            let before = seen(&txn);
            let mark = txn.mark();
            undone.iter().chain(&[Act::Require]).for_each(|one| act(&mut txn, *one));
            txn.undo(mark);
            prop_assert_eq!(seen(&txn), before, "the transaction sees nothing of it either");
            later.iter().for_each(|one| act(&mut txn, *one));
            db.commit(vec![txn.into_batch().stamp(Lsn(1))]).expect("committed");
        }
        for space in SPACES.iter().map(|spec| spec.space) {
            prop_assert_eq!(rows(&*with.snapshot(), space), rows(&*without.snapshot(), space));
        }
        let tally = |db: &Db| Tally::of(&*db.snapshot(), META, b"tally").expect("readable");
        prop_assert_eq!(tally(&with), tally(&without));
    }
}

#[test]
fn an_overflow_value_is_under_the_commit_that_brought_it() {
    let db = db();
    for lsn in [Lsn(3), Lsn(9)] {
        let (snapshot, nothing) = (db.snapshot(), Overlay::default());
        let mut txn = Txn::new(&snapshot, &nothing);
        let numbers =
            ["one", "two"].map(|text| txn.put_overflow(OVERFLOW, Bytes::from(format!("{text} of {lsn}"))));
        assert!(numbers[0] < numbers[1]);
        for (number, text) in numbers.iter().zip(["one", "two"]) {
            let found = txn.get(OVERFLOW, &overflow_key(Lsn(0), *number)).expect("readable");
            assert_eq!(found, Some(Bytes::from(format!("{text} of {lsn}"))), "its own transaction finds it");
        }
        db.commit(vec![txn.into_batch().stamp(lsn)]).expect("committed");
        let found = db.snapshot().get(OVERFLOW, &overflow_key(lsn, numbers[1])).expect("readable");
        assert_eq!(found, Some(Bytes::from(format!("two of {lsn}"))));
    }
    let found: Vec<Bytes> = rows(&*db.snapshot(), OVERFLOW).into_iter().map(|(_, text)| text).collect();
    assert_eq!(found, ["one of 3", "two of 3", "one of 9", "two of 9"], "each behind all that came before");
}

#[test]
fn after_an_accepted_loss_no_lsn_is_given_twice() {
    for (space, key) in [
        (OVERFLOW, overflow_key(Lsn(40), 0)),
        (LOG, Bytes::from([&7u64.to_be_bytes()[..], &40u64.to_be_bytes(), &[0; 2]].concat())),
    ] {
        let engine = MemoryEngine::new(&SPACES);
        let db = Db::open(Box::new(engine.clone()), Sync::Data).expect("opened");
        let mut batch = Batch::new();
        batch.put(META, Bytes::from_static(b"row"), Bytes::new());
        db.commit(vec![batch.stamp(Lsn(5))]).expect("committed");
        // Written by a commit of which nothing else is left.
        let left = Put { space, key, value: Some(Bytes::from_static(&[0; 8])) };
        engine.write(vec![left], Sync::Data).expect("written");
        let db = Db::open_accepting_loss(Box::new(engine.clone()), Sync::Data).expect("opened");
        assert_eq!(db.tip().lsn, Lsn(40), "{space:?}");
        assert_eq!(engine.promised().map(|tip| tip.lsn), Some(Lsn(5)), "what is promised is what is there");
    }
}

#[test]
fn a_log_entry_can_hold_the_lsn_of_its_own_commit() {
    let db = db();
    for lsn in [Lsn(3), Lsn(9)] {
        let mut batch = Batch::new();
        let mut payload = Batch::log_payload(10);
        payload.push(b'<');
        let at = payload.len();
        payload.extend_from_slice(&[0; 8]);
        payload.push(b'>');
        batch.log_stamped(LOG, 7, payload, at);
        db.commit(vec![batch.stamp(lsn)]).expect("committed");
    }
    let snapshot = db.snapshot();
    let found = rows(&*snapshot, LOG);
    let payloads: Vec<Bytes> =
        found.iter().map(|row| LogRecord::read(row).expect("an entry").payload).collect();
    let expected = |lsn: u64| [&b"<"[..], &lsn.to_be_bytes(), b">"].concat();
    assert_eq!(payloads, [expected(3), expected(9)]);
}

#[test]
fn the_chain_of_stamped_entries_holds_after_a_restart() {
    let engine = MemoryEngine::new(&SPACES);
    let db = Db::open(Box::new(engine.clone()), Sync::Data).expect("opened");
    for lsn in 1..5 {
        let mut batch = Batch::new();
        let mut payload = Batch::log_payload(8);
        let at = payload.len();
        payload.extend_from_slice(&[0; 8]);
        batch.log_stamped(LOG, 7, payload, at);
        batch.log(LOG, 7, Batch::log_payload(0));
        db.commit(vec![batch.stamp(Lsn(lsn))]).expect("committed");
    }
    Db::open(Box::new(engine.crash(0)), Sync::Data).expect("every link holds");
}
