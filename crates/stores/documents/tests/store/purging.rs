//! A partition's removal that nobody waits for any more is ended by background rounds.

use crate::shop::{Shop, prepared};
use orrery_document_store::{Progress, Scope};
use orrery_documents::catalog::Container;
use orrery_documents::expiry::Step;
use orrery_documents::limits;
use orrery_documents::purge;
use orrery_documents::spaces::SPACES;
use orrery_kv::{MemoryEngine, Sync};

const COUNT: usize = 2 * limits::PURGE_ITEMS_MAX;

fn begun() -> (Shop, MemoryEngine, std::sync::Arc<Container>) {
    let engine = MemoryEngine::new(&SPACES);
    let shop = Shop::new(engine.clone(), Sync::Data, 7);
    let container = shop.create_container("c", None);
    for n in 0..COUNT {
        let body = format!(r#"{{"id":"{n}","pk":1,"email":{n}}}"#);
        shop.create(&container, &prepared(&container, &body)).unwrap();
    }
    let epk = prepared(&container, r#"{"id":"a","pk":1}"#).epk;
    let scope = Scope::Partition { container: container.number(), epk: epk.as_bytes() };
    let now = shop.store.env().now();
    let begun = shop.store.write_blocking(scope, |txn| {
        purge::begin(txn, &container, epk.as_bytes(), now, shop.store.next_ordinal())
    });
    assert_eq!(begun.unwrap().value, Step::More);
    (shop, engine, container)
}

#[test]
fn a_restart_goes_on_with_it() {
    let (first, engine, _) = begun();
    first.store.close();
    let shop = Shop::over(engine.crash(0), Sync::Data, first.store.env().clone());
    let container = shop.container("c");
    shop.create(&container, &prepared(&container, r#"{"id":"new","pk":1}"#)).unwrap();
    shop.settle();
    assert_eq!(shop.texts(&container), [r#"{"id":"new","pk":1}"#], "what was made since stays");
    assert_eq!(purge::jobs(&*shop.store.snapshot()).unwrap(), []);
    shop.audit();
    shop.store.close();
}

#[test]
fn it_goes_with_its_container() {
    let (shop, _, _) = begun();
    shop.drop_container("c");
    shop.settle();
    assert_eq!(purge::jobs(&*shop.store.snapshot()).unwrap(), []);
    assert_eq!(shop.round().unwrap(), Progress::Idle);
    shop.audit();
    shop.store.close();
}
