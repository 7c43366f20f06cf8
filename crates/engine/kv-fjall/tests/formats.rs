//! A folder of every format that ever was, made by a build of its time: opened, read, written to, and opened again.
//!
//! Each fixture has six commits, made by [`commit`]. The first three are in files, the others in the journal. Journals
//! are without the zeros at their ends; empty folders and locks are left out.

use bytes::Bytes;
use orrery_core::Lsn;
use orrery_kv::contract::{DOCUMENTS, INDEX, LOG, OVERFLOW, SPACES};
use orrery_kv::{Batch, Db, KeyRange, LogRecord, META, Order, Read, Space, Sync, overflow_key, verify_log};
use orrery_kv_fjall::{FORMAT_VERSION, FjallEngine, Folder, Options};
use std::fs;
use std::path::{Path, PathBuf};

/// The first format with out-of-line values.
const WITH_OVERFLOW: u32 = 3;

fn open(path: &Path) -> Db {
    let folder = Folder::open(path).expect("taken");
    let engine = FjallEngine::open(folder, &SPACES, &Options::default()).expect("opened");
    Db::open(Box::new(engine), Sync::Data).expect("opened, and the log is whole")
}

fn bytes(text: String) -> Bytes {
    Bytes::from(text)
}

fn commit(db: &Db, n: u64, has_overflow: bool) {
    let mut batch = Batch::new();
    batch.put(META, bytes("counter".into()), bytes(format!("{n}")));
    batch.put(DOCUMENTS, bytes(format!("document {n}")), bytes(format!("value {n}")));
    batch.put_blind(INDEX, bytes(format!("term {n}")), Some(Bytes::new()));
    for stream in [1, 2] {
        let mut payload = Batch::log_payload(20);
        payload.extend_from_slice(format!("change {n}").as_bytes());
        batch.log(LOG, stream, payload);
    }
    if has_overflow {
        batch.put_overflow(OVERFLOW, bytes(format!("large value {n}")));
    }
    if n == 5 {
        batch.put_blind(INDEX, bytes("term 2".into()), None);
    }
    if n == 6 {
        batch.delete(DOCUMENTS, bytes("document 1".into()));
        batch.delete(LOG, Bytes::from(LogRecord::range(1, Lsn(1)).start));
    }
    db.commit(vec![batch.stamp(Lsn(n))]).expect("committed");
}

fn rows(db: &Db, space: Space) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    let snapshot = db.snapshot();
    let rows = snapshot.range(space, &KeyRange::all(), Order::Ascending).map(|row| row.expect("read"));
    rows.filter(|(key, _)| key[0] != 0).map(|(key, value)| (text(&key), text(&value))).collect()
}

/// That the folder has what these commits left.
fn check(db: &Db, last: u64, has_overflow: &dyn Fn(u64) -> bool) {
    let snapshot = db.snapshot();
    assert_eq!(db.tip().lsn, Lsn(last));
    assert_eq!(rows(db, META), [("counter".to_owned(), format!("{last}"))]);
    let documents = (2..=last).map(|n| (format!("document {n}"), format!("value {n}")));
    assert_eq!(rows(db, DOCUMENTS), documents.collect::<Vec<_>>());
    let terms = (1..=last).filter(|n| *n != 2).map(|n| (format!("term {n}"), String::new()));
    assert_eq!(rows(db, INDEX), terms.collect::<Vec<_>>());
    assert_eq!(snapshot.streams(LOG), Ok(vec![1, 2]));
    for stream in [1, 2] {
        let range = LogRecord::range(stream, Lsn(0));
        let entries = snapshot.range(LOG, &range, Order::Ascending);
        let entries = entries.map(|row| LogRecord::read(&row.expect("read")).expect("an entry"));
        let wanted = (3 - stream..=last).map(|n| (Lsn(n), bytes(format!("change {n}"))));
        assert!(entries.map(|entry| (entry.lsn, entry.payload)).eq(wanted), "stream {stream}");
        assert_eq!(verify_log(&*snapshot, LOG, stream, Lsn(0), Lsn(last)), Ok(()));
    }
    for n in 1..=last {
        let found =
            (0..16).find_map(|number| snapshot.get(OVERFLOW, &overflow_key(Lsn(n), number)).expect("read"));
        assert_eq!(found, has_overflow(n).then(|| bytes(format!("large value {n}"))), "commit {n}");
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("the fixture").map(|entry| entry.expect("an entry")) {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        match from.is_dir() {
            true => copy(&from, &to),
            false => drop(fs::copy(&from, to).expect("copied")),
        }
    }
}

/// A copy of the fixture, with the lock and the folders that are empty.
fn fixture(format: u32) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    copy(&fixtures.join(format!("format-{format}")), folder.path());
    fs::write(folder.path().join("engine/lock"), "").expect("made");
    for keyspace in fs::read_dir(folder.path().join("engine/keyspaces")).expect("keyspaces") {
        fs::create_dir_all(keyspace.expect("an entry").path().join("tables")).expect("made");
    }
    folder
}

#[test]
fn a_folder_of_every_format_is_taken_along() {
    for format in 2..=FORMAT_VERSION {
        let folder = fixture(format);
        let marked = || fs::read_to_string(folder.path().join("FORMAT")).expect("read");
        let before = |n: u64| format >= WITH_OVERFLOW || n > 6;
        let db = open(folder.path());
        check(&db, 6, &before);
        assert_eq!(
            marked(),
            format!("orrery data folder, format {format}\n"),
            "who only looks changes nothing"
        );
        commit(&db, 7, true);
        check(&db, 7, &before);
        assert_eq!(marked(), format!("orrery data folder, format {FORMAT_VERSION}\n"));
        drop(db);
        check(&open(folder.path()), 7, &before);
    }
}

/// Makes the fixture of this build's format, when that is a new one: `cargo test … -- --ignored`.
#[test]
#[ignore = "it writes into the source tree"]
fn make_the_fixture_of_this_format() {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/format-{FORMAT_VERSION}"));
    let db = open(&path);
    (1..=3).for_each(|n| commit(&db, n, true));
    drop(db);
    let database = fjall::Database::builder(path.join("engine")).open().expect("opened");
    for name in database.list_keyspace_names() {
        let keyspace = database.keyspace(&name, fjall::KeyspaceCreateOptions::default).expect("opened");
        keyspace.rotate_memtable_and_wait().expect("written");
    }
    drop(database);
    let db = open(&path);
    (4..=6).for_each(|n| commit(&db, n, true));
    drop(db);
    for file in ["lock", "engine/lock"] {
        fs::remove_file(path.join(file)).expect("removed");
    }
    let journals =
        fs::read_dir(path.join("engine")).expect("read").map(|entry| entry.expect("an entry").path());
    for journal in journals.filter(|path| path.extension().is_some_and(|end| end == "jnl")) {
        let written = fs::read(&journal).expect("read");
        let end = written.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        fs::write(&journal, &written[..end]).expect("written");
    }
}
