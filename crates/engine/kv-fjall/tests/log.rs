//! The segmented log, which was one keyspace before format 5: rows are found in the order of their keys.

use bytes::Bytes;
use fjall::{Database, KeyspaceCreateOptions, PersistMode};
use orrery_core::Lsn;
use orrery_kv::contract::{LOG, SPACES};
use orrery_kv::{Batch, Db, KeyRange, LogRecord, Order, Read, Snapshot, Sync};
use orrery_kv_fjall::{FORMAT_VERSION, FjallEngine, Folder, Options};
use std::fs;
use std::path::Path;

/// Commits in several segments, some in the same ring slot.
const LSNS: [u64; 9] = [1, 2, 65_535, 65_536, 200_000, 1_048_576, 1_048_577, 1_200_000, 20_000_000];
const STREAMS: [u64; 3] = [1, 2, 255];

fn open(path: &Path) -> Db {
    let engine =
        FjallEngine::open(Folder::open(path).expect("taken"), &SPACES, &Options::default()).expect("opened");
    Db::open(Box::new(engine), Sync::Data).expect("opened")
}

fn append(db: &Db, lsn: u64) {
    let mut batch = Batch::new();
    for stream in STREAMS {
        let mut payload = Batch::log_payload(8);
        payload.extend_from_slice(&lsn.to_be_bytes());
        batch.log(LOG, stream, payload);
    }
    db.commit(vec![batch.stamp(Lsn(lsn))]).expect("committed");
}

/// An entry's last bytes are its number in its commit.
fn key(stream: u64, lsn: u64) -> Bytes {
    let number = STREAMS.iter().position(|known| *known == stream).unwrap_or_default();
    let mut key = LogRecord::range(stream, Lsn(lsn)).start;
    key[17] = number as u8;
    Bytes::from(key)
}

/// Streams and commits, and whether the payload is the one that came.
fn found(state: &Snapshot, range: &KeyRange, order: Order) -> Vec<(u64, u64, bool)> {
    let rows = state.range(LOG, range, order).map(|row| row.expect("read"));
    rows.map(|row| {
        let record = LogRecord::read(&row).expect("an entry");
        (record.stream, record.lsn.0, record.payload == record.lsn.0.to_be_bytes()[..])
    })
    .collect()
}

/// That the log has these commits in every stream, whatever is asked of it.
fn check(db: &Db, lsns: &[u64]) {
    let state = db.snapshot();
    assert_eq!(state.streams(LOG).expect("read"), STREAMS);
    let all = STREAMS.iter().flat_map(|stream| lsns.iter().map(|lsn| (*stream, *lsn, true)));
    let mut all: Vec<_> = all.collect();
    assert_eq!(found(&state, &KeyRange::all(), Order::Ascending), all);
    all.reverse();
    assert_eq!(found(&state, &KeyRange::all(), Order::Descending), all);
    for stream in STREAMS {
        for from in [0, 2, 3, 65_536, 200_001, 1_048_577, 19_999_999, 20_000_001, 30_000_000] {
            let of_stream = lsns.iter().filter(|lsn| **lsn >= from).map(|lsn| (stream, *lsn, true));
            let mut wanted: Vec<_> = of_stream.collect();
            let range = LogRecord::range(stream, Lsn(from));
            assert_eq!(found(&state, &range, Order::Ascending), wanted, "{stream} from {from}");
            wanted.reverse();
            assert_eq!(found(&state, &range, Order::Descending), wanted, "{stream} back to {from}");
        }
        for lsn in LSNS {
            let is_there = lsns.contains(&lsn);
            let rows = found(&state, &LogRecord::of_commit(stream, Lsn(lsn)), Order::Ascending);
            assert_eq!(rows.len(), usize::from(is_there), "{stream} at {lsn}");
            let found = state.get(LOG, &key(stream, lsn)).expect("read");
            assert_eq!(found.is_some(), is_there, "{stream} at {lsn}");
        }
        for tip in [0, 5_000, 70_000, 20_000_000] {
            let newest = LogRecord::newest(&*state, LOG, stream, Lsn(tip)).expect("read");
            assert_eq!(newest.map(|record| record.lsn.0), lsns.last().copied());
        }
    }
}

fn remove(db: &Db, lsn: u64, at: u64) {
    let mut batch = Batch::new();
    for stream in STREAMS {
        batch.delete(LOG, key(stream, lsn));
    }
    db.commit(vec![batch.stamp(Lsn(at))]).expect("committed");
}

#[test]
fn entries_of_all_segments_are_found_before_and_after_a_restart() {
    let place = tempfile::tempdir().expect("a folder");
    let db = open(place.path());
    for (count, lsn) in LSNS.into_iter().enumerate() {
        append(&db, lsn);
        check(&db, &LSNS[..=count]);
    }
    drop(db);
    let db = open(place.path());
    check(&db, &LSNS);
    remove(&db, 65_536, 20_000_001);
    let left: Vec<u64> = LSNS.into_iter().filter(|lsn| *lsn != 65_536).collect();
    check(&db, &left);
    drop(db);
    check(&open(place.path()), &left);
}

/// Moves the log to where it was before format 5.
fn make_old(path: &Path) {
    let database = Database::builder(path.join("engine")).open().expect("opened");
    let keyspace = |name: &str| database.keyspace(name, KeyspaceCreateOptions::default).expect("opened");
    let old = keyspace("log");
    for segment in (0..16).map(|slot| format!("log{slot}")).filter(|name| database.keyspace_exists(name)) {
        for row in keyspace(&segment).iter() {
            let (key, value) = row.into_inner().expect("read");
            old.insert(key, value).expect("written");
        }
        database.delete_keyspace(keyspace(&segment)).expect("deleted");
    }
    database.persist(PersistMode::SyncAll).expect("written");
    drop(old);
    fs::write(path.join("FORMAT"), "orrery data folder, format 4\n").expect("written");
}

#[test]
fn a_log_of_the_format_before_is_read_trimmed_and_continued() {
    let place = tempfile::tempdir().expect("a folder");
    let (old, new) = LSNS.split_at(5);
    let db = open(place.path());
    old.iter().for_each(|lsn| append(&db, *lsn));
    drop(db);
    make_old(place.path());

    let db = open(place.path());
    check(&db, old);
    let format = || fs::read_to_string(place.path().join("FORMAT")).expect("read");
    assert_eq!(format(), "orrery data folder, format 4\n", "who only looks changes nothing");
    new.iter().for_each(|lsn| append(&db, *lsn));
    assert_eq!(format(), format!("orrery data folder, format {FORMAT_VERSION}\n"));
    check(&db, &LSNS);
    drop(db);

    // The newest of the old ones among them, so that what counts as old changes with the next opening.
    let db = open(place.path());
    check(&db, &LSNS);
    remove(&db, 200_000, 20_000_001);
    remove(&db, 1, 20_000_002);
    let left: Vec<u64> = LSNS.into_iter().filter(|lsn| ![1, 200_000].contains(lsn)).collect();
    check(&db, &left);
    drop(db);

    // One that loses its image is written again where it was.
    let db = open(place.path());
    check(&db, &left);
    let mut batch = Batch::new();
    let key = key(2, 65_535);
    let row = (key.clone(), db.snapshot().get(LOG, &key).expect("read").expect("there"));
    let shorter = LogRecord::read(&row).expect("an entry").with_payload(b"short");
    batch.put(LOG, key.clone(), shorter.clone());
    db.commit(vec![batch.stamp(Lsn(20_000_003))]).expect("committed");
    let range = LogRecord::of_commit(2, Lsn(65_535));
    let rows = |db: &Db| found(&db.snapshot(), &range, Order::Ascending);
    assert_eq!(rows(&db), [(2, 65_535, false)]);
    drop(db);
    let db = open(place.path());
    assert_eq!(rows(&db), [(2, 65_535, false)]);
    assert_eq!(db.snapshot().get(LOG, &key).expect("read"), Some(shorter));
}

#[test]
fn a_log_of_the_format_before_may_be_trimmed_to_nothing() {
    let place = tempfile::tempdir().expect("a folder");
    let db = open(place.path());
    LSNS[..3].iter().for_each(|lsn| append(&db, *lsn));
    drop(db);
    make_old(place.path());
    let db = open(place.path());
    append(&db, LSNS[3]);
    (0..3).for_each(|index| remove(&db, LSNS[index], LSNS[3] + 1 + index as u64));
    check(&db, &LSNS[3..4]);
    drop(db);
    let db = open(place.path());
    check(&db, &LSNS[3..4]);
    append(&db, LSNS[4]);
    check(&db, &LSNS[3..5]);
}
