//! The log undoes to every earlier state, and the content of each of them is still there.

use crate::world::{START, World, blob, container, content, metadata, tags};
use bytes::Bytes;
use orrery_blob_store::model::changes::{self, Subject};
use orrery_blob_store::model::content::{PartBytes, parts};
use orrery_blob_store::model::operations::{DeleteBlob, DeleteSnapshots, PutOptions};
use orrery_blob_store::model::{Blob, Conditions, Selector};
use orrery_core::{Env, Lsn};
use orrery_kv::Snapshot;
use std::collections::BTreeMap;

const STEPS: usize = 60;

/// The rows of all states.
type States = BTreeMap<Bytes, Bytes>;

fn states(world: &World) -> States {
    let number = world.store.container(&container("runs")).unwrap().number();
    changes::states(&*world.store.snapshot(), number).collect::<Result<_, _>>().unwrap()
}

fn step(world: &World, env: &Env) {
    let pick = |choices: u64| (env.random_u64() % choices) as usize;
    let (name, other) = (["a", "b"][pick(2)], ["a", "b"][pick(2)]);
    let bytes = content([10, 50_000, 100_000][pick(3)], env.random_u64());
    match pick(9) {
        0..3 => drop(world.try_put(name, &bytes, PutOptions::default())),
        3 => drop(world.stage(name, "QQ==", &bytes)),
        4 => drop(world.commit(name, &["QQ=="])),
        5 => drop(world.run(world.store.snapshot_blob(&blob(name), None, Conditions::default()))),
        6 => {
            let (from, to) = (blob(name), blob(other));
            drop(world.run(world.store.copy_blob(&from, Selector::Current, &to, Default::default())));
        }
        7 => {
            let set = metadata(&[("k", &env.random_u64().to_string())]);
            drop(world.run(world.store.set_metadata(&blob(name), set, Conditions::default())));
            let set = tags(&[("k", &env.random_u64().to_string())]);
            drop(world.run(world.store.set_tags(&blob(name), Selector::Current, set, Conditions::default())));
        }
        _ => {
            let delete = DeleteBlob { snapshots: DeleteSnapshots::Include, ..DeleteBlob::default() };
            drop(world.run(world.store.delete_blob(&blob(name), delete)));
        }
    }
}

/// The bytes of a state, whether anybody can reach it still or not.
fn bytes_of(world: &World, snapshot: &Snapshot, found: &Blob) -> Vec<u8> {
    let pin = world.store.chunks().pin();
    let mut bytes = Vec::new();
    for part in parts(snapshot, found.content, 0, found.length()) {
        let part = part.unwrap();
        assert_eq!(part.start, bytes.len() as u64, "no byte is missing");
        match part.bytes {
            PartBytes::Inline(inline) => bytes.extend_from_slice(&inline),
            PartBytes::Chunk { id, offset } => {
                let location = orrery_chunks::locate(snapshot, id).unwrap().unwrap();
                bytes.extend_from_slice(&pin.read(&location, offset..offset + part.length as u32).unwrap());
            }
        }
    }
    assert_eq!(bytes.len() as u64, found.length());
    bytes
}

/// What every state had for bytes, by its row.
type Contents = BTreeMap<Bytes, Vec<u8>>;

fn check_seed(seed: u64, retains: bool, versioning: bool) {
    let world = World::new();
    if retains {
        world.retain_deleted(1);
    }
    world.settings(|settings| settings.versioning = versioning);
    let env = Env::seeded(START, seed);
    let (mut seen, mut contents) = (BTreeMap::new(), Contents::new());
    let mut look = |world: &World| {
        let (states, snapshot) = (states(world), world.store.snapshot());
        for (key, row) in &states {
            let bytes = || bytes_of(world, &snapshot, &changes::read_state(key, row).unwrap());
            contents.entry(row.clone()).or_insert_with(bytes);
        }
        seen.insert(snapshot.lsn(), states);
    };
    look(&world);
    for _ in 0..STEPS {
        step(&world, &env);
        world.advance(3600);
        world.settle();
        look(&world);
    }
    let number = world.store.container(&container("runs")).unwrap().number();
    let snapshot = world.store.snapshot();
    let entries = changes::after(&*snapshot, number, Lsn(0)).collect::<Result<Vec<_>, _>>().unwrap();
    let mut undone = states(&world);
    let mut compared = 0;
    for (at, entry) in entries.iter().enumerate().rev() {
        if let Subject::State(key) = changes::subject(entry).unwrap() {
            match entry.image() {
                Some(image) => drop(undone.insert(key, image)),
                None => assert!(undone.remove(&key).is_some(), "what was created is there"),
            }
        }
        let before = at.checked_sub(1).map_or(Lsn(0), |before| entries[before].lsn());
        // Commits without entries change no state.
        for (_, seen) in seen.range(before..entry.lsn()).filter(|_| before != entry.lsn()) {
            assert_eq!(&undone, seen, "before {:?}", entry.lsn());
            compared += 1;
            for (key, row) in seen {
                let found = changes::read_state(key, row).unwrap();
                assert_eq!(bytes_of(&world, &snapshot, &found), contents[row]);
            }
        }
    }
    assert!(compared > STEPS / 4, "{compared}");
    assert_eq!(undone, States::new());
}

#[test]
fn every_earlier_state_comes_back_with_its_content() {
    for (seed, retains, versioning) in
        [(1, false, false), (2, true, false), (3, false, true), (4, true, true)]
    {
        check_seed(seed, retains, versioning);
    }
}
