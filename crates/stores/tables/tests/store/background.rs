//! Background rounds: rows of dropped tables go, and logs are trimmed beside writers.

use crate::harness::{Harness, START, entity};
use orrery_core::{Env, Lsn};
use orrery_kv::limits::LOG_VERIFY_COMMITS;
use orrery_kv::{Engine, META, MemoryEngine, Put, Sync, Tip};
use orrery_table_store::limits::LOG_TRIM_EVERY_SECONDS;
use orrery_table_store::model::EntityOperation;
use orrery_table_store::model::spaces::SPACES;
use orrery_txn::Progress;
use std::time::Duration;

const DAY: u64 = 86_400;

#[test]
fn nothing_to_do_is_idle() {
    let harness = Harness::new();
    harness.create("Runs");
    assert_eq!(harness.round().unwrap(), Progress::Idle);
}

#[test]
fn the_rows_of_a_dropped_table_go_and_the_others_stay() {
    let harness = Harness::new();
    let (doomed, stays) = (harness.create("Doomed"), harness.create("Stays"));
    for n in 0..20 {
        harness.insert(&doomed, entity("p", &n.to_string(), n));
        harness.insert(&stays, entity("p", &n.to_string(), n));
    }
    harness.drop_table("Doomed").unwrap();
    let again = harness.create("Doomed");
    harness.insert(&again, entity("p", "new", 1));
    assert_eq!(harness.counts(), (41, 41));
    harness.settle();
    assert_eq!(harness.counts(), (21, 21));
    assert_eq!(harness.query(&again, "").entities.len(), 1);
    assert_eq!(harness.round().unwrap(), Progress::Idle);
}

/// The same store after so many more commits that none of those before is verified when it is opened.
fn much_later(engine: &MemoryEngine, harness: &Harness, seconds: u64) -> Harness {
    let newest = harness.store.snapshot().lsn();
    harness.store.close();
    let tip = Tip { lsn: Lsn(newest.0 + LOG_VERIFY_COMMITS + 1), chain: 7 };
    let key = b"\0tip".to_vec().into();
    let put = Put { space: META, key, value: Some(tip.to_bytes().to_vec().into()) };
    engine.write(vec![put], Sync::Data).unwrap();
    let env = Env::seeded(START, 9);
    env.advance(Duration::from_secs(seconds)).unwrap();
    Harness::over(engine.crash(0), Sync::Data, env)
}

#[test]
fn logs_are_trimmed_now_and_then() {
    let engine = MemoryEngine::new(&SPACES);
    let first = Harness::over(engine.clone(), Sync::Data, Env::seeded(START, 1));
    let table = first.create("Runs");
    for n in 0..20 {
        first.write(&table, &EntityOperation::InsertOrReplace(entity("p", "r", n))).unwrap();
    }
    assert_eq!(first.round().unwrap(), Progress::Idle);
    let second = much_later(&engine, &first, 7 * DAY - 1);
    assert_eq!(second.settle(), 1);
    assert_eq!(second.counts(), (1, 20), "a second too young");
    second.advance(1);
    assert_eq!(second.settle(), 1, "not looked at again so soon");
    assert_eq!(second.counts(), (1, 20));
    second.advance(LOG_TRIM_EVERY_SECONDS);
    assert_eq!(second.settle(), 2, "one round that trims, and one that finds nothing");
    assert_eq!(second.counts(), (1, 1));
}
