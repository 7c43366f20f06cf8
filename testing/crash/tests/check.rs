//! The check that judges the rounds must itself be able to fail: one damaged row, and it says so.

#![expect(clippy::unwrap_used, reason = "a helper of a test that cannot go on panics, as the test does")]

use orrery_core::Env;
use orrery_crash::check::{Verdict, check};
use orrery_crash::policy;
use orrery_documents::spaces::{INDEX, SPACES};
use orrery_kv::{Engine as _, KeyRange, Order, Put, Row, Sync};
use orrery_kv_fjall::{FjallEngine, Folder, Options};
use orrery_testing_client::{self as client, Client, ContainerPath, ServerProcess};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Rows of the space `index`, by the byte after the container's number.
const PLACE: u8 = 4;
const ENTRY: u8 = 5;
const LOCAL_ENTRY: u8 = 6;
const TALLY: u8 = 7;

/// Items of the partition `large`, which together are larger than half a megabyte.
const LARGE_ITEMS: usize = 30;
const FILLER_BYTES: usize = 20_000;

/// A folder that a killed server left, with a small partition and a large one.
fn folder(binary: &Path) -> TempDir {
    let folder = TempDir::with_prefix("orrery-check-").unwrap();
    let server = ServerProcess::start(folder.path(), &client::Options::new(binary.to_owned())).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(fill(&server));
    server.kill().unwrap();
    folder
}

async fn fill(server: &ServerProcess) {
    let (mut client, path) =
        (Client::new(server.cosmos(), Env::system().unwrap()), ContainerPath::new("d", "c"));
    assert_eq!(client.create_database(&path.database).await.unwrap().status, 201);
    let members = policy::members(policy::policy(1, 2));
    assert_eq!(client.create_container(&path, &members).await.unwrap().status, 201);
    for n in 0..LARGE_ITEMS {
        for (partition, filler) in [("small", 10), ("large", FILLER_BYTES)] {
            let item = json!({
                "id": n.to_string(), "pk": partition, "unique": n, "kind": "k", "seq": n, "tags": ["a", "b"],
                "info": {"rank": n % 7}, "filler": "x".repeat(filler),
            });
            assert_eq!(client.create_item(&path, partition, &item).await.unwrap().status, 201);
        }
    }
}

/// What the check says of a copy of the folder in which the first row of a kind was changed.
fn check_damaged(binary: &Path, folder: &Path, tag: u8, damage: fn(Row) -> Put) -> Verdict {
    let copy = TempDir::with_prefix("orrery-damaged-").unwrap();
    copy_all(folder, copy.path());
    let engine = FjallEngine::open(Folder::open(copy.path()).unwrap(), &SPACES, &Options::default()).unwrap();
    let view = engine.view();
    let mut rows = view.range(INDEX, &KeyRange::all(), Order::Ascending).map(Result::unwrap);
    let row = rows.find(|(key, _)| key[4] == tag).expect("there is such a row");
    engine.write(vec![damage(row)], Sync::Data).unwrap();
    drop(rows);
    drop((view, engine));
    check(binary, copy.path()).unwrap()
}

fn copy_all(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let (source, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        let target: PathBuf = to.join(name);
        if source.is_dir() {
            fs::create_dir(&target).unwrap();
            copy_all(&source, &target);
        } else {
            fs::copy(&source, &target).unwrap();
        }
    }
}

fn removed((key, _): Row) -> Put {
    Put { space: INDEX, key, value: None }
}

/// The same row once more, of an item that nobody wrote.
fn doubled((key, value): Row) -> Put {
    let mut key = key.to_vec();
    // The item's number is the eight bytes before the four of its partition.
    let at = key.len() - 5;
    key[at] ^= 0x80;
    Put { space: INDEX, key: key.into(), value: Some(value) }
}

/// A tally's row with one more item in its first count.
fn miscounted((key, value): Row) -> Put {
    let mut value = value.to_vec();
    value[15] += 1;
    Put { space: INDEX, key, value: Some(value.into()) }
}

/// The kind of a row, what is done to it, and what is said of it then.
type Damage = (u8, fn(Row) -> Put, &'static str);

#[test]
fn a_damaged_row_is_found_and_named() {
    let binary = client::newest_binary().unwrap_or_else(|missing| panic!("{missing}"));
    let folder = folder(&binary);
    let whole = check(&binary, folder.path()).unwrap();
    assert!(whole.agrees() && whole.said.contains("60 items"), "{whole:?}");
    let damages: [Damage; 6] = [
        (ENTRY, removed, "index entries that are missing: 1"),
        (ENTRY, doubled, "index entries that no item asks for: 1"),
        (LOCAL_ENTRY, removed, "index entries of large partitions that are missing: 1"),
        (PLACE, removed, "items that have index entries and no locator row: 1"),
        (TALLY, miscounted, "counts of items that are wrong: 1"),
        (TALLY, removed, "counts of items that are wrong"),
    ];
    for (tag, damage, said) in damages {
        let verdict = check_damaged(&binary, folder.path(), tag, damage);
        assert_eq!(verdict.code, Some(1), "{said}: {verdict:?}");
        assert!(verdict.said.contains("dbs/d/colls/c: "), "{said}: {verdict:?}");
        assert!(verdict.said.contains(said), "{said}: {verdict:?}");
    }
}
