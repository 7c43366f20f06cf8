//! A power cut after any step of a random workload: what was answered then is there again, no group is half there, and
//! the log undoes to every earlier state.

use crate::harness::{Harness, START, account, entity, key, name, number};
use orrery_core::{Env, Lsn};
use orrery_kv::{Db, MemoryEngine, Sync};
use orrery_table_store::model::spaces::SPACES;
use orrery_table_store::model::{EntityError, EntityOperation, EntityRow, IfMatch, changes};
use orrery_table_store::{Error, TableHandle};
use std::collections::BTreeMap;

const STEPS: usize = 120;

/// Every entity of a table with its number, as a reader sees them.
type State = BTreeMap<(String, String), i64>;

/// What a reader saw after so many engine writes: of each table.
struct Run {
    engine: MemoryEngine,
    seen: BTreeMap<usize, [Option<State>; 2]>,
}

const TABLES: [&str; 2] = ["Stays", "Comes"];

fn pick(env: &Env, choices: u64) -> u64 {
    env.random_u64() % choices
}

fn row_of(entity: &EntityRow) -> ((String, String), i64) {
    ((entity.partition_key().into_owned(), entity.row_key().into_owned()), number(entity))
}

fn state(harness: &Harness, table: &str) -> Option<State> {
    let table = harness.store.table(&account(), &name(table)).ok()?;
    Some(harness.query(&table, "").entities.iter().map(row_of).collect())
}

fn states(harness: &Harness) -> [Option<State>; 2] {
    TABLES.map(|table| state(harness, table))
}

fn operation(env: &Env, partition_key: &str, row_key: &str) -> EntityOperation {
    let sent = || entity(partition_key, row_key, pick(env, 1000) as i64);
    match pick(env, 6) {
        0 => EntityOperation::Insert(sent()),
        1 => EntityOperation::InsertOrMerge(sent()),
        2 => EntityOperation::InsertOrReplace(sent()),
        3 => EntityOperation::Merge(sent(), IfMatch::Any),
        4 => EntityOperation::Replace(sent(), IfMatch::Any),
        _ => EntityOperation::Delete(key(partition_key, row_key), IfMatch::Any),
    }
}

/// One random write; it may be refused, but only by the model.
fn write(harness: &Harness, table: &TableHandle) {
    let env = harness.store.env();
    let partition_key = pick(env, 3).to_string();
    let refused = if pick(env, 4) == 0 {
        let operations = (0..4).map(|row| operation(env, &partition_key, &row.to_string())).collect();
        match harness.transact(table, operations) {
            Ok(_) => return,
            Err(Error::Group(error)) => error.error,
            Err(other) => panic!("{other}"),
        }
    } else {
        match harness.write(table, &operation(env, &partition_key, &pick(env, 4).to_string())) {
            Ok(_) => return,
            Err(Error::Entity(error)) => error,
            Err(other) => panic!("{other}"),
        }
    };
    assert!(matches!(refused, EntityError::Exists | EntityError::NotFound), "{refused}");
}

fn run(seed: u64) -> Run {
    let engine = MemoryEngine::new(&SPACES);
    let harness = Harness::over(engine.clone(), Sync::None, Env::seeded(START, seed));
    TABLES.into_iter().for_each(|table| drop(harness.create(table)));
    let env = harness.store.env().clone();
    let mut seen = BTreeMap::new();
    for _ in 0..STEPS {
        match pick(&env, 20) {
            0..14 => write(&harness, &harness.store.table(&account(), &name(TABLES[0])).unwrap()),
            14..17 => write(&harness, &harness.store.table(&account(), &name(TABLES[1])).unwrap()),
            17 | 18 => drop(harness.round().unwrap()),
            _ => {
                harness.drop_table(TABLES[1]).unwrap();
                seen.insert(engine.unsynced(), states(&harness));
                harness.create(TABLES[1]);
            }
        }
        seen.insert(engine.unsynced(), states(&harness));
    }
    harness.store.close();
    Run { engine, seen }
}

/// Opens what a power cut left and checks it against what was seen.
fn check(run: &Run, kept: usize) {
    let engine = run.engine.crash(kept);
    Db::open(Box::new(engine.clone()), Sync::Data).expect("the log is whole");
    let Some(seen) = run.seen.get(&kept) else { return };
    let harness = Harness::over(engine, Sync::Data, Env::seeded(START, 99));
    assert_eq!(&states(&harness), seen, "what was read is there again");
    check_log(run, kept, &harness);
    harness.settle();
    assert_eq!(&states(&harness), seen, "background work changes nothing that anybody sees");
    let live: usize = seen.iter().flatten().map(BTreeMap::len).sum();
    assert_eq!(harness.counts().0, live, "the rows of dropped tables are gone");
    write(&harness, &harness.store.table(&account(), &name(TABLES[0])).unwrap());
    harness.store.close();
}

/// Undoes the whole log of the first table, from the newest entry on: nothing is left at the beginning.
fn check_log(run: &Run, kept: usize, harness: &Harness) {
    let table = harness.store.table(&account(), &name(TABLES[0])).unwrap();
    let snapshot = harness.store.snapshot();
    let entries: Vec<changes::Entry> =
        changes::after(&*snapshot, table.number(), Lsn(0)).collect::<Result<_, _>>().unwrap();
    let mut undone = run.seen[&kept][0].clone().unwrap();
    for entry in entries.iter().rev() {
        match changes::replaced(entry).unwrap() {
            Some(before) => undone.extend([row_of(&before)]),
            None => {
                // Only the key of it is needed.
                let record = entity("", "", 0).as_row(0, Default::default()).stored().1.clone();
                let created = EntityRow::read(entry.key().to_vec().into(), record).unwrap();
                assert!(undone.remove(&row_of(&created).0).is_some(), "what was created is there");
            }
        }
    }
    assert_eq!(undone, State::new());
}

fn check_seed(seed: u64) {
    let run = run(seed);
    let written = run.engine.unsynced();
    assert!(written > STEPS / 3, "the workload writes: {written}");
    (0..=written).for_each(|kept| check(&run, kept));
}

#[test]
fn every_prefix_of_a_workload_is_whole() {
    (1..=3).for_each(check_seed);
}

#[test]
fn every_prefix_of_another_workload_is_whole() {
    (4..=6).for_each(check_seed);
}
