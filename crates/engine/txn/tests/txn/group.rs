//! Group commit: many writers, few syncs, nothing lost.

use crate::place::{Place, Write, add, here, open, read_number};
use orrery_core::Lsn;
use orrery_kv::contract::{DOCUMENTS, INDEX, SPACES};
use orrery_kv::{Db, Error, KeyRange, MemoryEngine, Order, Read, Snapshot, Sync};
use orrery_txn::limits;
use orrery_txn::{Scope, WriteError};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

/// Every number that a snapshot shows, by key.
fn numbers(snapshot: &Snapshot) -> BTreeMap<Vec<u8>, (u64, Lsn)> {
    let rows = snapshot.range(DOCUMENTS, &KeyRange::all(), Order::Ascending).map(|row| row.unwrap());
    rows.map(|(key, value)| (key.to_vec(), read_number(&value))).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_writers_at_once_lose_nothing() {
    const WRITERS: u64 = 300;
    let engine = MemoryEngine::new(&SPACES);
    let store = open(engine.clone(), Sync::Data);
    let tasks = (0..WRITERS).map(|n| {
        let store = store.clone();
        tokio::spawn(async move {
            let key = n.to_be_bytes();
            let scope = Scope::new(&key);
            let put = |txn: &mut orrery_kv::Txn<'_>| {
                txn.put_stamped(DOCUMENTS, key.to_vec(), [n.to_be_bytes(), [0; 8]].concat(), 8);
                Ok::<_, Error>(())
            };
            (n, store.write(scope, put).await.unwrap().lsn)
        })
    });
    let mut answers = BTreeMap::new();
    for task in tasks.collect::<Vec<_>>() {
        let (n, lsn) = task.await.unwrap();
        answers.insert(n.to_be_bytes().to_vec(), (n, lsn));
    }
    assert_eq!(numbers(&store.snapshot()), answers, "each row is the one its writer was told of");
    assert_eq!(answers.values().map(|(_, lsn)| lsn).collect::<BTreeSet<_>>().len(), WRITERS as usize);
    let found = Db::open(Box::new(engine.crash(0)), Sync::Data).unwrap();
    assert_eq!(numbers(&found.snapshot()), answers, "a power cut takes none of it");
    store.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_writers_of_one_row_lose_no_increment() {
    const WRITERS: u64 = 64;
    const EACH: u64 = 5;
    let store = open(MemoryEngine::new(&SPACES), Sync::Data);
    let tasks = (0..WRITERS).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut seen = Vec::new();
            for _ in 0..EACH {
                let done = store.write(here(), |txn| add(txn, b"counter", 1)).await.unwrap();
                seen.push((done.lsn, done.value));
            }
            seen
        })
    });
    let mut seen = BTreeMap::new();
    for task in tasks.collect::<Vec<_>>() {
        seen.extend(task.await.unwrap());
    }
    assert_eq!(seen.values().copied().collect::<Vec<_>>(), (1..=WRITERS * EACH).collect::<Vec<_>>());
    let last = *seen.keys().last().unwrap();
    assert_eq!(numbers(&store.snapshot()), BTreeMap::from([(b"counter".to_vec(), (WRITERS * EACH, last))]));
    store.close();
}

#[test]
fn one_sync_carries_everything_that_waits() {
    let (place, first) = Place::held();
    let waiting: Vec<Write<'_, u64, Error>> =
        (0..50).map(|_| place.begin(here(), |txn| add(txn, b"n", 1))).collect();
    place.gate.open();
    first.wait().unwrap();
    let values: Vec<u64> = waiting.into_iter().map(|write| write.wait().unwrap().value).collect();
    assert_eq!(values, (1..=50).collect::<Vec<_>>());
    assert_eq!(place.gate.written(), 2, "the first went alone, the others together");
    place.txns.close();
}

#[test]
fn a_group_has_an_end() {
    let (place, first) = Place::held();
    let count = limits::GROUP_TRANSACTIONS_MAX + 1;
    let keys: Vec<[u8; 8]> = (0..count as u64).map(u64::to_be_bytes).collect();
    let begin = |key| place.begin(Scope::new(key), |txn| add(txn, b"n", 0));
    let waiting: Vec<Write<'_, u64, Error>> = keys.iter().map(|key| begin(key)).collect();
    place.gate.open();
    first.wait().unwrap();
    assert!(waiting.into_iter().all(|write| write.wait().is_ok()));
    assert_eq!(place.gate.written(), 3);
    place.txns.close();
}

#[test]
fn a_full_queue_sends_writers_away() {
    let (place, first) = Place::held();
    let keys: Vec<[u8; 8]> =
        (0..limits::COMMIT_QUEUE_TRANSACTIONS_MAX as u64).map(u64::to_be_bytes).collect();
    let put = |txn: &mut orrery_kv::Txn<'_>| {
        txn.put(INDEX, &b"x"[..], &b""[..]);
        Ok::<_, Error>(())
    };
    let begin = |key| place.begin(Scope::new(key), put);
    let mut waiting: Vec<Write<'_, (), Error>> = keys.iter().map(|key| begin(key)).collect();
    assert!(waiting.iter_mut().all(Write::waits));
    let one_more = place.begin(here(), |txn| add(txn, b"n", 1)).wait();
    assert!(matches!(one_more, Err(WriteError::Busy)));
    place.gate.open();
    first.wait().unwrap();
    assert!(waiting.into_iter().all(|write| write.wait().is_ok()));
    assert_eq!(place.begin(here(), |txn| add(txn, b"n", 1)).wait().unwrap().value, 1, "there is room again");
    place.txns.close();
}

/// Readers look while writers write; what each saw must be what a power cut at that moment leaves.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_reader_never_sees_what_is_not_durable() {
    let engine = MemoryEngine::new(&SPACES);
    let store = open(engine.clone(), Sync::Data);
    let done = std::sync::Arc::new(AtomicBool::new(false));
    let reader = {
        let (store, engine, done) = (store.clone(), engine.clone(), done.clone());
        std::thread::spawn(move || {
            let mut looks = 0;
            while !done.load(Ordering::Acquire) || looks == 0 {
                let snapshot = store.snapshot();
                let kept = Db::open(Box::new(engine.crash(0)), Sync::Data).unwrap();
                assert!(snapshot.lsn() <= kept.tip().lsn, "everything it shows would be found again");
                assert!(snapshot.lsn() <= store.durable_lsn());
                let (seen, left) = (numbers(&snapshot), numbers(&kept.snapshot()));
                for (key, (number, lsn)) in seen {
                    assert!(lsn <= snapshot.lsn() && left[&key].0 >= number);
                }
                looks += 1;
            }
        })
    };
    let tasks: Vec<_> = (0..16)
        .map(|n: u8| {
            let store = store.clone();
            tokio::spawn(async move {
                for _ in 0..20 {
                    let key_bytes = [n % 4];
                    let scope = Scope::new(&key_bytes);
                    let key: &'static [u8] = [&b"a"[..], b"b", b"c", b"d"][usize::from(n % 4)];
                    store.write(scope, |txn| add(txn, key, 1)).await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    done.store(true, Ordering::Release);
    reader.join().unwrap();
    assert!(numbers(&store.snapshot()).values().all(|(number, _)| *number == 80));
    store.close();
}
