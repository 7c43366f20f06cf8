//! What is kept of earlier reads answers as the engine would, and the engine is not asked again.

use bytes::Bytes;
use orrery_core::Lsn;
use orrery_kv::contract::{DOCUMENTS, INDEX, SPACES};
use orrery_kv::{
    Batch, Db, Engine, Error, Fault, KeyRange, META, MemoryEngine, Order, Put, Read, Row, Rows, Snapshot,
    Space, SpaceSet, Sync, Tip,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An engine that counts how many rows it gave.
#[derive(Clone)]
struct Counting {
    engine: MemoryEngine,
    rows: Arc<AtomicUsize>,
}

struct View(Arc<dyn Read + Send + std::marker::Sync>, Arc<AtomicUsize>);

impl Counting {
    fn new() -> Self {
        Self { engine: MemoryEngine::new(&SPACES), rows: Arc::default() }
    }
}

impl Engine for Counting {
    fn spaces(&self) -> &'static SpaceSet {
        self.engine.spaces()
    }

    fn view(&self) -> Arc<dyn Read + Send + std::marker::Sync> {
        Arc::new(View(self.engine.view(), self.rows.clone()))
    }

    fn write(&self, puts: Vec<Put>, sync: Sync) -> Result<(), Error> {
        self.engine.write(puts, sync)
    }

    fn note_promise(&self, tip: Tip) {
        self.engine.note_promise(tip);
    }

    fn promised(&self) -> Option<Tip> {
        self.engine.promised()
    }
}

impl Read for View {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, Error> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.get(space, key)
    }

    fn range(&self, space: Space, range: &KeyRange, order: Order) -> Rows<'_> {
        Box::new(self.0.range(space, range, order).inspect(|_| {
            self.1.fetch_add(1, Ordering::Relaxed);
        }))
    }
}

type Model = BTreeMap<u8, Vec<u8>>;

fn commit(db: &Db, changes: &[(u8, Option<Vec<u8>>)]) -> Result<(), Error> {
    let mut batch = Batch::new();
    for (key, value) in changes {
        match value {
            Some(value) => batch.put(DOCUMENTS, vec![*key].into(), value.clone().into()),
            None => batch.delete(DOCUMENTS, vec![*key].into()),
        }
    }
    db.commit(vec![batch.stamp(Lsn(db.tip().lsn.0 + 1))]).map(drop)
}

fn walked(rows: Rows<'_>, count: usize) -> Vec<(u8, Vec<u8>)> {
    rows.take(count).map(|row| row.map(|(key, value)| (key[0], value.to_vec())).expect("read")).collect()
}

fn expected(model: &Model, from: u8, to: Option<u8>, order: Order, count: usize) -> Vec<(u8, Vec<u8>)> {
    if to.is_some_and(|to| to < from) {
        return Vec::new();
    }
    let end = to.map_or(Bound::Unbounded, Bound::Excluded);
    let rows = if to == Some(from) { None } else { Some(model.range((Bound::Included(from), end))) };
    let rows = rows.into_iter().flatten().map(|(key, value)| (*key, value.clone()));
    match order {
        Order::Ascending => rows.take(count).collect(),
        Order::Descending => rows.rev().take(count).collect(),
    }
}

fn range(from: u8, to: Option<u8>) -> KeyRange {
    KeyRange { start: vec![from], end: to.map(|to| vec![to]) }
}

#[derive(Clone, Debug)]
enum Step {
    Commit(Vec<(u8, Option<Vec<u8>>)>),
    /// A commit that the disk does not take.
    Fail(Vec<(u8, Option<Vec<u8>>)>),
    /// From the newest snapshot on, or one that many before it.
    Get(usize, u8),
    Walk {
        back: usize,
        from: u8,
        to: Option<u8>,
        order: Order,
        count: usize,
    },
    /// A walk with a commit in the middle.
    Interrupted {
        from: u8,
        order: Order,
        count: usize,
        change: (u8, Option<Vec<u8>>),
    },
}

const KEYS: u8 = 48;

fn value() -> impl Strategy<Value = Vec<u8>> {
    let size = prop_oneof![4 => 0usize..20, 1 => 5_000usize..15_000, 1 => Just(40_000)];
    (size, any::<u8>()).prop_map(|(size, byte)| vec![byte; size])
}

fn changes() -> impl Strategy<Value = Vec<(u8, Option<Vec<u8>>)>> {
    prop::collection::vec((0..KEYS, prop::option::weighted(0.7, value())), 1..6)
}

fn order() -> impl Strategy<Value = Order> {
    prop_oneof![Just(Order::Ascending), Just(Order::Descending)]
}

/// Few places, so that walks begin where others began.
fn step() -> impl Strategy<Value = Step> {
    let place = || prop_oneof![3 => prop::sample::select(vec![0, 8, 30]), 1 => 0..KEYS];
    let count = || prop_oneof![Just(usize::MAX), 0usize..10];
    let walk = (0usize..3, place(), prop::option::of(place()), order(), count());
    prop_oneof![
        2 => changes().prop_map(Step::Commit),
        1 => changes().prop_map(Step::Fail),
        3 => (0usize..3, 0..KEYS).prop_map(|(back, key)| Step::Get(back, key)),
        6 => walk.prop_map(|(back, from, to, order, count)| Step::Walk { back, from, to, order, count }),
        1 => (place(), order(), 1usize..30, (0..KEYS, prop::option::of(value())))
            .prop_map(|(from, order, count, change)| Step::Interrupted { from, order, count, change }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// However little room there is, every snapshot shows what it showed.
    #[test]
    fn what_is_kept_answers_as_the_engine_would(
        stored in prop::collection::btree_map(0..KEYS, value(), 0..40),
        steps in prop::collection::vec(step(), 1..60),
        kilobytes in prop::sample::select(vec![0usize, 4, 150, 2_000]),
    ) {
        let engine = MemoryEngine::new(&SPACES);
        let db = Db::open(Box::new(engine.clone()), Sync::Data).expect("opened").with_cache_bytes(kilobytes << 10);
        let changes: Vec<_> = stored.iter().map(|(key, value)| (*key, Some(value.clone()))).collect();
        commit(&db, &changes).expect("committed");
        let mut states: Vec<(Arc<Snapshot>, Model)> = vec![(db.snapshot(), stored)];
        for step in steps {
            let (_, newest) = states.last().expect("never empty");
            let mut next = newest.clone();
            match step {
                Step::Commit(changes) => {
                    commit(&db, &changes).expect("committed");
                    for (key, value) in changes {
                        match value {
                            Some(value) => drop(next.insert(key, value)),
                            None => drop(next.remove(&key)),
                        }
                    }
                    states.push((db.snapshot(), next));
                }
                Step::Fail(changes) => {
                    engine.fail_at(0, Fault::BeforeWrite);
                    prop_assert!(commit(&db, &changes).is_err());
                }
                Step::Get(back, key) => {
                    let (snapshot, model) = &states[states.len().saturating_sub(back + 1)];
                    let found = snapshot.get(DOCUMENTS, &[key]).expect("read");
                    prop_assert_eq!(found.as_deref(), model.get(&key).map(Vec::as_slice));
                }
                Step::Walk { back, from, to, order, count } => {
                    let (snapshot, model) = &states[states.len().saturating_sub(back + 1)];
                    let found = walked(snapshot.range(DOCUMENTS, &range(from, to), order), count);
                    prop_assert_eq!(found, expected(model, from, to, order, count));
                }
                Step::Interrupted { from, order, count, change } => {
                    let snapshot = db.snapshot();
                    let mut rows = snapshot.range(DOCUMENTS, &range(from, None), order);
                    let mut found: Vec<Row> = rows.by_ref().take(count).map(|row| row.expect("read")).collect();
                    commit(&db, std::slice::from_ref(&change)).expect("committed");
                    found.extend(rows.map(|row| row.expect("read")));
                    let found: Vec<_> = found.iter().map(|(key, value)| (key[0], value.to_vec())).collect();
                    prop_assert_eq!(found, expected(newest, from, None, order, usize::MAX));
                    match change {
                        (key, Some(value)) => drop(next.insert(key, value)),
                        (key, None) => drop(next.remove(&key)),
                    }
                    states.push((db.snapshot(), next));
                }
            }
        }
    }
}

/// 64 rows of 1 KB, and how many rows the engine gives while `read` is done.
fn asked(db: &Db, engine: &Counting, read: impl Fn(&Snapshot)) -> usize {
    let before = engine.rows.load(Ordering::Relaxed);
    read(&db.snapshot());
    engine.rows.load(Ordering::Relaxed) - before
}

fn filled() -> (Db, Counting) {
    let engine = Counting::new();
    let db = Db::open(Box::new(engine.clone()), Sync::Data).expect("opened").with_cache_bytes(1 << 20);
    let changes: Vec<_> = (0..64).map(|key| (key, Some(vec![key; 1024]))).collect();
    commit(&db, &changes).expect("committed");
    (db, engine)
}

#[test]
fn a_row_is_asked_for_once_and_stays_when_it_is_written() {
    let (db, engine) = filled();
    let read = |db: &Db| asked(db, &engine, |state| drop(state.get(DOCUMENTS, &[7]).expect("read")));
    assert_eq!((read(&db), read(&db)), (1, 0));
    commit(&db, &[(7, Some(vec![1]))]).expect("committed");
    assert_eq!(read(&db), 0);
    commit(&db, &[(7, None)]).expect("committed");
    assert_eq!(read(&db), 0);
    assert_eq!(db.snapshot().get(DOCUMENTS, &[7]), Ok(None));
}

#[test]
fn that_there_is_no_row_is_kept_in_meta_alone() {
    let (db, engine) = filled();
    for (space, again) in [(META, 0), (DOCUMENTS, 1), (INDEX, 1)] {
        let read = || asked(&db, &engine, |state| assert_eq!(state.get(space, &[200]), Ok(None)));
        assert_eq!((read(), read()), (1, again), "{space:?}");
    }
}

#[test]
fn a_range_is_kept_when_it_is_walked_the_second_time() {
    for order in [Order::Ascending, Order::Descending] {
        let (db, engine) = filled();
        let all = |state: &Snapshot| drop(walked(state.range(DOCUMENTS, &range(0, Some(64)), order), 100));
        assert_eq!([(); 4].map(|()| asked(&db, &engine, all)), [64, 64, 0, 0], "{order:?}");
        let first = |state: &Snapshot| drop(walked(state.range(DOCUMENTS, &range(10, Some(20)), order), 5));
        assert_eq!(asked(&db, &engine, first), 0, "a part of it is known");
    }
}

#[test]
fn a_commit_takes_away_the_runs_that_it_changes_and_no_others() {
    let (db, engine) = filled();
    let all = |state: &Snapshot| {
        drop(walked(state.range(DOCUMENTS, &range(0, Some(64)), Order::Ascending), 100));
    };
    (0..2).for_each(|_| _ = asked(&db, &engine, all));
    commit(&db, &[(3, Some(vec![9]))]).expect("committed");
    let again = asked(&db, &engine, all);
    assert!((1..=40).contains(&again), "{again} rows were asked for again");
    assert_eq!(asked(&db, &engine, all), 0);
}

#[test]
fn what_an_older_snapshot_finds_is_not_kept_for_newer_ones() {
    let (db, _) = filled();
    let old = db.snapshot();
    commit(&db, &[(7, Some(vec![1]))]).expect("committed");
    for _ in 0..3 {
        assert_eq!(old.get(DOCUMENTS, &[7]).expect("read").expect("there").len(), 1024);
        assert_eq!(walked(old.range(DOCUMENTS, &range(7, Some(8)), Order::Ascending), 1)[0].1.len(), 1024);
    }
    let new = db.snapshot();
    assert_eq!(new.get(DOCUMENTS, &[7]).expect("read").expect("there").len(), 1);
    assert_eq!(walked(new.range(DOCUMENTS, &range(7, Some(8)), Order::Ascending), 1)[0].1.len(), 1);
}

#[test]
fn room_is_given_to_what_is_used() {
    let engine = Counting::new();
    let db = Db::open(Box::new(engine.clone()), Sync::Data).expect("opened").with_cache_bytes(1 << 20);
    let changes: Vec<_> = (0..200).map(|key| (key, Some(vec![key; 8192]))).collect();
    commit(&db, &changes).expect("committed");
    let part = |from: u8| {
        move |state: &Snapshot| {
            drop(walked(state.range(DOCUMENTS, &range(from, Some(from + 10)), Order::Ascending), 10));
        }
    };
    (0..2).for_each(|_| _ = asked(&db, &engine, part(0)));
    for from in (10..190).step_by(10) {
        (0..2).for_each(|_| _ = asked(&db, &engine, part(from)));
        assert_eq!(asked(&db, &engine, part(0)), 0, "it was used after {from}");
    }
    let kept = db.measures().into_iter().find(|measure| measure.name == "warm_runs").expect("told").value;
    assert!((200_000..=1 << 19).contains(&kept), "{kept} bytes of at most {}", 1 << 19);
}

#[test]
fn of_a_range_larger_than_the_room_a_part_is_kept() {
    let engine = Counting::new();
    let db = Db::open(Box::new(engine.clone()), Sync::Data).expect("opened").with_cache_bytes(8 << 20);
    let changes: Vec<_> = (0..250).map(|key| (key, Some(vec![key; 24 << 10]))).collect();
    commit(&db, &changes).expect("committed");
    let all = |state: &Snapshot| {
        drop(walked(state.range(DOCUMENTS, &range(0, None), Order::Ascending), 250));
    };
    let rows = [(); 6].map(|()| asked(&db, &engine, all));
    assert_eq!(rows[..2], [250, 250]);
    assert!(
        rows[2..].iter().all(|rows| (80..200).contains(rows)),
        "{rows:?}: four of six megabytes have room"
    );
}

#[test]
fn rows_that_grow_do_not_take_more_room_than_there_is() {
    let (db, engine) = filled();
    (0..64)
        .for_each(|key| _ = asked(&db, &engine, |state| drop(state.get(DOCUMENTS, &[key]).expect("read"))));
    for key in 0..64 {
        commit(&db, &[(key, Some(vec![key; 30_000]))]).expect("committed");
        assert_eq!(db.snapshot().get(DOCUMENTS, &[key]).expect("read").expect("there").len(), 30_000);
    }
    let kept = db.measures().into_iter().find(|measure| measure.name == "warm_rows").expect("told").value;
    assert!((30_000..=1 << 19).contains(&kept), "{kept} bytes of at most {}", 1 << 19);
}

#[test]
fn what_was_read_before_very_many_changes_is_not_kept() {
    let orders = [Order::Ascending, Order::Descending];
    for (order, is_before) in orders.into_iter().flat_map(|order| [(order, true), (order, false)]) {
        let (db, _) = filled();
        let old = db.snapshot();
        let walk = || old.range(DOCUMENTS, &range(0, Some(64)), order);
        assert_eq!(walked(walk(), 100).len(), 64, "the second walk from here is kept");
        let mut rows = walk();
        let first = rows.next().expect("there").expect("read").0[0];
        let mut batch = Batch::new();
        if is_before {
            commit(&db, &[(first, Some(vec![1]))]).expect("committed");
        } else {
            batch.put(DOCUMENTS, vec![first].into(), vec![1].into());
        }
        (0..5_000u32).for_each(|key| batch.put(INDEX, key.to_be_bytes().to_vec().into(), Bytes::new()));
        db.commit(vec![batch.stamp(Lsn(db.tip().lsn.0 + 1))]).expect("committed");
        drop(rows);
        let now = walked(db.snapshot().range(DOCUMENTS, &range(first, Some(first + 1)), order), 1);
        assert_eq!(now[0].1, [1], "{order:?}, changed before: {is_before}");
    }
}

#[test]
fn after_a_commit_that_failed_rows_are_kept_again() {
    let engine = Counting::new();
    let db = Db::open(Box::new(engine.clone()), Sync::Data).expect("opened").with_cache_bytes(1 << 20);
    commit(&db, &[(7, Some(vec![1]))]).expect("committed");
    engine.engine.fail_at(0, Fault::BeforeWrite);
    commit(&db, &[(7, Some(vec![2]))]).expect_err("no room");
    let read = || {
        asked(&db, &engine, |state| {
            assert_eq!(state.get(DOCUMENTS, &[7]).expect("read").as_deref(), Some(&[1][..]))
        })
    };
    assert_eq!((read(), read()), (1, 0));
}

#[test]
fn a_walk_ends_with_the_failure_that_it_meets() {
    struct Failing(Arc<dyn Read + Send + std::marker::Sync>);
    impl Read for Failing {
        fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, Error> {
            self.0.get(space, key)
        }
        fn range(&self, space: Space, range: &KeyRange, order: Order) -> Rows<'_> {
            if space != DOCUMENTS {
                return self.0.range(space, range, order);
            }
            let rows = self.0.range(space, range, order).take(3);
            Box::new(rows.chain([Err(Error::Unavailable("the disk".into()))]))
        }
    }
    struct OnFailing(MemoryEngine);
    impl Engine for OnFailing {
        fn spaces(&self) -> &'static SpaceSet {
            self.0.spaces()
        }
        fn view(&self) -> Arc<dyn Read + Send + std::marker::Sync> {
            Arc::new(Failing(self.0.view()))
        }
        fn write(&self, puts: Vec<Put>, sync: Sync) -> Result<(), Error> {
            self.0.write(puts, sync)
        }
        fn note_promise(&self, tip: Tip) {
            self.0.note_promise(tip);
        }
        fn promised(&self) -> Option<Tip> {
            self.0.promised()
        }
    }
    let db = Db::open(Box::new(OnFailing(MemoryEngine::new(&SPACES))), Sync::Data)
        .expect("opened")
        .with_cache_bytes(1 << 20);
    commit(&db, &(0..9).map(|key| (key, Some(vec![key]))).collect::<Vec<_>>()).expect("committed");
    let state = db.snapshot();
    for _ in 0..3 {
        let rows: Vec<_> = state.range(DOCUMENTS, &range(0, Some(9)), Order::Ascending).collect();
        assert!(
            rows.iter().filter(|row| row.is_err()).count() == 1 && rows.last().expect("not empty").is_err()
        );
    }
}
