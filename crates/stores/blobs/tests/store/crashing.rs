//! A power cut after any step of a random workload: what was answered then is there again with its content, every chunk is
//! referred to as often as it is counted, and nothing leaks.

use crate::world::{World, blob, content};
use orrery_blob_store::model::operations::{DeleteBlob, DeleteSnapshots, PutOptions};
use orrery_blob_store::model::spaces::SPACES;
use orrery_blob_store::model::{Conditions, Selector, chunk_references};
use orrery_chunks::files::MemoryFiles;
use orrery_core::Env;
use orrery_kv::{Db, MemoryEngine, Sync};
use std::collections::BTreeMap;

const STEPS: usize = 60;

type State = (Vec<String>, BTreeMap<String, Vec<u8>>);

fn pick(env: &Env, choices: u64) -> u64 {
    env.random_u64() % choices
}

fn state(world: &World) -> State {
    let read =
        |name: &str| world.try_read(name, Selector::Current, None).ok().map(|bytes| (name.to_owned(), bytes));
    (world.states(), ["a", "b", "c"].into_iter().filter_map(read).collect())
}

fn step(world: &World, env: &Env) {
    let name = ["a", "b", "c"][pick(env, 3) as usize];
    let other = ["a", "b", "c"][pick(env, 3) as usize];
    let bytes = content([10, 50_000, 100_000][pick(env, 3) as usize], env.random_u64());
    match pick(env, 10) {
        0..3 => drop(world.try_put(name, &bytes, PutOptions::default())),
        3 => drop(world.stage(name, ["QQ==", "Qg=="][pick(env, 2) as usize], &bytes)),
        4 => drop(world.commit(name, &["QQ=="])),
        5 => drop(world.run(world.store.snapshot_blob(&blob(name), None, Conditions::default()))),
        6 => drop(world.run(world.store.copy_blob(
            &blob(name),
            Selector::Current,
            &blob(other),
            Default::default(),
        ))),
        7 => {
            let delete = DeleteBlob { snapshots: DeleteSnapshots::Include, ..DeleteBlob::default() };
            drop(world.run(world.store.delete_blob(&blob(name), delete)));
        }
        8 => world.advance(3 * 86_400),
        _ => drop(world.round().unwrap()),
    }
}

/// Every chunk has the references that rows say, and no fault.
fn check_chunks(world: &World) -> orrery_chunks::Checked {
    let snapshot = world.store.snapshot();
    let mut references = chunk_references(&*snapshot).unwrap().into_iter().map(Ok);
    let checked = orrery_chunks::check(&world.files, &*snapshot, Some(&mut references)).unwrap();
    assert_eq!(checked.faults, [""; 0]);
    checked
}

fn check_seed(seed: u64, retains: bool) {
    let (engine, files) = (MemoryEngine::new(&SPACES), MemoryFiles::new());
    // Files are synced before each commit, so every cut of the engine's unsynced writes finds its content.
    let world =
        World::over(engine.clone(), files.clone(), Sync::None, Env::seeded(crate::world::START, seed));
    world.create("runs");
    if retains {
        world.retain_deleted(5);
    }
    let env = Env::seeded(crate::world::START, seed + 1000);
    let mut seen = BTreeMap::new();
    seen.insert(engine.unsynced(), state(&world));
    for _ in 0..STEPS {
        step(&world, &env);
        check_chunks(&world);
        seen.insert(engine.unsynced(), state(&world));
    }
    world.store.close();
    let writes = engine.unsynced();
    for kept in (0..=writes).step_by(3) {
        let cut = engine.crash(kept);
        Db::open(Box::new(cut.clone()), Sync::Data).expect("the log is whole");
        let Some(seen) = seen.get(&kept) else { continue };
        // Files that later steps removed are missing in an earlier cut; so only states that need none of them are compared.
        let world = World::over(cut, files.crash(|| true), Sync::Data, Env::seeded(crate::world::START, 7));
        assert_eq!(world.states(), seen.0);
        world.store.close();
    }
    let world = World::over(
        engine.crash(writes),
        files.crash(|| true),
        Sync::Data,
        Env::seeded(crate::world::START, 7),
    );
    let newest = seen.values().next_back().unwrap();
    assert_eq!(&state(&world), newest, "the newest state is whole");
    world.settle();
    check_chunks(&world);
    for name in ["a", "b", "c"] {
        let delete = DeleteBlob { snapshots: DeleteSnapshots::Include, ..DeleteBlob::default() };
        drop(world.run(world.store.delete_blob(&blob(name), delete)));
    }
    world.run(world.store.delete_container(&crate::world::container("runs"), Default::default())).unwrap();
    world.advance(30 * 86_400);
    world.settle();
    let checked = check_chunks(&world);
    assert_eq!((checked.chunks, checked.bytes), (0, 0), "nothing is left of a dropped container");
}

#[test]
fn every_chunk_is_referred_to_as_often_as_it_is_counted() {
    (1..=4).for_each(|seed| check_seed(seed, false));
}

#[test]
fn so_it_is_with_soft_deletes() {
    (5..=8).for_each(|seed| check_seed(seed, true));
}
