//! A power cut after any step of a random workload of writes, policy changes and rounds: whatever was kept, queries
//! are right at once, and every row is right when the work has come to its end.

use super::shelf::{Book, Now, Shelf, agree, composites, everything, named, nothing};
use crate::shop::Shop;
use orrery_core::Env;
use orrery_document_store::WriteError;
use orrery_documents::spaces::SPACES;
use orrery_kv::{MemoryEngine, Sync};

const STEPS: usize = 60;
const BOOKS: u64 = 30;

fn step(shelf: &Shelf, env: &Env) {
    let pick = |choices: u64| env.random_u64() % choices;
    let book = Book { number: pick(BOOKS), version: pick(4) };
    match pick(10) {
        0..5 => shelf.put(book).unwrap(),
        5 | 6 => match shelf.remove(book) {
            Ok(()) | Err(WriteError::Model(_)) => {}
            Err(other) => panic!("{other}"),
        },
        7 | 8 => drop(shelf.shop.round().unwrap()),
        _ => {
            drop(shelf.try_policy([nothing(), everything(), composites(), named()][pick(4) as usize].clone()))
        }
    }
}

/// A workload whose every write a power cut may take; and how many there were.
fn run(seed: u64) -> MemoryEngine {
    let engine = MemoryEngine::new(&SPACES);
    let shelf = Shelf { shop: Shop::new(engine.clone(), Sync::None, seed), engine: engine.clone() };
    shelf.create("c", everything());
    let env = shelf.shop.store.env().clone();
    for _ in 0..STEPS {
        step(&shelf, &env);
        shelf.agree();
    }
    shelf.shop.store.close();
    engine
}

/// What a power cut left that kept so many writes.
fn check(seed: u64, engine: &MemoryEngine, kept: usize) {
    let engine = engine.crash(kept);
    let env = Env::seeded(crate::shop::START, seed);
    let shelf = Shelf { shop: Shop::over(engine.clone(), Sync::Data, env.clone()), engine };
    let catalog = shelf.shop.store.catalog();
    // The first few writes made the database and the container.
    if catalog.all_containers().next().is_some() {
        shelf.agree();
        shelf.check();
        let (snapshot, before) = (shelf.shop.store.snapshot(), shelf.container());
        shelf.shop.settle();
        shelf.agree();
        shelf.check();
        agree(&*snapshot, &before, &Now(env.now().millis()));
        shelf.put(Book { number: 1, version: 9 }).unwrap();
        shelf.agree();
    }
    shelf.shop.store.close();
}

fn check_seed(seed: u64) {
    let engine = run(seed);
    let written = engine.unsynced();
    assert!(written > STEPS / 2, "the workload writes: {written}");
    (0..=written).for_each(|kept| check(seed, &engine, kept));
}

#[test]
fn every_prefix_of_a_workload_with_policy_changes_is_right() {
    (1..=2).for_each(check_seed);
}

#[test]
fn every_prefix_of_another_workload_with_policy_changes_is_right() {
    (3..=4).for_each(check_seed);
}
