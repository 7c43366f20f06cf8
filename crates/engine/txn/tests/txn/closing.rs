//! Closing: what waits is committed, what comes later is refused.

use crate::place::{Place, add, elsewhere, here, open};
use orrery_kv::contract::SPACES;
use orrery_kv::{MemoryEngine, Sync};
use orrery_txn::WriteError;

#[test]
fn closing_commits_what_waits_and_refuses_what_comes_later() {
    let (place, first) = Place::held();
    let waiting =
        [place.begin(here(), |txn| add(txn, b"n", 1)), place.begin(here(), |txn| add(txn, b"n", 1))];
    let closing = std::thread::spawn({
        let store = place.txns.clone();
        move || store.close()
    });
    place.gate.open();
    closing.join().unwrap();
    first.wait().unwrap();
    assert_eq!(waiting.map(|write| write.wait().unwrap().value), [1, 2]);
    let late = place.begin(elsewhere(), |txn| add(txn, b"m", 1)).wait();
    assert!(matches!(late, Err(WriteError::Stopping)));
    assert!(matches!(place.txns.write_blocking(here(), |txn| add(txn, b"n", 1)), Err(WriteError::Stopping)));
    assert_eq!(place.number(b"n").unwrap().0, 2, "reads go on");
    place.txns.close();
}

#[test]
fn a_store_opened_again_goes_on_where_it_ended() {
    let engine = MemoryEngine::new(&SPACES);
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
