//! Trimming in background rounds: logs shrink beside writers, and a restart finds nothing wrong.

use crate::shop::START;
use crate::shop::{Shop, prepared};
use orrery_core::{Env, Lsn};
use orrery_document_store::Progress;
use orrery_document_store::limits;
use orrery_documents::catalog::Container;
use orrery_documents::spaces::SPACES;
use orrery_kv::limits::LOG_VERIFY_COMMITS;
use orrery_kv::{Engine, META, MemoryEngine, Put, Sync, Tip};
use std::time::Duration;

const DAY: u64 = 86_400;

fn write(shop: &Shop, container: &Container, count: usize) {
    for n in 0..count {
        let item = prepared(container, &format!(r#"{{"id":"{}","pk":1,"email":{},"n":{n}}}"#, n % 2, n % 2));
        shop.upsert(container, &item).unwrap();
    }
}

/// The same store after so many more commits that none of those before is verified when it is opened.
fn much_later(engine: &MemoryEngine, shop: Shop, seconds: u64) -> Shop {
    let newest = shop.store.snapshot().lsn();
    shop.store.close();
    let tip = Tip { lsn: Lsn(newest.0 + LOG_VERIFY_COMMITS + 1), chain: 7 };
    let key = b"\0tip".to_vec().into();
    engine
        .write(vec![Put { space: META, key, value: Some(tip.to_bytes().to_vec().into()) }], Sync::Data)
        .unwrap();
    let env = Env::seeded(START, 9);
    env.advance(Duration::from_secs(seconds)).unwrap();
    Shop::over(engine.crash(0), Sync::Data, env)
}

#[test]
fn background_rounds_trim_what_is_old_and_the_store_opens_again() {
    let engine = MemoryEngine::new(&SPACES);
    let first = Shop::new(engine.clone(), Sync::Data, 7);
    let container = first.create_container("c", None);
    write(&first, &container, 50);
    assert_eq!(first.audit().log, 50);
    assert_eq!(first.round().unwrap(), Progress::Idle, "it is all verified at start");

    let second = much_later(&engine, first, 8 * DAY);
    assert_eq!(second.settle(), 2, "one round that trims, and one that finds nothing");
    assert_eq!(second.audit().log, 2, "the last of each item");
    let container = second.container("c");
    write(&second, &container, 10);
    assert_eq!(second.audit().log, 12);
    second.store.close();
}

#[test]
fn trimming_is_looked_at_now_and_then_and_again_when_time_has_passed() {
    let engine = MemoryEngine::new(&SPACES);
    let first = Shop::new(engine.clone(), Sync::Data, 7);
    let container = first.create_container("c", None);
    write(&first, &container, 10);
    let second = much_later(&engine, first, 7 * DAY - 1);
    assert_eq!(second.settle(), 1);
    assert_eq!(second.audit().log, 10, "a second too young");
    second.advance(1);
    assert_eq!(second.settle(), 1, "not looked at again so soon");
    assert_eq!(second.audit().log, 10);
    second.advance(limits::LOG_TRIM_EVERY_SECONDS);
    assert_eq!(second.settle(), 2);
    assert_eq!(second.audit().log, 2);
    second.store.close();
}
