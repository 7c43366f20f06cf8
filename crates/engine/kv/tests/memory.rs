//! The contract on the memory engine, and what only it can show: a power cut after any write.

use bytes::Bytes;
use orrery_core::Lsn;
use orrery_kv::contract::{self, Bench, DOCUMENTS, INDEX, LOG, SPACES};
use orrery_kv::{
    Batch, Db, Engine, Error, Fault, KeyRange, MemoryEngine, Order, Overlay, Read, Space, SpaceSet, Sync, Txn,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

struct Place(MemoryEngine);

impl Bench for Place {
    fn open(&mut self) -> Box<dyn Engine> {
        Box::new(self.0.clone())
    }
}

#[test]
fn the_memory_engine_keeps_the_contract() {
    contract::check(|| Place(MemoryEngine::new(&SPACES)));
}

fn change(n: u64) -> Batch {
    let mut batch = Batch::new();
    batch.put_stamped(DOCUMENTS, Bytes::copy_from_slice(&(n % 5).to_be_bytes()), vec![0; 8], 0);
    batch.log(LOG, n % 3, Batch::log_payload(0));
    batch
}

fn lsns(db: &Db) -> Vec<u64> {
    let snapshot = db.snapshot();
    let rows = snapshot.range(DOCUMENTS, &KeyRange::all(), Order::Ascending);
    rows.map(|row| u64::from_be_bytes(row.expect("read").1.as_ref().try_into().expect("eight bytes")))
        .collect()
}

#[test]
fn a_power_cut_takes_nothing_that_was_synced() {
    let engine = MemoryEngine::new(&SPACES);
    let db = Db::open(Box::new(engine.clone()), Sync::Data).expect("opened");
    for n in 1..=50 {
        db.commit(vec![change(n).stamp(Lsn(n))]).expect("committed");
        let found = Db::open(Box::new(engine.crash(0)), Sync::Data).expect("opened after the cut");
        assert_eq!(lsns(&found), lsns(&db));
    }
}

#[test]
fn a_power_cut_without_sync_takes_whole_commits_from_the_end() {
    let engine = MemoryEngine::new(&SPACES);
    let db = Db::open(Box::new(engine.clone()), Sync::None).expect("opened");
    for n in 1..=20 {
        db.commit(vec![change(n).stamp(Lsn(n))]).expect("committed");
    }
    for kept in 0..20 {
        let found = Db::open(Box::new(engine.crash(kept)), Sync::None).expect("opened");
        assert_eq!(found.tip().lsn, Lsn(kept as u64));
        assert!(lsns(&found).iter().all(|lsn| *lsn <= kept as u64));
    }
}

fn failed_second_write(fault: Fault) -> (MemoryEngine, Db) {
    let engine = MemoryEngine::new(&SPACES);
    let db = Db::open(Box::new(engine.clone()), Sync::Data).expect("opened");
    db.commit(vec![change(1).stamp(Lsn(1))]).expect("committed");
    engine.fail_at(0, fault);
    let failed = db.commit(vec![change(2).stamp(Lsn(2))]);
    match fault {
        Fault::BeforeWrite => assert!(matches!(failed, Err(Error::Unavailable(_))), "{failed:?}"),
        Fault::AfterWrite => assert!(matches!(failed, Err(Error::Uncertain(_))), "{failed:?}"),
    }
    assert_eq!((db.snapshot().lsn(), lsns(&db)), (Lsn(1), vec![1]), "reads go on and show nothing of it");
    (engine, db)
}

#[test]
fn a_full_disk_fails_the_write_and_the_next_one_goes_on() {
    let (engine, db) = failed_second_write(Fault::BeforeWrite);
    db.commit(vec![change(4).stamp(Lsn(3))]).expect("committed");
    let found = Db::open(Box::new(engine.crash(0)), Sync::Data).expect("opened");
    assert_eq!(lsns(&found), lsns(&db));
}

#[test]
fn after_a_failed_sync_nothing_is_taken_until_a_restart_finds_all_or_none() {
    let (engine, db) = failed_second_write(Fault::AfterWrite);
    assert!(matches!(db.commit(vec![change(3).stamp(Lsn(3))]), Err(Error::Halted)));
    for (kept, expected) in [(0, vec![1]), (1, vec![1, 2])] {
        let found = Db::open(Box::new(engine.crash(kept)), Sync::Data).expect("opened");
        assert_eq!(lsns(&found), expected);
    }
}

/// An engine whose log cannot be read while `fails` is set.
struct Unreadable {
    engine: MemoryEngine,
    fails: Arc<AtomicBool>,
}

struct View {
    view: Arc<dyn Read + Send + std::marker::Sync>,
    fails: Arc<AtomicBool>,
}

impl Engine for Unreadable {
    fn spaces(&self) -> &'static SpaceSet {
        self.engine.spaces()
    }

    fn view(&self) -> Arc<dyn Read + Send + std::marker::Sync> {
        Arc::new(View { view: self.engine.view(), fails: self.fails.clone() })
    }

    fn write(&self, puts: Vec<orrery_kv::Put>, sync: Sync) -> Result<(), Error> {
        self.engine.write(puts, sync)
    }

    fn note_promise(&self, tip: orrery_kv::Tip) {
        self.engine.note_promise(tip);
    }

    fn promised(&self) -> Option<orrery_kv::Tip> {
        self.engine.promised()
    }
}

impl Read for View {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, Error> {
        self.view.get(space, key)
    }

    fn range(&self, space: Space, range: &KeyRange, order: Order) -> orrery_kv::Rows<'_> {
        if self.fails.load(Ordering::SeqCst) && space == LOG {
            return Box::new(std::iter::once(Err(Error::Unavailable("the disk does not answer".into()))));
        }
        self.view.range(space, range, order)
    }
}

#[test]
fn a_group_that_fails_while_its_log_is_linked_leaves_the_chain_whole() {
    let (engine, fails) = (MemoryEngine::new(&SPACES), Arc::new(AtomicBool::new(false)));
    let unreadable = Unreadable { engine: engine.clone(), fails: fails.clone() };
    let db = Db::open(Box::new(unreadable), Sync::Data).expect("opened");
    db.commit(vec![change(3).stamp(Lsn(1))]).expect("committed");
    fails.store(true, Ordering::SeqCst);
    // The first of the two goes on in a stream whose last link is known, the second must read its own.
    let group = vec![change(3).stamp(Lsn(2)), change(4).stamp(Lsn(3))];
    assert!(matches!(db.commit(group), Err(Error::Unavailable(_))));
    fails.store(false, Ordering::SeqCst);
    db.commit(vec![change(3).stamp(Lsn(4))]).expect("committed");
    Db::open(Box::new(engine.crash(0)), Sync::Data).expect("the chain is whole");
}

type Rows = BTreeMap<u8, Option<u8>>;

proptest! {
    /// A transaction reads as if its puts, over the pending ones, over the snapshot, were one map.
    #[test]
    fn a_transaction_sees_its_layers_as_one_map(
        stored: BTreeMap<u8, u8>, pending: Rows, own: Rows, from: u8, to: u8,
    ) {
        let db = Db::open(Box::new(MemoryEngine::new(&SPACES)), Sync::Data).expect("opened");
        let mut batch = Batch::new();
        for (key, value) in &stored {
            batch.put(DOCUMENTS, vec![*key].into(), vec![*value].into());
        }
        db.commit(vec![batch.stamp(Lsn(1))]).expect("committed");
        let mut overlay = Overlay::default();
        for (key, value) in &pending {
            overlay.insert(DOCUMENTS, vec![*key].into(), value.map(|value| vec![value].into()));
        }
        let snapshot = db.snapshot();
        let mut txn = Txn::new(&snapshot, &overlay);
        for (key, value) in &own {
            match value {
                Some(value) => txn.put(DOCUMENTS, vec![*key], vec![*value]),
                None => txn.delete(DOCUMENTS, vec![*key]),
            }
        }
        let mut model: Rows = stored.into_iter().map(|(key, value)| (key, Some(value))).collect();
        model.extend(pending);
        model.extend(own);
        for key in 0..=255u8 {
            let found = txn.get(DOCUMENTS, &[key]).expect("read").map(|value| value[0]);
            prop_assert_eq!(found, model.get(&key).copied().flatten());
        }
        let mut expected: Vec<(u8, u8)> = model.into_iter()
            .filter_map(|(key, value)| Some((key, value?))).filter(|(key, _)| (from..to).contains(key)).collect();
        let range = KeyRange::new(vec![from], vec![to]);
        for order in [Order::Ascending, Order::Descending] {
            let rows = txn.range(DOCUMENTS, &range, order);
            let found: Vec<(u8, u8)> = rows.map(|row| row.map(|(key, value)| (key[0], value[0])).expect("read")).collect();
            prop_assert_eq!(&found, &expected);
            expected.reverse();
        }
    }
}

/// What a transaction shows of a space, and the batch that it leaves.
fn outcome(txn: Txn<'_>) -> (Vec<(Bytes, Bytes)>, String) {
    let rows = txn.range(DOCUMENTS, &KeyRange::all(), Order::Ascending);
    let rows = rows.map(|row| row.expect("read")).collect();
    (rows, format!("{:?}", txn.into_batch()))
}

fn apply(txn: &mut Txn<'_>, changes: &[(u8, Option<u8>)]) {
    for (key, value) in changes {
        let key = Bytes::copy_from_slice(&[*key]);
        match value {
            Some(value) => txn.put(DOCUMENTS, key.clone(), vec![*value]),
            None => txn.delete(DOCUMENTS, key.clone()),
        }
        txn.put_blind(INDEX, key.clone(), None);
        txn.tally(INDEX, key, 1, 1);
        txn.log(LOG, 1, Batch::log_payload(0));
    }
}

proptest! {
    /// Parts that fail leave the transaction as it would be without them.
    #[test]
    fn a_part_that_fails_leaves_nothing(
        parts in prop::collection::vec((prop::collection::vec((0u8..4, any::<Option<u8>>()), 0..6), any::<bool>()), 0..8),
    ) {
        let db = Db::open(Box::new(MemoryEngine::new(&SPACES)), Sync::Data).expect("opened");
        let (snapshot, pending) = (db.snapshot(), Overlay::default());
        let (mut whole, mut good) = (Txn::new(&snapshot, &pending), Txn::new(&snapshot, &pending));
        for (changes, succeeds) in &parts {
            let said = whole.part(|txn| {
                apply(txn, changes);
                if *succeeds { Ok(()) } else { Err(()) }
            });
            prop_assert_eq!(said.is_ok(), *succeeds);
            if *succeeds {
                apply(&mut good, changes);
            }
        }
        prop_assert_eq!(outcome(whole), outcome(good));
    }
}
