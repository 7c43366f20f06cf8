//! A power cut after any step of a random workload: what was there then is there again, and every row agrees.

use crate::audit::audit;
use crate::shop::START;
use crate::shop::{Shop, prepared};
use orrery_core::{Env, ItemId, Timestamp};
use orrery_document_store::{Committed, WriteError};
use orrery_documents::catalog::Container;
use orrery_documents::item::{ItemError, Target};
use orrery_documents::spaces::SPACES;
use orrery_kv::{Db, MemoryEngine, Sync};
use std::collections::BTreeMap;
use std::time::Duration;

const STEPS: usize = 120;

/// What a reader saw after so many engine writes.
struct Seen {
    now: Timestamp,
    texts: Vec<String>,
}

struct Run {
    engine: MemoryEngine,
    seen: BTreeMap<usize, Seen>,
}

/// The next of a few choices.
fn pick(env: &Env, choices: u64) -> u64 {
    env.random_u64() % choices
}

fn item(env: &Env) -> String {
    let ttl = match pick(env, 4) {
        0 => r#","ttl":-1"#.to_owned(),
        1 => format!(r#","ttl":{}"#, 1 + pick(env, 12)),
        _ => String::new(),
    };
    let email = match pick(env, 9) {
        0 => String::new(),
        1 => r#","email":null"#.to_owned(),
        n => format!(r#","email":"{n}@x""#),
    };
    format!(r#"{{"id":"{}","pk":{}{email}{ttl}}}"#, pick(env, 6), pick(env, 3))
}

/// One random write of an item; it may be refused, but only by the model.
fn write(shop: &Shop, container: &Container) {
    let env = shop.store.env();
    let item = prepared(container, &item(env));
    let id =
        if pick(env, 4) == 0 { ItemId::parse(&pick(env, 6).to_string()).unwrap() } else { item.id.clone() };
    let target = Target { epk: item.epk.clone(), id };
    let answer = match pick(env, 6) {
        0 | 1 => shop.create(container, &item),
        2 | 3 => shop.upsert(container, &item),
        4 => shop.replace(container, &target, &item),
        _ => shop.delete(container, &target),
    };
    expect_modelled(answer);
}

fn expect_modelled(answer: Result<Committed<()>, WriteError<ItemError>>) {
    match answer {
        Ok(_) => {}
        Err(WriteError::Model(ItemError::Exists | ItemError::Missing | ItemError::NotUnique)) => {}
        Err(other) => panic!("{other}"),
    }
}

fn run(seed: u64) -> Run {
    let engine = MemoryEngine::new(&SPACES);
    let shop = Shop::new(engine.clone(), Sync::None, seed);
    let mut container = shop.create_container("c", Some(10));
    shop.create_container("other", Some(3));
    let env = shop.store.env().clone();
    let mut seen = BTreeMap::new();
    for _ in 0..STEPS {
        match pick(&env, 20) {
            0..12 => write(&shop, &container),
            12..14 => write(&shop, &shop.container("other")),
            14..17 => shop.advance(pick(&env, 5)),
            17 | 18 => drop(shop.round().unwrap()),
            _ if pick(&env, 2) == 0 => {
                container = shop.set_ttl("c", [None, Some(-1), Some(4), Some(10)][pick(&env, 4) as usize]);
            }
            _ => {
                shop.drop_container("other");
                shop.create_container("other", Some(3));
            }
        }
        seen.insert(engine.unsynced(), Seen { now: env.now(), texts: shop.texts(&container) });
    }
    shop.store.close();
    Run { engine, seen }
}

/// Opens what a power cut left and checks it against what was seen.
fn check(run: &Run, kept: usize) {
    let engine = run.engine.crash(kept);
    let db = Db::open(Box::new(engine.clone()), Sync::Data).expect("the log is whole");
    audit(&*db.snapshot(), db.tip().lsn);
    drop(db);
    if let Some(seen) = run.seen.get(&kept) {
        let since = Duration::from_millis(seen.now.millis() - START.millis());
        let env = Env::seeded(START, 99);
        env.advance(since).unwrap();
        let shop = Shop::over(engine, Sync::Data, env);
        assert_eq!(shop.texts(&shop.container("c")), seen.texts, "what was read is there again");
        go_on(&shop);
    }
}

/// A store that was found again does its work to the end and takes writes.
fn go_on(shop: &Shop) {
    shop.settle();
    shop.audit();
    write(shop, &shop.container("c"));
    shop.advance(100);
    shop.settle();
    let live: usize =
        shop.store.catalog().all_containers().map(|container| shop.texts(container).len()).sum();
    assert_eq!(shop.audit().items, live, "everything that expires is gone");
    shop.store.close();
}

fn check_seed(seed: u64) {
    let run = run(seed);
    let written = run.engine.unsynced();
    assert!(written > STEPS / 2, "the workload writes: {written}");
    for kept in 0..=written {
        check(&run, kept);
    }
}

#[test]
fn every_prefix_of_a_workload_is_whole() {
    (1..=3).for_each(check_seed);
}

#[test]
fn every_prefix_of_another_workload_is_whole() {
    (4..=6).for_each(check_seed);
}

#[test]
fn the_workload_does_what_it_should_test() {
    let run = run(1);
    let db = Db::open(Box::new(run.engine.crash(usize::MAX)), Sync::Data).unwrap();
    let tally = audit(&*db.snapshot(), db.tip().lsn);
    assert!(tally.log > 30 && tally.items > 3 && tally.unique >= tally.items, "{tally:?}");
}
