//! A writer that is alone commits on its own thread, and gives the turn back.

use crate::gate::Gate;
use crate::place::{add, here, open};
use orrery_kv::contract::DOCUMENTS;
use orrery_kv::{Error, Fault, Read, Sync};
use orrery_txn::{Scope, WriteError};
use std::thread::ThreadId;

/// The thread that brings a batch to the engine.
fn committing_thread(gate: &Gate) -> ThreadId {
    gate.last_writer().expect("something was written")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lone_writer_commits_on_its_own_thread() {
    let gate = Gate::new();
    let txns = open(gate.clone(), Sync::Data);
    let writer = tokio::spawn({
        let txns = txns.clone();
        async move {
            // The first writes may come before a committer is ready to lend its turn.
            for _ in 0..10_000 {
                let this_thread = std::thread::current().id();
                txns.write(here(), |txn| add(txn, b"n", 1)).await.unwrap();
                if committing_thread(&gate) == this_thread {
                    return;
                }
            }
            panic!("no write was committed on its own thread");
        }
    });
    writer.await.unwrap();
    txns.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_behind_a_lone_one_are_committed_after_it() {
    let gate = Gate::new();
    let txns = open(gate.clone(), Sync::Data);
    txns.write(here(), |txn| add(txn, b"n", 1)).await.unwrap();
    gate.shut();
    let begin = |key: &'static [u8]| {
        let txns = txns.clone();
        tokio::spawn(async move { txns.write(Scope::new(key), |txn| add(txn, key, 1)).await.unwrap().lsn })
    };
    let first = begin(b"a");
    let arrivals = gate.clone();
    tokio::task::spawn_blocking(move || arrivals.wait_for_arrivals(2)).await.unwrap();
    let behind = [begin(b"b"), begin(b"c")];
    gate.open();
    let first = first.await.unwrap();
    for write in behind {
        assert!(write.await.unwrap() > first);
    }
    txns.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_writes_after_a_lone_one_that_failed_go_on() {
    let gate = Gate::new();
    let txns = open(gate.clone(), Sync::Data);
    txns.write(here(), |txn| add(txn, b"n", 1)).await.unwrap();
    gate.engine().fail_at(0, Fault::BeforeWrite);
    let failed = txns.write(here(), |txn| add(txn, b"n", 1)).await;
    assert!(matches!(failed, Err(WriteError::Engine(Error::Unavailable(_)))));
    assert_eq!(txns.write(here(), |txn| add(txn, b"n", 1)).await.unwrap().value, 2);
    assert!(txns.snapshot().get(DOCUMENTS, b"n").unwrap().is_some());
    txns.close();
}

/// A task that polls several writes at once must not sync each alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_writes_of_one_task_share_a_sync() {
    let gate = Gate::new();
    let txns = open(gate.clone(), Sync::Data);
    txns.write(here(), |txn| add(txn, b"n", 1)).await.unwrap();
    let before = gate.written();
    gate.shut();
    let write = |key: &'static [u8]| {
        let txns = txns.clone();
        async move { txns.write_concurrently(Scope::new(key), |txn| add(txn, key, 1)).await.unwrap().lsn }
    };
    let opening = async { gate.open() };
    tokio::join!(write(b"a"), write(b"b"), write(b"c"), opening);
    assert!(gate.written() - before <= 2, "the first may go ahead of the others");
    txns.close();
}
