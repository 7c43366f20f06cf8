//! Spaces are what a process declares: more of them later, several of every kind, and those that nobody declares.

use bytes::Bytes;
use orrery_core::Lsn;
use orrery_kv::{
    Batch, Db, Error, KeyRange, LogRecord, Memtable, Order, Read, Snapshot, Space, SpaceSet, SpaceSpec, Sync,
    overflow_key,
};
use orrery_kv_fjall::{FjallEngine, Folder, Options};
use std::path::Path;

const ROWS: Space = Space::new(1);
const QUEUE: Space = Space::new(5);
const TERMS: Space = Space::new(6);
const MORE_TERMS: Space = Space::new(7);
const EVENTS: Space = Space::new(8);
const AUDIT: Space = Space::new(9);
const BODIES: Space = Space::new(10);
const LAST: Space = Space::new(15);

const OLD: &[SpaceSpec] = &[SpaceSpec::by_key(ROWS, "rows")];
const NEW: &[SpaceSpec] = &[
    SpaceSpec::by_key(QUEUE, "queue"),
    SpaceSpec { memtable: Memtable::SortedRuns { name: "term_runs" }, ..SpaceSpec::by_key(TERMS, "terms") },
    SpaceSpec {
        memtable: Memtable::SortedRuns { name: "more_term_runs" },
        ..SpaceSpec::by_key(MORE_TERMS, "more_terms")
    },
    SpaceSpec::log(EVENTS, "events"),
    SpaceSpec::log(AUDIT, "audit"),
    SpaceSpec::overflow(BODIES, "bodies"),
    SpaceSpec::by_key(LAST, "last"),
];
static FEW: SpaceSet = SpaceSet::new(&[OLD]);
static MANY: SpaceSet = SpaceSet::new(&[OLD, NEW]);
const BY_KEY: [Space; 5] = [ROWS, QUEUE, TERMS, MORE_TERMS, LAST];

fn opened(path: &Path, spaces: &'static SpaceSet) -> Result<Db, Error> {
    let options = Options { run_memtable_bytes: 1000, ..Options::default() };
    let engine = FjallEngine::open(Folder::open(path).expect("taken"), spaces, &options)?;
    Db::open(Box::new(engine), Sync::Data)
}

fn open(path: &Path, spaces: &'static SpaceSet) -> Db {
    opened(path, spaces).expect("opened")
}

/// A row in each space of these, a different one in each.
fn commit(db: &Db, lsn: u64, spaces: &SpaceSet) {
    let mut batch = Batch::new();
    for space in BY_KEY.into_iter().filter(|space| spaces.get(*space).is_some()) {
        batch.put(space, Bytes::from(format!("key {lsn:3}")), value(space, lsn));
    }
    for log in [EVENTS, AUDIT].into_iter().filter(|space| spaces.get(*space).is_some()) {
        let mut payload = Batch::log_payload(8);
        payload.extend_from_slice(&value(log, lsn));
        batch.log(log, log.index() as u64, payload);
    }
    if spaces.get(BODIES).is_some() {
        batch.put_overflow(BODIES, value(BODIES, lsn));
    }
    db.commit(vec![batch.stamp(Lsn(lsn))]).expect("committed");
}

fn value(space: Space, lsn: u64) -> Bytes {
    Bytes::from(format!("{} {lsn}", space.index()))
}

fn values(state: &Snapshot, space: Space) -> Vec<Bytes> {
    let rows = state.range(space, &KeyRange::all(), Order::Ascending);
    rows.map(|row| row.expect("read").1).collect()
}

/// That all spaces have the rows of these commits.
fn check(db: &Db, lsns: &[u64], rows: &[u64]) {
    let state = db.snapshot();
    for space in BY_KEY {
        let lsns = if space == ROWS { rows } else { lsns };
        let wanted: Vec<Bytes> = lsns.iter().map(|lsn| value(space, *lsn)).collect();
        assert_eq!(values(&state, space), wanted, "{}", MANY.name(space));
        for lsn in lsns {
            let found = state.get(space, format!("key {lsn:3}").as_bytes()).expect("read");
            assert_eq!(found, Some(value(space, *lsn)));
        }
    }
    for log in [EVENTS, AUDIT] {
        let streams = if lsns.is_empty() { vec![] } else { vec![log.index() as u64] };
        assert_eq!(state.streams(log), Ok(streams));
        let entries = state.range(log, &LogRecord::range(log.index() as u64, Lsn(0)), Order::Ascending);
        let found = entries.map(|row| LogRecord::read(&row.expect("read")).expect("an entry").payload);
        assert!(found.eq(lsns.iter().map(|lsn| value(log, *lsn))), "{}", MANY.name(log));
    }
    for lsn in lsns {
        let number = BY_KEY.len() as u32;
        assert_eq!(state.get(BODIES, &overflow_key(Lsn(*lsn), number)), Ok(Some(value(BODIES, *lsn))));
    }
}

#[test]
fn spaces_that_are_declared_later_are_empty_and_then_as_good_as_any() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = open(folder.path(), &FEW);
    commit(&db, 1, &FEW);
    drop(db);
    let db = open(folder.path(), &MANY);
    check(&db, &[], &[1]);
    // So many that runs are flushed.
    let lsns: Vec<u64> = (2..200).collect();
    lsns.iter().for_each(|lsn| commit(&db, *lsn, &MANY));
    let rows: Vec<u64> = (1..200).collect();
    check(&db, &lsns, &rows);
    drop(db);
    check(&open(folder.path(), &MANY), &lsns, &rows);
}

#[test]
fn a_folder_with_a_space_that_is_not_declared_is_refused_and_stays_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = open(folder.path(), &MANY);
    commit(&db, 1, &MANY);
    drop(db);
    let refused = opened(folder.path(), &FEW).err().expect("refused");
    assert_eq!(refused, Error::UnknownSpace("audit0".to_owned()));
    assert!(
        refused.to_string().contains("has the space audit0, which this build does not know"),
        "{refused}"
    );
    check(&open(folder.path(), &MANY), &[1], &[1]);
}

#[test]
fn a_declared_space_without_rows_leaves_the_folder_as_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = open(folder.path(), &MANY);
    commit(&db, 1, &FEW);
    drop(db);
    let db = open(folder.path(), &FEW);
    assert_eq!(values(&db.snapshot(), ROWS), [value(ROWS, 1)]);
}

#[test]
#[should_panic(expected = "two spaces have the name rows")]
fn two_spaces_with_one_name_are_refused() {
    static TWICE: SpaceSet = SpaceSet::new(&[OLD, &[SpaceSpec::by_key(QUEUE, "rows")]]);
    let folder = tempfile::tempdir().expect("a folder");
    drop(opened(folder.path(), &TWICE));
}
