//! Overflow values in segments: found by their keys, and in the order of their keys.

use bytes::Bytes;
use orrery_core::Lsn;
use orrery_kv::contract::{OVERFLOW, SPACES};
use orrery_kv::{Batch, Db, KeyRange, Order, Read, Sync, overflow_key};
use orrery_kv_fjall::{FORMAT_VERSION, FjallEngine, Folder, NoteCopy, Options};
use std::path::Path;

/// Commits in several segments, some in the same keyspace.
const LSNS: [u64; 8] = [1, 2, 65_535, 65_536, 200_000, 1_048_576, 1_048_577, 20_000_000];

fn open(path: &Path) -> Db {
    let engine =
        FjallEngine::open(Folder::open(path).expect("taken"), &SPACES, &Options::default()).expect("opened");
    Db::open(Box::new(engine), Sync::Data).expect("opened")
}

fn text(lsn: u64) -> Bytes {
    Bytes::from(format!("text of {lsn}"))
}

fn found(db: &Db, range: &KeyRange, order: Order) -> Vec<Bytes> {
    let snapshot = db.snapshot();
    let rows = snapshot.range(OVERFLOW, range, order);
    rows.map(|row| row.expect("read").1).collect()
}

#[test]
fn overflow_values_of_all_segments_are_found_before_and_after_a_restart() {
    let place = tempfile::tempdir().expect("a folder");
    let db = open(place.path());
    assert_eq!(found(&db, &KeyRange::all(), Order::Ascending), Vec::<Bytes>::new());
    assert_eq!(db.snapshot().get(OVERFLOW, &overflow_key(Lsn(1), 0)), Ok(None));
    for lsn in LSNS {
        let mut batch = Batch::new();
        assert_eq!(batch.put_overflow(OVERFLOW, text(lsn)), 0);
        db.commit(vec![batch.stamp(Lsn(lsn))]).expect("committed");
    }
    check(&db, &LSNS);
    drop(db);
    let db = open(place.path());
    check(&db, &LSNS);
    let mut batch = Batch::new();
    batch.delete(OVERFLOW, overflow_key(Lsn(65_536), 0));
    db.commit(vec![batch.stamp(Lsn(20_000_001))]).expect("committed");
    let left: Vec<u64> = LSNS.into_iter().filter(|lsn| *lsn != 65_536).collect();
    check(&db, &left);
    drop(db);
    check(&open(place.path()), &left);
}

#[test]
fn a_folder_of_a_format_before_is_of_this_one_with_its_first_write() {
    let place = tempfile::tempdir().expect("a folder");
    drop(open(place.path()));
    let format = || std::fs::read_to_string(place.path().join("FORMAT")).expect("read");
    // Before format 6 there was one note, and none before the first commit.
    std::fs::write(place.path().join("FORMAT"), "orrery data folder, format 2\n").expect("written");
    std::fs::remove_file(place.path().join("promised")).expect("removed");
    std::fs::remove_file(place.path().join("promised-copy")).expect("removed");
    let db = open(place.path());
    assert_eq!(format(), "orrery data folder, format 2\n", "looking changes nothing");
    let mut batch = Batch::new();
    batch.put_overflow(OVERFLOW, text(2));
    db.commit(vec![batch.stamp(Lsn(2))]).expect("committed");
    assert_eq!(format(), format!("orrery data folder, format {FORMAT_VERSION}\n"));
    let copies = orrery_kv_fjall::read_copies(place.path()).expect("read");
    assert!(copies.iter().all(|(_, copy)| *copy == NoteCopy::Whole(db.tip())), "{copies:?}");
    drop(db);
    check(&open(place.path()), &[2]);
}

fn check(db: &Db, lsns: &[u64]) {
    for lsn in lsns {
        assert_eq!(db.snapshot().get(OVERFLOW, &overflow_key(Lsn(*lsn), 0)), Ok(Some(text(*lsn))));
    }
    for (from, to) in [(0, None), (2, None), (3, Some(1_048_577)), (65_536, Some(65_537)), (5, Some(5))] {
        let end = to.map(|to| overflow_key(Lsn(to), 0).to_vec());
        let range = KeyRange { start: overflow_key(Lsn(from), 0).to_vec(), end };
        let wanted = lsns.iter().filter(|lsn| **lsn >= from && to.is_none_or(|to| **lsn < to));
        let mut wanted: Vec<Bytes> = wanted.map(|lsn| text(*lsn)).collect();
        assert_eq!(found(db, &range, Order::Ascending), wanted, "from {from} to {to:?}");
        wanted.reverse();
        assert_eq!(found(db, &range, Order::Descending), wanted, "back from {to:?} to {from}");
    }
}
