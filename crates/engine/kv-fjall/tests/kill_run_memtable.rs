//! A process that writes rows of the index, which become files every few commits, is killed with `kill -9` again and again:
//! the index always is as the newest commit that is there says, whole, and no commit that was acknowledged is missing.
//!
//! The process is this test again, signals by a variable what it is. It says the number of each commit that is done.

mod support;

use bytes::Bytes;
use orrery_core::Lsn;
use orrery_kv::contract::{INDEX, SPACES};
use orrery_kv::{Batch, Db, KeyRange, Order, Read, Sync};
use orrery_kv_fjall::{FjallEngine, Folder, Options};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use support::kill_when_enough;

const FOLDER: &str = "ORRERY_TEST_RECENT";
const ROUNDS: u64 = 8;
const COMMITS_A_ROUND: u64 = 400;
const ROWS_A_COMMIT: u64 = 12;
/// A commit removes the rows of the one so many before.
const KEPT: u64 = 150;

type Index = BTreeMap<Vec<u8>, Vec<u8>>;

fn open(path: &Path) -> Db {
    // Some twenty commits become a file.
    let options = Options { run_memtable_bytes: 10_000, ..Options::default() };
    let engine = FjallEngine::open(Folder::open(path).expect("taken"), &SPACES, &options).expect("opened");
    Db::open(Box::new(engine), Sync::Data).expect("opened")
}

/// The keys of a commit's rows; some are of the commits before, too.
fn keys(commit: u64) -> impl Iterator<Item = Vec<u8>> {
    (0..ROWS_A_COMMIT).map(move |row| {
        let spread = (commit / (1 + row % 3)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(row as u32 * 5);
        [&spread.to_be_bytes()[..], &[row as u8; 12]].concat()
    })
}

/// What a commit does to the index.
fn changes(commit: u64) -> Vec<(Vec<u8>, Option<Vec<u8>>)> {
    let gone = commit.checked_sub(KEPT).into_iter().flat_map(keys).map(|key| (key, None));
    gone.chain(keys(commit).map(|key| (key, Some(commit.to_be_bytes().to_vec())))).collect()
}

fn index_after(commit: u64) -> Index {
    let mut index = Index::new();
    for (key, value) in (1..=commit).flat_map(changes) {
        match value {
            Some(value) => index.insert(key, value),
            None => index.remove(&key),
        };
    }
    index
}

/// Writes until it is killed.
fn write_rows(folder: &Path) -> ! {
    let db = open(folder);
    let mut commit = db.tip().lsn.0;
    loop {
        commit += 1;
        let mut batch = Batch::new();
        for (key, value) in changes(commit) {
            batch.put_blind(INDEX, Bytes::from(key), value.map(Bytes::from));
        }
        db.commit(vec![batch.stamp(Lsn(commit))]).expect("committed");
        if commit.is_multiple_of(37) {
            db.idle().expect("flushed");
        }
        let flushes =
            db.measures().iter().find(|measure| measure.name == "index_spilled").expect("measured").value;
        writeln!(io::stdout(), "{commit} {flushes} .").expect("said");
    }
}

#[test]
fn the_index_survives_kills_while_it_becomes_files() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        write_rows(folder.as_ref());
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut flushes = 0;
    for round in 0..ROUNDS {
        // Each round is ended at another moment of its work.
        let (acknowledged, files) = kill_after(folder.path(), COMMITS_A_ROUND + 7 * round);
        flushes += files;
        let db = open(folder.path());
        let found = db.tip().lsn.0;
        assert!(found >= acknowledged, "commit {acknowledged} is lost in round {round}, {found} is the last");
        let snapshot = db.snapshot();
        let rows = snapshot.range(INDEX, &KeyRange::all(), Order::Ascending).map(|row| row.expect("read"));
        let rows: Index = rows.map(|(key, value)| (key.to_vec(), value.to_vec())).collect();
        assert!(rows == index_after(found), "the index is not that of commit {found} in round {round}");
    }
    assert!(flushes > ROUNDS * 5, "{flushes} times to a file");
}

/// Starts the process, and kills it when it has done so many commits. Says the last one, and how often it wrote a file.
fn kill_after(folder: &Path, commits: u64) -> (u64, u64) {
    let (mut done, mut last) = (0, (0, 0));
    kill_when_enough("the_index_survives_kills_while_it_becomes_files", FOLDER, folder, |line| {
        let mut numbers = line.split(' ').map(str::parse);
        if let (Some(Ok(commit)), Some(Ok(flushes)), Some(_)) =
            (numbers.next(), numbers.next(), numbers.next())
        {
            last = (commit, flushes);
            done += 1;
        }
        done >= commits
    });
    last
}
