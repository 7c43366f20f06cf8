//! The contract on real files, and what only files can show: a disk without room, a journal that was cut.

use bytes::Bytes;
use orrery_core::Lsn;
use orrery_kv::contract::{self, Bench, DOCUMENTS, LOG, OVERFLOW, SPACES};
use orrery_kv::{Batch, Db, Engine, Error, META, Read, Sync, overflow_key};
use orrery_kv_fjall::{FjallEngine, Folder, Options};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use tempfile::TempDir;

struct Place(TempDir);

fn fresh() -> Place {
    Place(tempfile::tempdir().expect("a folder"))
}

fn open(path: &Path, options: &Options) -> FjallEngine {
    FjallEngine::open(Folder::open(path).expect("the folder"), &SPACES, options).expect("the engine")
}

impl Bench for Place {
    fn open(&mut self) -> Box<dyn Engine> {
        Box::new(open(self.0.path(), &Options::default()))
    }
}

#[test]
fn fjall_keeps_the_contract() {
    contract::check(fresh);
}

fn change(n: u64) -> Batch {
    let mut batch = document(n, 500);
    batch.log(LOG, 1, Batch::log_payload(0));
    batch
}

fn document(n: u64, bytes: usize) -> Batch {
    let mut batch = Batch::new();
    batch.put(DOCUMENTS, Bytes::copy_from_slice(&n.to_be_bytes()), Bytes::from(vec![7; bytes]));
    batch
}

fn measure(db: &Db, name: &str) -> u64 {
    db.measures().into_iter().find(|one| one.name == name).expect("the measure").value
}

fn has_all(db: &Db, mut numbers: std::ops::RangeInclusive<u64>) -> bool {
    let rows = db.snapshot();
    numbers.all(|n| rows.get(DOCUMENTS, &n.to_be_bytes()).expect("read").is_some())
}

#[test]
fn a_disk_without_room_refuses_writes_and_answers_reads() {
    let place = fresh();
    let db = Db::open(Box::new(open(place.0.path(), &Options::default())), Sync::Data).expect("opened");
    db.commit(vec![change(1).stamp(Lsn(1))]).expect("committed");
    drop(db);
    let full = Options { disk_free_bytes_min: u64::MAX, ..Options::default() };
    let db = Db::open(Box::new(open(place.0.path(), &full)), Sync::Data).expect("opened");
    let refused = db.commit(vec![change(2).stamp(Lsn(2))]);
    assert!(matches!(&refused, Err(Error::Full(why)) if why.contains("make room")), "{refused:?}");
    assert!(db.snapshot().get(DOCUMENTS, &1u64.to_be_bytes()).expect("read").is_some());
    assert!(db.snapshot().get(DOCUMENTS, &2u64.to_be_bytes()).expect("read").is_none());
}

/// Not before there is something to gain by it; and the database looks where things are then.
#[test]
fn an_idle_store_flushes_its_memtables() {
    let place = fresh();
    let db = Db::open(Box::new(open(place.0.path(), &Options::default())), Sync::None).unwrap();
    let write = |n: u64, bytes: usize| db.commit(vec![document(n, bytes).stamp(Lsn(n))]).unwrap();
    write(1, 1000);
    db.idle().unwrap();
    assert_eq!(measure(&db, "tables"), 0, "it is little");
    write(2, 5 << 20);
    db.idle().unwrap();
    while measure(&db, "memtables") > 0 {
        std::thread::yield_now();
    }
    assert!(measure(&db, "tables") > 0);
    db.idle().unwrap();
    let found = db.snapshot().get(DOCUMENTS, &2u64.to_be_bytes()).unwrap();
    assert_eq!((found.map(|value| value.len()), db.durable_lsn()), (Some(5 << 20), Lsn(2)));
}

/// A file of texts is not merged with the next one; but what stays in memory keeps the journal long.
#[test]
fn an_idle_store_keeps_few_overflow_values_in_memory_until_the_journal_is_long() {
    let place = fresh();
    let db = Db::open(Box::new(open(place.0.path(), &Options::default())), Sync::None).unwrap();
    let mut lsn = 0;
    let mut write = |mut batch: Batch| {
        lsn += 1;
        batch.put(META, Bytes::from_static(b"row"), Bytes::new());
        db.commit(vec![batch.stamp(Lsn(lsn))]).unwrap();
        lsn
    };
    let mut text = Batch::new();
    text.put_overflow(OVERFLOW, Bytes::from(vec![7; 100_000]));
    write(text);
    write(document(1, 5 << 20));
    db.idle().unwrap();
    while measure(&db, "memtables") > 200_000 {
        std::thread::yield_now();
    }
    assert!(measure(&db, "memtables") >= 100_000, "the text is where it was");
    while measure(&db, "journal") <= 192 << 20 {
        let n = write(document(2, 8 << 20));
        // What is written meanwhile goes to files, and the text stays.
        if n.is_multiple_of(4) {
            db.idle().unwrap();
        }
    }
    while measure(&db, "memtables") > 0 {
        db.idle().unwrap();
        std::thread::yield_now();
    }
    assert!(db.snapshot().get(OVERFLOW, &overflow_key(Lsn(1), 0)).unwrap().is_some());
}

/// The engine below does so by itself much later, and by a queue that it can fill up and then wait for forever.
#[test]
fn a_full_memtable_goes_to_a_file_while_writes_go_on() {
    let place = fresh();
    let db = Db::open(Box::new(open(place.0.path(), &Options::default())), Sync::None).unwrap();
    const MEGABYTES: u64 = 60;
    for n in 1..=MEGABYTES {
        db.commit(vec![document(n, 1 << 20).stamp(Lsn(n))]).unwrap();
    }
    while measure(&db, "tables") == 0 {
        std::thread::yield_now();
    }
    assert!(has_all(&db, 1..=MEGABYTES));
}

/// Or who is killed again and again would replay ever more.
#[test]
fn replayed_rows_are_flushed() {
    let place = fresh();
    let again = || Db::open(Box::new(open(place.0.path(), &Options::default())), Sync::Data).unwrap();
    let mut last = 0;
    for megabytes in [4, 20] {
        let db = again();
        assert_eq!(measure(&db, "tables"), 0, "it was little");
        for _ in 0..megabytes {
            last += 1;
            db.commit(vec![document(last, 1 << 20).stamp(Lsn(last))]).unwrap();
        }
    }
    let db = again();
    while measure(&db, "tables") == 0 {
        std::thread::yield_now();
    }
    assert!(has_all(&db, 1..=last));
}

#[test]
fn replayed_overflow_values_are_flushed_too() {
    let place = fresh();
    let again = || Db::open(Box::new(open(place.0.path(), &Options::default())), Sync::Data).unwrap();
    let db = again();
    for lsn in 1..=10 {
        let mut batch = Batch::new();
        batch.put_overflow(OVERFLOW, Bytes::from(vec![lsn as u8; 1 << 20]));
        db.commit(vec![batch.stamp(Lsn(lsn))]).unwrap();
    }
    drop(db);
    let db = again();
    while measure(&db, "memtables") > 0 {
        std::thread::yield_now();
    }
    for lsn in 1..=10u64 {
        let found = db.snapshot().get(OVERFLOW, &overflow_key(Lsn(lsn), 0)).unwrap();
        assert_eq!(found, Some(Bytes::from(vec![lsn as u8; 1 << 20])));
    }
}

/// Upstream issue 311: damage in the middle of the journal makes recovery drop the rest without a word.
#[test]
fn a_journal_damaged_in_the_middle_is_reported_not_swallowed() {
    let place = fresh();
    let db = Db::open(Box::new(open(place.0.path(), &Options::default())), Sync::Data).expect("opened");
    for n in 1..=100 {
        db.commit(vec![change(n).stamp(Lsn(n))]).expect("committed");
    }
    drop(db);
    let journal = newest_journal(&place.0.path().join("engine"));
    File::options()
        .write(true)
        .open(&journal)
        .expect("the journal")
        .write_all_at(&[0xaa; 64], 20_000)
        .expect("damaged");
    let folder = Folder::open(place.0.path()).expect("the folder");
    let found = FjallEngine::open(folder, &SPACES, &Options::default())
        .and_then(|engine| Db::open(Box::new(engine), Sync::Data));
    assert!(
        matches!(found, Err(Error::Truncated { promised: Lsn(100), .. } | Error::Corrupt(_))),
        "{:?}",
        found.err()
    );
}

fn newest_journal(engine: &Path) -> std::path::PathBuf {
    let files =
        fs::read_dir(engine).expect("the engine's folder").map(|entry| entry.expect("an entry").path());
    let mut journals: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|end| end == "jnl")).collect();
    journals.sort();
    journals.pop().expect("a journal")
}
