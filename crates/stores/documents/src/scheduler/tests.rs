//! Concurrent queries. Nothing here waits for a clock: the test holds back the long ones.

use super::*;
use orrery_core::Env;
use orrery_documents::spaces::SPACES;
use orrery_kv::{MemoryEngine, Sync};
use orrery_query::QueryError;
use orrery_query::execute::Host;
use orrery_txn::{Options, TxnManager};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

const MEGABYTE: usize = 1 << 20;

fn store(query_bytes: usize, brief: Duration) -> Store {
    let options = Options { sync: Sync::None, accept_loss: false, cache_bytes: 0, on_stuck: || {} };
    let env = Env::system().expect("a clock");
    let txns = TxnManager::open(Box::new(MemoryEngine::new(&SPACES)), env, &options).expect("transactions");
    let mut store = {
        let options = crate::Options { query_bytes, ..crate::Options::standalone() };
        Store::open(txns, options).expect("a store")
    };
    std::sync::Arc::get_mut(&mut store.0).expect("one handle").scheduler.brief = brief;
    store
}

/// Blocks every arrival until it is opened, and counts arrivals.
#[derive(Default)]
struct Gate {
    came: AtomicUsize,
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn pass(&self) {
        self.came.fetch_add(1, Ordering::SeqCst);
        let open = self.open.lock().expect("no panic");
        drop(self.opened.wait_while(open, |open| !*open).expect("no panic"));
    }

    fn open(&self) {
        *self.open.lock().expect("no panic") = true;
        self.opened.notify_all();
    }

    async fn until_came(&self, count: usize) {
        while self.came.load(Ordering::SeqCst) < count {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn a_short_query_passes_any_number_of_long_ones() {
    let (store, gate) = (store(64 * MEGABYTE, Duration::MAX), Arc::new(Gate::default()));
    let long = store.query_key(1, "long");
    store.0.scheduler.latency_hints.note(long, Duration::from_secs(1));
    let count = limits::QUERIES_LONG_MAX + limits::QUERIES_BRIEF_MAX + 10;
    let run = |store: Store, gate: Arc<Gate>| async move {
        store.run_known_query(long, move |_| gate.pass()).await
    };
    let running: Vec<_> = (0..count).map(|_| tokio::spawn(run(store.clone(), gate.clone()))).collect();
    gate.until_came(limits::QUERIES_LONG_MAX).await;
    let short = store.query_key(1, "short");
    assert_eq!(store.run_known_query(short, |_| "answered").await, Ok("answered"));
    assert_eq!(store.run_query(|_| "answered").await, Ok("answered"));
    assert_eq!(gate.came.load(Ordering::SeqCst), limits::QUERIES_LONG_MAX, "the others wait");
    gate.open();
    for one in running {
        assert_eq!(one.await.expect("no panic"), Ok(()));
    }
    assert_eq!(gate.came.load(Ordering::SeqCst), count);
}

/// However many unexpectedly take long: they leave the brief lane at their next look at the clock.
#[tokio::test]
async fn a_query_that_turns_out_to_be_long_makes_room_for_short_ones() {
    let (store, gate) = (store(64 * MEGABYTE, Duration::ZERO), Arc::new(Gate::default()));
    let run = |store: Store, gate: Arc<Gate>| async move {
        let work = move |host: &QueryHost| {
            if host.elapsed_ms() == u64::MAX {
                return "ended early";
            }
            gate.pass();
            "came to its end"
        };
        store.run_query(work).await
    };
    let count = limits::QUERIES_LONG_MAX + limits::QUERIES_BRIEF_MAX + 10;
    let running: Vec<_> = (0..count).map(|_| tokio::spawn(run(store.clone(), gate.clone()))).collect();
    gate.until_came(limits::QUERIES_LONG_MAX).await;
    assert_eq!(store.run_query(|_| "answered").await, Ok("answered"));
    gate.open();
    for one in running {
        assert_eq!(one.await.expect("no panic"), Ok("came to its end"));
    }
}

#[tokio::test]
async fn a_query_that_was_long_begins_among_the_long_ones() {
    let (store, runs) = (store(64 * MEGABYTE, Duration::ZERO), Arc::new(AtomicUsize::new(0)));
    let query_key = store.query_key(1, "long");
    let run = |runs: Arc<AtomicUsize>| {
        move |host: &QueryHost| {
            runs.fetch_add(1, Ordering::SeqCst);
            host.elapsed_ms() != u64::MAX
        }
    };
    assert_eq!(store.run_known_query(query_key, run(runs.clone())).await, Ok(true));
    assert_eq!(runs.swap(0, Ordering::SeqCst), 2, "begun again");
    store.0.scheduler.latency_hints.note(query_key, Duration::from_secs(1));
    assert_eq!(store.run_known_query(query_key, run(runs.clone())).await, Ok(true));
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

/// Each holds shared memory and requests more at the same time.
#[tokio::test]
async fn queries_that_find_no_memory_left_all_complete() {
    let store = store(8 * MEGABYTE, Duration::MAX);
    let run = |store: Store| async move {
        let work = |host: &QueryHost| {
            host.reserve(MEGABYTE)?;
            std::thread::yield_now();
            host.reserve(3 * MEGABYTE)
        };
        store.run_query(work).await
    };
    let running: Vec<_> = (0..50).map(|_| tokio::spawn(run(store.clone()))).collect();
    for one in running {
        assert_eq!(one.await.expect("no panic"), Ok(Ok(())));
    }
    assert_eq!(store.query_memory(), MemoryUse { bytes: 0, bytes_max: 8 * MEGABYTE });
}

#[tokio::test]
async fn a_query_that_finds_no_memory_left_is_run_alone() {
    let (store, gate) = (store(8 * MEGABYTE, Duration::MAX), Arc::new(Gate::default()));
    let holder = {
        let (store, gate) = (store.clone(), gate.clone());
        let work = move |host: &QueryHost| {
            let held = host.reserve(4 * MEGABYTE);
            gate.pass();
            held
        };
        tokio::spawn(async move { store.run_query(work).await })
    };
    gate.until_came(1).await;
    assert_eq!(store.query_memory().bytes, 4 * MEGABYTE);
    let runs = Arc::new(AtomicUsize::new(0));
    let work = {
        let runs = runs.clone();
        move |host: &QueryHost| {
            runs.fetch_add(1, Ordering::SeqCst);
            host.reserve(2 * MEGABYTE)
        }
    };
    assert_eq!(store.run_query(work).await, Ok(Ok(())));
    assert_eq!(runs.load(Ordering::SeqCst), 2);
    let refused = store.run_query(|host| host.reserve(5 * MEGABYTE)).await;
    assert!(matches!(refused, Ok(Err(QueryError::Refused(_)))), "no query can have so much: {refused:?}");
    gate.open();
    assert_eq!(holder.await.expect("no panic"), Ok(Ok(())));
}
