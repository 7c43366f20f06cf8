//! What every engine must do, as tests that each engine's own test calls.
//!
//! `Bench` makes an engine on an empty place and opens it again after a stop.

use crate::{
    Batch, Condition, Db, Engine, Error, Expect, KeyRange, LogRecord, META, Memtable, Order, Outcome, Put,
    Read, Space, SpaceSet, SpaceSpec, StampedBatch, Sync, Tally, Tip,
};
use bytes::Bytes;
use orrery_core::Lsn;
use std::collections::BTreeMap;

pub const DOCUMENTS: Space = Space::new(1);
pub const INDEX: Space = Space::new(2);
pub const LOG: Space = Space::new(3);
pub const OVERFLOW: Space = Space::new(4);

/// A space of every kind, for tests of engines.
pub static SPACES: SpaceSet = SpaceSet::new(&[&[
    SpaceSpec { is_user_data: true, ..SpaceSpec::by_key(DOCUMENTS, "documents") },
    SpaceSpec { memtable: Memtable::SortedRuns { name: "runs" }, ..SpaceSpec::by_key(INDEX, "index") },
    SpaceSpec::log(LOG, "log"),
    SpaceSpec::overflow(OVERFLOW, "texts"),
]]);

/// A place that engines can be opened on, one after another.
pub trait Bench {
    fn open(&mut self) -> Box<dyn Engine>;
}

/// Runs the whole suite, each part on a fresh place.
pub fn check<B: Bench>(mut fresh: impl FnMut() -> B) {
    a_write_is_all_there_and_in_order(&mut fresh());
    a_view_does_not_see_later_writes(&mut fresh());
    ranges_are_ordered_both_ways_and_half_open(&mut fresh());
    random_writes_answer_like_a_map(&mut fresh());
    synced_writes_survive_reopening(&mut fresh());
    conditions_decide_and_see_earlier_batches(&mut fresh());
    stamps_and_log_entries_carry_the_lsn(&mut fresh());
    tallies_add_up_over_batches_and_reopening(&mut fresh());
    a_changed_log_entry_is_noticed(&mut fresh());
    a_lost_commit_is_noticed(&mut fresh());
}

fn put(space: Space, key: &str, value: &str) -> Put {
    Put {
        space,
        key: Bytes::copy_from_slice(key.as_bytes()),
        value: Some(Bytes::copy_from_slice(value.as_bytes())),
    }
}

fn removal(space: Space, key: &str) -> Put {
    Put { space, key: Bytes::copy_from_slice(key.as_bytes()), value: None }
}

fn keys(view: &dyn Read, space: Space, range: &KeyRange, order: Order) -> Vec<String> {
    let row =
        |row: Result<(Bytes, Bytes), Error>| String::from_utf8_lossy(&row.expect("readable").0).into_owned();
    view.range(space, range, order).map(row).collect()
}

fn text(value: Option<Bytes>) -> Option<String> {
    value.map(|value| String::from_utf8_lossy(&value).into_owned())
}

fn a_write_is_all_there_and_in_order(bench: &mut impl Bench) {
    let engine = bench.open();
    let puts = vec![
        put(DOCUMENTS, "a", "1"),
        put(INDEX, "a", "2"),
        put(DOCUMENTS, "a", "3"),
        put(DOCUMENTS, "b", "4"),
        removal(DOCUMENTS, "b"),
    ];
    engine.write(puts, Sync::Data).expect("written");
    let view = engine.view();
    assert_eq!(text(view.get(DOCUMENTS, b"a").expect("read")), Some("3".into()), "the later put wins");
    assert_eq!(text(view.get(INDEX, b"a").expect("read")), Some("2".into()), "spaces are apart");
    assert_eq!(view.get(DOCUMENTS, b"b").expect("read"), None, "a removal removes");
    assert_eq!(view.get(META, b"a").expect("read"), None);
}

fn a_view_does_not_see_later_writes(bench: &mut impl Bench) {
    let engine = bench.open();
    engine.write(vec![put(DOCUMENTS, "a", "old")], Sync::Data).expect("written");
    let before = engine.view();
    engine.write(vec![put(DOCUMENTS, "a", "new"), put(DOCUMENTS, "b", "1")], Sync::Data).expect("written");
    assert_eq!(text(before.get(DOCUMENTS, b"a").expect("read")), Some("old".into()));
    assert_eq!(keys(&*before, DOCUMENTS, &KeyRange::all(), Order::Ascending), ["a"]);
    assert_eq!(text(engine.view().get(DOCUMENTS, b"a").expect("read")), Some("new".into()));
}

fn ranges_are_ordered_both_ways_and_half_open(bench: &mut impl Bench) {
    let engine = bench.open();
    let names = ["", "a", "a\0", "ab", "b", "c"];
    let puts = names.iter().filter(|name| !name.is_empty()).map(|name| put(DOCUMENTS, name, "x"));
    engine.write(puts.collect(), Sync::Data).expect("written");
    let view = engine.view();
    let check = |range: KeyRange, expected: &[&str]| {
        let mut reversed = expected.to_vec();
        reversed.reverse();
        assert_eq!(keys(&*view, DOCUMENTS, &range, Order::Ascending), expected);
        assert_eq!(keys(&*view, DOCUMENTS, &range, Order::Descending), reversed);
    };
    check(KeyRange::all(), &["a", "a\0", "ab", "b", "c"]);
    check(KeyRange::new(b"a\0".to_vec(), b"c".to_vec()), &["a\0", "ab", "b"]);
    check(KeyRange::prefix(b"a"), &["a", "a\0", "ab"]);
    check(KeyRange::new(b"b".to_vec(), b"b".to_vec()), &[]);
    check(KeyRange::new(b"c".to_vec(), b"a".to_vec()), &[]);
}

fn random_writes_answer_like_a_map(bench: &mut impl Bench) {
    let engine = bench.open();
    let mut model: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    let mut state = 42u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for _ in 0..300 {
        let mut puts = Vec::new();
        for _ in 0..next(8) {
            let key: Vec<u8> = (0..1 + next(3)).map(|_| [0, 1, 0x7f, 0xfe, 0xff][next(5) as usize]).collect();
            let value = (next(4) > 0).then(|| vec![next(256) as u8; next(2000) as usize]);
            match &value {
                Some(value) => model.insert(key.clone(), value.clone()),
                None => model.remove(&key),
            };
            puts.push(Put { space: INDEX, key: key.into(), value: value.map(Bytes::from) });
        }
        engine.write(puts, Sync::None).expect("written");
    }
    let view = engine.view();
    let found = view.range(INDEX, &KeyRange::all(), Order::Ascending);
    let found: Vec<_> =
        found.map(|row| row.map(|(key, value)| (key.to_vec(), value.to_vec())).expect("read")).collect();
    assert_eq!(found, model.clone().into_iter().collect::<Vec<_>>());
    for (key, value) in &model {
        assert_eq!(view.get(INDEX, key).expect("read").as_deref(), Some(value.as_slice()));
    }
}

fn synced_writes_survive_reopening(bench: &mut impl Bench) {
    let engine = bench.open();
    engine.write(vec![put(DOCUMENTS, "a", "1"), put(LOG, "l", "2")], Sync::Data).expect("written");
    drop(engine);
    let view = bench.open().view();
    assert_eq!(text(view.get(DOCUMENTS, b"a").expect("read")), Some("1".into()));
    assert_eq!(text(view.get(LOG, b"l").expect("read")), Some("2".into()));
}

fn batch(key: &str, value: &str, expect: Option<(&str, Expect)>) -> Batch {
    let mut batch = Batch::new();
    batch.put(META, Bytes::copy_from_slice(key.as_bytes()), Bytes::copy_from_slice(value.as_bytes()));
    if let Some((key, expect)) = expect {
        batch.require(Condition { space: META, key: Bytes::copy_from_slice(key.as_bytes()), expect });
    }
    batch
}

fn stamped(batches: Vec<Batch>, from: u64) -> Vec<StampedBatch> {
    batches.into_iter().enumerate().map(|(index, batch)| batch.stamp(Lsn(from + index as u64))).collect()
}

fn conditions_decide_and_see_earlier_batches(bench: &mut impl Bench) {
    let db = Db::open(bench.open(), Sync::Data).expect("opened");
    let group = vec![
        batch("a", "1", Some(("a", Expect::Absent))),
        batch("b", "1", Some(("a", Expect::Is(Bytes::from_static(b"1"))))),
        batch("c", "1", Some(("a", Expect::Absent))),
        batch("d", "1", Some(("a", Expect::Present))),
    ];
    let outcomes = db.commit(stamped(group, 1)).expect("committed");
    assert_eq!(outcomes, [Outcome::Committed, Outcome::Committed, Outcome::Refused, Outcome::Aborted]);
    let snapshot = db.snapshot();
    assert_eq!(snapshot.lsn(), Lsn(2));
    assert!(snapshot.get(META, b"b").expect("read").is_some());
    assert_eq!(snapshot.get(META, b"c").expect("read"), None);
    assert_eq!(snapshot.get(META, b"d").expect("read"), None);
    let outcomes =
        db.commit(stamped(vec![batch("d", "1", Some(("a", Expect::Present)))], 9)).expect("committed");
    assert_eq!(outcomes, [Outcome::Committed]);
}

fn log_batch(stream: u64, payload: &[u8]) -> Batch {
    let mut batch = Batch::new();
    let mut entry = Batch::log_payload(payload.len());
    entry.extend_from_slice(payload);
    batch.log(LOG, stream, entry);
    let key = Bytes::copy_from_slice(&stream.to_be_bytes());
    batch.put_stamped(DOCUMENTS, key, vec![0xee; 10], 1);
    batch
}

fn stamps_and_log_entries_carry_the_lsn(bench: &mut impl Bench) {
    let db = Db::open(bench.open(), Sync::Data).expect("opened");
    db.commit(stamped(vec![log_batch(1, b"one"), log_batch(2, b"two")], 7)).expect("committed");
    db.commit(stamped(vec![log_batch(1, b"three")], 300)).expect("committed");
    drop(db);
    let db = Db::open(bench.open(), Sync::Data).expect("opened again, its log whole");
    assert_eq!(db.tip().lsn, Lsn(300));
    let snapshot = db.snapshot();
    let row = snapshot.get(DOCUMENTS, &1u64.to_be_bytes()).expect("read").expect("there");
    assert_eq!(row.as_ref(), [0xee, 0, 0, 0, 0, 0, 0, 1, 44, 0xee]);
    let entries = snapshot.range(LOG, &LogRecord::range(1, Lsn(0)), Order::Ascending);
    let entries: Vec<_> =
        entries.map(|row| LogRecord::read(&row.expect("read")).expect("an entry")).collect();
    let seen: Vec<_> = entries.iter().map(|entry| (entry.lsn.0, entry.payload.to_vec())).collect();
    assert_eq!(seen, [(7, b"one".to_vec()), (300, b"three".to_vec())]);
    db.commit(stamped(vec![log_batch(1, b"four")], 301)).expect("the chain goes on after reopening");
    drop((snapshot, db));
    Db::open(bench.open(), Sync::Data).expect("the chain holds across reopening");
}

fn tallies_add_up_over_batches_and_reopening(bench: &mut impl Bench) {
    let key = Bytes::from_static(b"tally");
    let count = |db: &Db, field| Tally::of(&*db.snapshot(), INDEX, &key).expect("readable").get(field);
    let changes = |lsn: u64, changes: &[(u64, i64)]| {
        let mut batch = Batch::new();
        batch.put_blind(INDEX, Bytes::from(vec![b'e', lsn as u8]), Some(Bytes::new()));
        changes.iter().for_each(|(field, by)| batch.tally(INDEX, key.clone(), *field, *by));
        batch.stamp(Lsn(lsn))
    };
    let db = Db::open(bench.open(), Sync::Data).expect("open");
    db.commit(vec![changes(1, &[(1, 2), (2, 1)]), changes(2, &[(1, -1)])]).expect("committed");
    assert_eq!((count(&db, 1), count(&db, 2)), (1, 1));
    db.commit(vec![changes(3, &[(1, 4)])]).expect("committed");
    drop(db);
    let db = Db::open(bench.open(), Sync::Data).expect("open");
    db.commit(vec![changes(4, &[(1, 1), (2, -1)])]).expect("committed");
    assert_eq!((count(&db, 1), count(&db, 2)), (6, 0));
    assert!(db.snapshot().get(INDEX, b"e\x04").expect("readable").is_some());
}

fn a_changed_log_entry_is_noticed(bench: &mut impl Bench) {
    let db = Db::open(bench.open(), Sync::Data).expect("opened");
    db.commit(stamped(vec![log_batch(1, b"one"), log_batch(1, b"two"), log_batch(1, b"three")], 1))
        .expect("committed");
    let row = db.snapshot().range(LOG, &LogRecord::range(1, Lsn(2)), Order::Ascending).next();
    let (key, value) = row.expect("there").expect("read");
    drop(db);
    let engine = bench.open();
    let mut changed = value.to_vec();
    *changed.last_mut().expect("a payload") ^= 1;
    engine.write(vec![Put { space: LOG, key, value: Some(changed.into()) }], Sync::Data).expect("written");
    assert!(matches!(Db::open(engine, Sync::Data), Err(Error::Corrupt(_))));
}

fn a_lost_commit_is_noticed(bench: &mut impl Bench) {
    let db = Db::open(bench.open(), Sync::Data).expect("opened");
    db.commit(stamped(vec![log_batch(1, b"one")], 1)).expect("committed");
    drop(db);
    let engine = bench.open();
    let promised = engine.promised().expect("a promise was noted");
    assert_eq!(promised.lsn, Lsn(1));
    engine.note_promise(Tip { lsn: Lsn(2), ..promised });
    drop(engine);
    let lost = Db::open(bench.open(), Sync::Data);
    assert!(matches!(lost, Err(Error::Truncated { found: Lsn(1), promised: Lsn(2) })));
    drop(lost);
    drop(Db::open_accepting_loss(bench.open(), Sync::Data).expect("a person may accept the loss"));
    Db::open(bench.open(), Sync::Data).expect("and it is accepted for good");
}
