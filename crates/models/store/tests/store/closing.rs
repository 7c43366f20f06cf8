//! Closing: what waits is committed, what comes later is refused.

use crate::place::{Place, add, elsewhere, here, open};
use orrery_core::DatabaseName;
use orrery_documents::{Stamp, catalog};
use orrery_kv::{Error, MemoryEngine, Sync};
use orrery_store::WriteError;

#[test]
fn closing_commits_what_waits_and_refuses_what_comes_later() {
    let (place, first) = Place::held();
    let waiting =
        [place.begin(here(), |txn| add(txn, b"n", 1)), place.begin(here(), |txn| add(txn, b"n", 1))];
    let closing = std::thread::spawn({
        let store = place.store.clone();
        move || store.close()
    });
    place.gate.open();
    closing.join().unwrap();
    first.wait().unwrap();
    assert_eq!(waiting.map(|write| write.wait().unwrap().value), [1, 2]);
    let late = place.begin(elsewhere(), |txn| add(txn, b"m", 1)).wait();
    assert!(matches!(late, Err(WriteError::Stopping)));
    assert!(matches!(place.store.write_blocking(here(), |txn| add(txn, b"n", 1)), Err(WriteError::Stopping)));
    assert_eq!(place.number(b"n").unwrap().0, 2, "reads go on");
    place.store.close();
}

#[test]
fn a_store_opened_again_goes_on_where_it_ended() {
    let engine = MemoryEngine::new();
    let store = open(engine.clone(), Sync::Data);
    let first = store.write_blocking(here(), |txn| add(txn, b"n", 1)).unwrap();
    let ordinals = [store.next_ordinal(), store.next_ordinal()];
    store.close();
    let store = open(engine.crash(0), Sync::Data);
    assert_eq!(store.durable_lsn(), first.lsn);
    let second = store.write_blocking(here(), |txn| add(txn, b"n", 1)).unwrap();
    assert_eq!(second.value, 2);
    assert!(second.lsn > first.lsn);
    assert!(ordinals[0] < ordinals[1] && ordinals[1] < store.next_ordinal());
    store.close();
}

/// The catalog in memory follows the one on the disk even if the client went away.
#[test]
fn a_catalog_change_nobody_waits_for_is_still_shown() {
    let place = Place::new();
    place.gate.shut();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let store = place.store.clone();
    let asked = runtime.spawn(async move {
        let name = DatabaseName::parse("db").unwrap();
        let stamp = Stamp {
            now: store.env().now(),
            etag: orrery_core::ETag::from_u128(1),
            partition_bytes_max: u64::MAX,
        };
        store.write_catalog(move |txn| catalog::create_database(txn, &name, None, stamp)).await
    });
    place.gate.wait_for_arrivals(1);
    asked.abort();
    assert!(place.store.catalog().database("db").is_none());
    place.gate.open();
    // Waits for the thread that the change runs on.
    drop(runtime);
    assert!(place.store.catalog().database("db").is_some());
    place.store.close();
}

#[tokio::test]
async fn a_catalog_change_is_shown_when_it_is_answered() {
    let store = open(MemoryEngine::new(), Sync::Data);
    let stamp = Stamp {
        now: store.env().now(),
        etag: orrery_core::ETag::from_u128(1),
        partition_bytes_max: u64::MAX,
    };
    for round in 0..20 {
        let name = DatabaseName::parse(&format!("db{round}")).unwrap();
        let wanted = name.clone();
        store.write_catalog(move |txn| catalog::create_database(txn, &wanted, None, stamp)).await.unwrap();
        assert!(store.catalog().database(name.as_str()).is_some());
    }
    let refused = store.write_catalog(|_| Err::<(), Error>(Error::Corrupt("no".into()))).await;
    assert!(matches!(refused, Err(WriteError::Model(_))));
    store.close();
}
