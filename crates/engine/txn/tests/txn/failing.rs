//! Commits that fail: what built on them runs again or fails too, and is never half there.

use crate::place::{Place, Write, add, catalog, elsewhere, here, open};
use orrery_core::Lsn;
use orrery_kv::contract::{DOCUMENTS, SPACES};
use orrery_kv::{Db, Error, Expect, Fault, META, MemoryEngine, Read, Sync, Txn};
use orrery_txn::WriteError;
use std::time::{Duration, Instant};

fn unavailable<T>(result: &Result<T, WriteError<Error>>) -> bool {
    matches!(result, Err(WriteError::Engine(Error::Unavailable(_))))
}

fn halted<T>(result: &Result<T, WriteError<Error>>) -> bool {
    matches!(result, Err(WriteError::Engine(Error::Halted)))
}

fn full<T>(result: &Result<T, WriteError<Error>>) -> bool {
    matches!(result, Err(WriteError::Engine(Error::Full(_))))
}

/// Deletes a row for good.
fn delete(txn: &mut Txn<'_>, key: &'static [u8]) -> Result<(), Error> {
    txn.delete(DOCUMENTS, key);
    txn.frees();
    Ok(())
}

#[test]
fn on_a_full_disk_deletes_are_committed_and_other_writes_refused() {
    let place = Place::new();
    for key in [b"n", b"m", b"l"] {
        place.begin(here(), |txn| add(txn, key, 1)).wait().unwrap();
    }
    place.gate.engine().set_full(true);
    // In one group with writes that store: these are refused, the delete runs again.
    place.gate.shut();
    let first = place.begin(elsewhere(), |txn| delete(txn, b"l"));
    place.gate.wait_for_arrivals(4);
    let stores = place.begin(here(), |txn| add(txn, b"k", 1));
    let deletes = place.begin(here(), |txn| delete(txn, b"n"));
    place.gate.open();
    first.wait().unwrap();
    assert!(full(&stores.wait()));
    deletes.wait().unwrap();
    assert!(full(&place.begin(elsewhere(), |txn| add(txn, b"k", 1)).wait()));
    place.begin(here(), |txn| delete(txn, b"m")).wait().unwrap();
    assert!(matches!(place.txns.commit_failure(), Some(Error::Full(_))), "deletes say nothing of the room");
    let both = |txn: &mut Txn<'_>| delete(txn, b"n").and_then(|()| add(txn, b"k", 1));
    assert!(full(&place.begin(here(), both).wait()), "it stores as well");
    assert_eq!((place.number(b"n"), place.number(b"m"), place.number(b"k")), (None, None, None));
    place.gate.engine().set_full(false);
    place.begin(here(), |txn| add(txn, b"k", 1)).wait().unwrap();
    assert_eq!(place.txns.commit_failure(), None);
    place.txns.close();
}

#[test]
fn a_transaction_built_on_one_that_failed_runs_again_without_it() {
    let place = Place::new();
    place.gate.shut();
    let first = place.begin(here(), |txn| add(txn, b"n", 10));
    place.gate.wait_for_arrivals(1);
    let second = place.begin(here(), |txn| add(txn, b"n", 1));
    place.gate.engine().fail_at(0, Fault::BeforeWrite);
    place.gate.open();
    assert!(unavailable(&first.wait()));
    let second = second.wait().unwrap();
    assert_eq!(second.value, 1);
    assert_eq!(place.number(b"n"), Some((1, second.lsn)));
    place.txns.close();
}

#[test]
fn a_group_that_fails_fails_whole() {
    let (place, first) = Place::held();
    let one = place.begin(here(), |txn| add(txn, b"n", 10));
    let two = place.begin(here(), |txn| add(txn, b"n", 1));
    let three = place.begin(elsewhere(), |txn| add(txn, b"m", 1));
    place.gate.engine().fail_at(1, Fault::BeforeWrite);
    place.gate.open();
    assert_eq!(first.wait().unwrap().value, 1);
    assert!(unavailable(&one.wait()) && unavailable(&two.wait()) && unavailable(&three.wait()));
    assert_eq!((place.number(b"n"), place.number(b"m")), (None, None));
    let next = place.begin(here(), |txn| add(txn, b"n", 1)).wait().unwrap();
    assert_eq!(next.value, 1, "the next one sees nothing of them");
    place.txns.close();
}

#[test]
fn after_a_failed_sync_writes_fail_and_reads_go_on() {
    let place = Place::new();
    place.begin(here(), |txn| add(txn, b"n", 1)).wait().unwrap();
    place.gate.shut();
    let lost = place.begin(here(), |txn| add(txn, b"n", 1));
    place.gate.wait_for_arrivals(2);
    let on_it = place.begin(here(), |txn| add(txn, b"n", 1));
    place.gate.engine().fail_at(0, Fault::AfterWrite);
    place.gate.open();
    assert!(
        matches!(lost.wait(), Err(WriteError::Engine(Error::Uncertain(_)))),
        "nobody knows what became of it"
    );
    assert!(halted(&on_it.wait()) && halted(&place.begin(elsewhere(), |txn| add(txn, b"m", 1)).wait()));
    assert_eq!(place.txns.commit_failure(), Some(Error::Halted));
    assert_eq!(place.number(b"n"), Some((1, Lsn(1))));
    let read = place.begin(here(), |txn| txn.get(DOCUMENTS, b"n")).wait().unwrap();
    assert!(read.value.is_some());
    for (kept, expected) in [(0, 1), (1, 2)] {
        let found =
            Place { gate: crate::gate::Gate::new(), txns: open(place.gate.engine().crash(kept), Sync::Data) };
        assert_eq!(found.number(b"n").unwrap().0, expected, "a restart finds all of it or nothing");
        assert_eq!(found.begin(here(), |txn| add(txn, b"n", 1)).wait().unwrap().value, expected + 1);
        found.txns.close();
    }
    place.txns.close();
}

/// Every write that is answered well counts, and no other, whichever commit it is that fails.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_count_is_what_was_acknowledged_whichever_commit_fails() {
    // Everybody writes four times in a row, so there are at least four commits.
    for nth in (0..4).cycle().take(12) {
        let engine = MemoryEngine::new(&SPACES);
        let store = open(engine.clone(), Sync::Data);
        engine.fail_at(nth, Fault::BeforeWrite);
        let tasks: Vec<_> = (0..24)
            .map(|_| {
                let store = store.clone();
                tokio::spawn(async move {
                    let mut acknowledged = 0;
                    for _ in 0..4 {
                        match store.write(here(), |txn| add(txn, b"n", 1)).await {
                            Ok(_) => acknowledged += 1,
                            failed => assert!(unavailable(&failed)),
                        }
                    }
                    acknowledged
                })
            })
            .collect();
        let mut acknowledged = 0;
        for task in tasks {
            acknowledged += task.await.unwrap();
        }
        let place = Place { gate: crate::gate::Gate::new(), txns: store };
        assert_eq!(place.number(b"n").unwrap().0, acknowledged, "the commit {nth} failed");
        assert!((1..96).contains(&acknowledged), "one commit failed, and what was in it");
        place.txns.close();
        Db::open(Box::new(engine.crash(0)), Sync::Data).expect("the log is whole");
    }
}

/// Needs something outside its scope that is not there.
fn depends(txn: &mut Txn<'_>) -> Result<u64, Error> {
    txn.require(META, &b"owner"[..], Expect::Present);
    add(txn, b"n", 10)
}

#[test]
fn a_write_whose_owner_is_gone_is_refused_and_later_writers_go_on() {
    let (place, first) = Place::held();
    let before = place.begin(here(), |txn| add(txn, b"n", 1));
    let refused = place.begin(here(), depends);
    let after = place.begin(here(), |txn| add(txn, b"n", 1));
    let other = place.begin(elsewhere(), |txn| add(txn, b"m", 1));
    place.gate.open();
    first.wait().unwrap();
    assert_eq!(before.wait().unwrap().value, 1);
    assert!(matches!(refused.wait(), Err(WriteError::PreconditionFailed)));
    let after = after.wait().unwrap();
    assert_eq!((after.value, other.wait().unwrap().value), (2, 1));
    assert_eq!(place.number(b"n"), Some((2, after.lsn)), "nothing of the refused one is there");
    place.txns.close();
}

#[test]
fn an_owner_may_come_and_go_in_the_same_group() {
    let (place, first) = Place::held();
    let owner = |txn: &mut Txn<'_>| {
        txn.put(META, &b"owner"[..], &b""[..]);
        Ok::<_, Error>(())
    };
    let no_owner = |txn: &mut Txn<'_>| {
        txn.delete(META, &b"owner"[..]);
        Ok::<_, Error>(())
    };
    let comes = place.begin(catalog(), owner);
    let owned = place.begin(here(), depends);
    let goes = place.begin(catalog(), no_owner);
    let late = place.begin(here(), depends);
    place.gate.open();
    first.wait().unwrap();
    comes.wait().unwrap();
    assert_eq!(owned.wait().unwrap().value, 10);
    goes.wait().unwrap();
    assert!(matches!(late.wait(), Err(WriteError::PreconditionFailed)));
    assert_eq!(place.number(b"n").unwrap().0, 10);
    place.txns.close();
}

/// Whether a write is answered although the committer stands before the gate.
fn is_answered<T, E>(write: &mut Write<'_, T, E>) -> bool {
    let give_up = Instant::now() + Duration::from_secs(10);
    while write.waits() && Instant::now() < give_up {
        std::thread::yield_now();
    }
    !write.waits()
}

/// Otherwise each would be refused by a commit of its own, which sends all behind it around once more.
#[test]
fn a_write_that_runs_again_looks_for_its_owner_before_it_is_queued() {
    let (place, first) = Place::held();
    let refused = place.begin(here(), depends);
    let mut aborted = [place.begin(here(), depends), place.begin(elsewhere(), depends)];
    place.gate.open();
    first.wait().unwrap();
    assert!(matches!(refused.wait(), Err(WriteError::PreconditionFailed)));
    place.gate.shut();
    let held = place.begin(here(), |txn| add(txn, b"m", 1));
    place.gate.wait_for_arrivals(2);
    assert!(aborted.iter_mut().all(is_answered), "they need no commit to be told");
    assert!(aborted.into_iter().all(|write| matches!(write.wait(), Err(WriteError::PreconditionFailed))));
    place.gate.open();
    held.wait().unwrap();
    place.txns.close();
}

#[test]
fn a_group_that_was_refused_says_nothing_of_the_disk() {
    let place = Place::new();
    place.gate.engine().fail_at(0, Fault::BeforeWrite);
    assert!(unavailable(&place.begin(here(), |txn| add(txn, b"n", 1)).wait()));
    assert!(place.txns.commit_failure().is_some());
    assert!(matches!(place.begin(here(), depends).wait(), Err(WriteError::PreconditionFailed)));
    assert!(place.txns.commit_failure().is_some(), "nothing reached the disk since it failed");
    place.begin(here(), |txn| add(txn, b"n", 1)).wait().unwrap();
    assert!(place.txns.commit_failure().is_none());
    place.txns.close();
}
