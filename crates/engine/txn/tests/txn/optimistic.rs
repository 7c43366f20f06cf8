//! Transactions that take their time: they keep nobody waiting, and are right all the same.

use crate::place::{Place, add, elsewhere, here};
use orrery_kv::contract::DOCUMENTS;
use orrery_kv::{Error, Fault, Read};
use orrery_txn::{Committed, WriteError};
use std::cell::Cell;
use std::sync::mpsc;

type Answer = Result<Committed<u64>, WriteError<Error>>;

/// A long transaction that adds 10; `meanwhile` is called in each try, with its number.
fn long_add(place: &Place, meanwhile: impl Fn(u32)) -> (Answer, u32) {
    let tries = Cell::new(0);
    let answer = place.txns.write_optimistic(here(), |txn| {
        let now = add(txn, b"n", 10)?;
        tries.set(tries.get() + 1);
        meanwhile(tries.get());
        Ok(now)
    });
    (answer, tries.get())
}

#[test]
fn alone_it_runs_once() {
    let place = Place::new();
    let (answer, tries) = long_add(&place, |_| {});
    let done = answer.unwrap();
    assert_eq!((done.value, tries, place.number(b"n")), (10, 1, Some((10, done.lsn))));
    place.txns.close();
}

#[test]
fn others_write_to_its_partition_while_it_runs_and_it_runs_again_on_what_they_wrote() {
    let place = Place::new();
    let meanwhile = |number| {
        if number == 1 {
            assert_eq!(place.begin(here(), |txn| add(txn, b"n", 1)).wait().unwrap().value, 1);
        }
    };
    let (answer, tries) = long_add(&place, meanwhile);
    assert_eq!((answer.unwrap().value, tries), (11, 2));
    place.txns.close();
}

#[test]
fn a_write_that_others_took_back_to_what_it_was_counts_too() {
    let place = Place::new();
    let meanwhile = |number| {
        if number == 1 {
            let there = |txn: &mut orrery_kv::Txn<'_>| add(txn, b"other", 1);
            place.begin(here(), there).wait().unwrap();
            let gone = |txn: &mut orrery_kv::Txn<'_>| {
                txn.delete(DOCUMENTS, &b"other"[..]);
                Ok::<_, Error>(())
            };
            place.begin(here(), gone).wait().unwrap();
        }
    };
    assert_eq!(long_add(&place, meanwhile).1, 2);
    place.txns.close();
}

#[test]
fn writes_to_other_partitions_do_not_disturb_it() {
    let place = Place::new();
    let meanwhile = |_| {
        place.begin(elsewhere(), |txn| add(txn, b"m", 1)).wait().unwrap();
    };
    assert_eq!(long_add(&place, meanwhile).1, 1);
    place.txns.close();
}

#[test]
fn one_that_writes_nothing_is_not_run_again() {
    let place = Place::new();
    let tries = Cell::new(0);
    let looked = place.txns.write_optimistic(here(), |txn| {
        tries.set(tries.get() + 1);
        place.begin(here(), |txn| add(txn, b"n", 1)).wait().unwrap();
        txn.get(DOCUMENTS, b"n").map(|found| found.is_some())
    });
    assert_eq!((looked.unwrap().value, tries.get()), (false, 1));
    place.txns.close();
}

#[test]
fn one_that_refuses_leaves_nothing_behind() {
    let place = Place::new();
    let refused = place.txns.write_optimistic(here(), |txn| {
        add(txn, b"n", 1).unwrap();
        Err::<(), _>("no")
    });
    assert!(matches!(refused, Err(WriteError::Model("no"))));
    assert_eq!((place.number(b"n"), place.gate.written()), (None, 0));
    place.txns.close();
}

#[test]
fn in_its_last_try_the_writers_of_its_partition_wait_for_it() {
    let place = Place::new();
    let (seen, waited) = mpsc::channel();
    let meanwhile = |number: u32| {
        let mut write = place.begin(here(), |txn| add(txn, b"n", 1));
        let other = place.begin(elsewhere(), |txn| add(txn, b"m", 1)).wait();
        assert!(other.is_ok(), "other partitions go on");
        if number < 3 {
            write.wait().unwrap();
        } else {
            seen.send(write.waits()).unwrap();
        }
    };
    let (answer, tries) = long_add(&place, meanwhile);
    assert_eq!((answer.unwrap().value, tries, waited.recv()), (12, 3, Ok(true)));
    let after = place.begin(here(), |txn| add(txn, b"n", 1)).wait().unwrap();
    assert_eq!(after.value, 13, "and go on when it has ended");
    place.txns.close();
}

#[test]
fn it_builds_on_what_waits_for_the_disk() {
    let place = Place::new();
    place.gate.shut();
    let first = place.begin(here(), |txn| add(txn, b"n", 1));
    place.gate.wait_for_arrivals(1);
    let store = place.txns.clone();
    let (began, running) = mpsc::channel();
    let long = std::thread::spawn(move || {
        store.write_optimistic(here(), |txn| {
            began.send(()).unwrap();
            add(txn, b"n", 10)
        })
    });
    running.recv().unwrap();
    place.gate.open();
    first.wait().unwrap();
    assert_eq!(long.join().unwrap().unwrap().value, 11);
    place.txns.close();
}

#[test]
fn it_runs_again_if_what_it_built_on_never_reached_the_disk() {
    let place = Place::new();
    place.gate.shut();
    let first = place.begin(here(), |txn| add(txn, b"n", 1));
    place.gate.wait_for_arrivals(1);
    place.gate.engine().fail_at(0, Fault::BeforeWrite);
    let first = Cell::new(Some(first));
    let meanwhile = |number| {
        if number == 1 {
            place.gate.open();
            assert!(first.take().unwrap().wait().is_err());
        }
    };
    let (answer, tries) = long_add(&place, meanwhile);
    assert_eq!((answer.unwrap().value, tries), (10, 2));
    place.txns.close();
}

#[test]
fn a_panic_lets_the_partition_go() {
    let place = Place::new();
    let broken = std::panic::AssertUnwindSafe(|| {
        place.txns.write_optimistic(here(), |txn| -> Result<(), Error> {
            add(txn, b"n", 1)?;
            panic!("a mistake");
        })
    });
    assert!(std::panic::catch_unwind(|| broken().is_ok()).is_err());
    assert_eq!(long_add(&place, |_| {}).0.unwrap().value, 10);
    place.txns.close();
}

#[test]
fn many_at_once_lose_nothing() {
    let place = Place::new();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    let add_one = |txn: &mut orrery_kv::Txn<'_>| add(txn, b"n", 1);
                    while let Err(error) = place.txns.write_optimistic(here(), add_one) {
                        assert!(matches!(error, WriteError::Busy), "{error}");
                    }
                    place.txns.write_blocking(here(), add_one).unwrap();
                }
            });
        }
    });
    assert_eq!(place.number(b"n").unwrap().0, 200);
    place.txns.close();
}
