//! Background rounds: expiry, sweeping and rebuilding through the store, beside writers.

use crate::shop::{Shop, prepared};
use orrery_core::limits;
use orrery_document_store::{Progress, WriteError};
use orrery_documents::catalog::Container;
use orrery_documents::item::Target;
use orrery_documents::limits::REAP_ITEMS_MAX;
use orrery_documents::spaces::SPACES;
use orrery_kv::{MemoryEngine, Sync};

fn shop() -> (Shop, MemoryEngine) {
    let engine = MemoryEngine::new(&SPACES);
    (Shop::new(engine.clone(), Sync::Data, 7), engine)
}

fn fill(shop: &Shop, container: &Container, count: usize) {
    for n in 0..count {
        let body = format!(r#"{{"id":"{n}","pk":{},"email":{n}}}"#, n % 3);
        shop.create(container, &prepared(container, &body)).unwrap();
    }
}

#[test]
fn nothing_to_do_is_idle() {
    let (shop, _) = shop();
    shop.create_container("c", Some(10));
    assert_eq!(shop.round().unwrap(), Progress::Idle);
    shop.store.close();
}

#[test]
fn expired_items_are_reaped_when_their_second_comes() {
    let (shop, _) = shop();
    let container = shop.create_container("c", Some(10));
    fill(&shop, &container, 20);
    shop.advance(9);
    assert_eq!(shop.round().unwrap(), Progress::Idle);
    shop.advance(1);
    assert_eq!(shop.audit().items, 20);
    assert_eq!(shop.settle(), 2);
    assert_eq!((shop.audit().items, shop.audit().log), (0, 40));
    shop.store.close();
}

#[test]
fn a_dropped_container_is_swept_and_its_late_writers_are_told() {
    let (shop, _) = shop();
    let (doomed, stays) = (shop.create_container("doomed", Some(10)), shop.create_container("stays", None));
    fill(&shop, &doomed, 20);
    fill(&shop, &stays, 20);
    shop.drop_container("doomed");
    let late = prepared(&doomed, r#"{"id":"late","pk":1}"#);
    assert!(matches!(shop.create(&doomed, &late), Err(WriteError::PreconditionFailed)));
    let known = prepared(&doomed, r#"{"id":"1","pk":1}"#);
    let target = Target { epk: known.epk, id: known.id };
    assert!(matches!(shop.delete(&doomed, &target), Err(WriteError::PreconditionFailed)));
    shop.settle();
    let tally = shop.audit();
    assert_eq!((tally.items, tally.unique, tally.log), (20, 20, 20));
    assert_eq!(shop.round().unwrap(), Progress::Idle);
    shop.store.close();
}

#[test]
fn a_changed_time_to_live_reaches_every_item_through_a_restart() {
    let (first, engine) = shop();
    let container = first.create_container("c", None);
    fill(&first, &container, 30);
    first.set_ttl("c", Some(1000));
    first.round().unwrap();
    first.store.close();
    let shop = Shop::over(engine.crash(0), Sync::Data, first.store.env().clone());
    shop.settle();
    shop.advance(limits::REQUEST_SECONDS_MAX);
    shop.settle();
    assert_eq!(shop.audit().expiring, 30);
    shop.advance(1000 - limits::REQUEST_SECONDS_MAX);
    shop.settle();
    assert_eq!(shop.audit().items, 0);
    shop.store.close();
}

#[test]
fn a_container_dropped_while_its_rows_are_rebuilt_leaves_no_job() {
    let (shop, _) = shop();
    let container = shop.create_container("c", None);
    fill(&shop, &container, 10);
    shop.set_ttl("c", Some(5));
    shop.round().unwrap();
    shop.drop_container("c");
    shop.settle();
    assert_eq!(orrery_documents::sweep::jobs(&*shop.store.snapshot()).unwrap(), []);
    shop.audit();
    shop.store.close();
}

/// Many items of one partition expire while others are written to it.
#[test]
fn writers_and_the_reaper_share_a_partition() {
    let (shop, _) = shop();
    let container = shop.create_container("c", Some(5));
    fill(&shop, &container, 60);
    shop.advance(5);
    std::thread::scope(|threads| {
        let writer = threads.spawn(|| {
            for n in 0..60 {
                let body = format!(r#"{{"id":"{n}","pk":{},"email":{}}}"#, n % 3, n + 3);
                shop.upsert(&container, &prepared(&container, &body)).unwrap();
            }
        });
        while !writer.is_finished() {
            shop.round().unwrap();
        }
        writer.join().unwrap();
    });
    shop.settle();
    assert_eq!(shop.texts(&container).len(), 60);
    assert_eq!(shop.audit().expiring, 60);
    const { assert!(60 < REAP_ITEMS_MAX) };
    shop.store.close();
}
