//! Writers build on what waits for the disk; nobody is told of it before it is there.

use crate::place::{Place, add, elsewhere, here};
use orrery_core::Lsn;
use orrery_kv::contract::DOCUMENTS;
use orrery_kv::{Error, Fault, Read, Txn};
use orrery_txn::WriteError;

#[derive(Debug, PartialEq)]
enum Refusal {
    Taken,
}

/// Takes the row, unless it is there.
fn take(txn: &mut Txn<'_>) -> Result<&'static str, Refusal> {
    if txn.get(DOCUMENTS, b"row").unwrap().is_some() {
        return Err(Refusal::Taken);
    }
    txn.put(DOCUMENTS, &b"row"[..], &b""[..]);
    Ok("took it")
}

/// Writes nothing.
fn look(txn: &mut Txn<'_>) -> Result<bool, Error> {
    Ok(txn.get(DOCUMENTS, b"row")?.is_some())
}

#[test]
fn readers_see_a_write_only_when_it_is_durable() {
    let place = Place::new();
    place.gate.shut();
    let mut write = place.begin(here(), |txn| add(txn, b"n", 1));
    place.gate.wait_for_arrivals(1);
    assert!(write.waits());
    assert_eq!((place.number(b"n"), place.txns.durable_lsn()), (None, Lsn(0)));
    place.gate.open();
    let done = write.wait().unwrap();
    assert_eq!(place.number(b"n"), Some((1, done.lsn)));
    assert_eq!(place.txns.durable_lsn(), done.lsn);
    place.txns.close();
}

#[test]
fn a_refusal_that_rests_on_a_pending_write_waits_for_it() {
    let place = Place::new();
    place.gate.shut();
    let first = place.begin(here(), take);
    place.gate.wait_for_arrivals(1);
    let mut second = place.begin(here(), take);
    let mut looking = place.begin(here(), look);
    assert!(second.waits() && looking.waits());
    place.gate.open();
    let first = first.wait().unwrap();
    assert!(matches!(second.wait(), Err(WriteError::Model(Refusal::Taken))));
    let looked = looking.wait().unwrap();
    assert!(looked.value && looked.lsn >= first.lsn);
    place.txns.close();
}

#[test]
fn a_refusal_that_rested_on_a_write_that_failed_is_taken_back() {
    let place = Place::new();
    place.gate.shut();
    let first = place.begin(here(), take);
    place.gate.wait_for_arrivals(1);
    let (second, looking) = (place.begin(here(), take), place.begin(elsewhere(), look));
    place.gate.engine().fail_at(0, Fault::BeforeWrite);
    place.gate.open();
    assert!(matches!(first.wait(), Err(WriteError::Engine(Error::Unavailable(_)))));
    assert_eq!(second.wait().unwrap().value, "took it");
    assert!(!looking.wait().unwrap().value, "it looked when nothing was there");
    place.txns.close();
}

#[test]
fn a_refusal_in_the_group_that_fails_is_taken_back_too() {
    let (place, ahead) = Place::held();
    let (first, second) = (place.begin(here(), take), place.begin(here(), take));
    place.gate.engine().fail_at(1, Fault::BeforeWrite);
    place.gate.open();
    ahead.wait().unwrap();
    assert!(matches!(first.wait(), Err(WriteError::Engine(Error::Unavailable(_)))));
    assert_eq!(second.wait().unwrap().value, "took it");
    place.txns.close();
}

#[test]
fn what_rests_on_nothing_pending_is_answered_at_once() {
    let (place, first) = Place::held();
    let mut looking = place.begin(here(), look);
    assert!(!looking.waits());
    let mut refused = place.begin(here(), |_| Err::<(), _>(Refusal::Taken));
    assert!(!refused.waits());
    place.gate.open();
    first.wait().unwrap();
    place.txns.close();
}

#[test]
fn a_refused_transaction_leaves_nothing_behind() {
    let place = Place::new();
    let puts_and_fails = |txn: &mut Txn<'_>| {
        add(txn, b"n", 1).unwrap();
        Err::<(), _>(Refusal::Taken)
    };
    assert!(matches!(place.begin(here(), puts_and_fails).wait(), Err(WriteError::Model(_))));
    assert_eq!(place.number(b"n"), None);
    assert_eq!(place.begin(here(), |txn| add(txn, b"n", 1)).wait().unwrap().value, 1);
    assert_eq!(place.gate.written(), 1);
    place.txns.close();
}

#[test]
fn a_transaction_that_panics_leaves_its_partition_usable() {
    let place = Place::new();
    let broken = std::panic::AssertUnwindSafe(|| {
        place.begin(here(), |txn| -> Result<(), Error> {
            add(txn, b"n", 1)?;
            panic!("a mistake in the model");
        })
    });
    assert!(std::panic::catch_unwind(|| broken().wait().is_ok()).is_err());
    assert_eq!(place.begin(here(), |txn| add(txn, b"n", 1)).wait().unwrap().value, 1);
    place.txns.close();
}
