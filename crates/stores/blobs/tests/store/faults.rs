//! A disk that fails: what was refused is not there, what was answered is, and nothing leaks.

use crate::world::{START, World, blob, content};
use bytes::Bytes;
use orrery_blob_store::model::operations::PutOptions;
use orrery_blob_store::model::spaces::SPACES;
use orrery_blob_store::{Error, ExpectedHashes};
use orrery_chunks::files::{Fault as FileFault, MemoryFiles};
use orrery_core::Env;
use orrery_kv::{Error as EngineError, Fault, MemoryEngine, Sync};

fn world() -> (MemoryEngine, World) {
    let engine = MemoryEngine::new(&SPACES);
    let world = World::over(engine.clone(), MemoryFiles::new(), Sync::Data, Env::seeded(START, 1));
    world.create("runs");
    (engine, world)
}

fn try_put(world: &World, name: &str, bytes: &[u8]) -> Result<(), Error> {
    world.run(async {
        let mut writer = world.store.upload(u64::MAX);
        for part in bytes.chunks(10_000) {
            writer.write(Bytes::copy_from_slice(part)).await?;
        }
        let uploaded = writer.finish(ExpectedHashes::default()).await?;
        world.store.put_blob(&blob(name), uploaded, PutOptions::default()).await.map(drop)
    })
}

#[test]
fn a_commit_that_fails_leaves_the_old_blob() {
    let (engine, world) = world();
    world.put("a", &content(100_000, 1));
    for _ in 0..3 {
        engine.fail_at(0, Fault::BeforeWrite);
        let failed = try_put(&world, "a", &content(100_000, 2));
        assert!(matches!(failed, Err(Error::Engine(_))), "{failed:?}");
        assert_eq!(world.read("a"), content(100_000, 1));
    }
    try_put(&world, "a", &content(100_000, 3)).unwrap();
    assert_eq!(world.read("a"), content(100_000, 3));
    world.advance(8 * 86_400);
    world.settle();
    assert_eq!(world.chunks(), 1);
}

#[test]
fn after_a_sync_that_failed_a_restart_finds_a_blob_or_none() {
    let (engine, world) = world();
    world.put("a", &content(100_000, 1));
    engine.fail_at(0, Fault::AfterWrite);
    let failed = try_put(&world, "b", &content(100_000, 2));
    assert!(matches!(failed, Err(Error::Engine(EngineError::Uncertain(_)))), "{failed:?}");
    let halted = try_put(&world, "c", b"small");
    assert!(matches!(halted, Err(Error::Engine(EngineError::Halted))), "{halted:?}");
    assert_eq!(world.read("a"), content(100_000, 1), "reads go on");
    world.store.close();
    for kept in 0..=engine.unsynced() {
        let env = Env::seeded(START, 2);
        let again = World::over(engine.crash(kept), world.files.crash(|| true), Sync::Data, env);
        assert_eq!(again.read("a"), content(100_000, 1));
        match again.states().as_slice() {
            [a] => assert_eq!(a, "a"),
            both => {
                assert_eq!(both, ["a", "b"]);
                assert_eq!(again.read("b"), content(100_000, 2));
            }
        }
        again.settle();
        again.store.close();
    }
}

#[test]
fn a_chunk_file_that_fails_refuses_the_upload_and_no_other() {
    let (_, world) = world();
    for fault in [FileFault::Write, FileFault::ShortWrite, FileFault::Sync, FileFault::Create] {
        for nth in 0..3 {
            world.files.fail_at(nth, fault);
            // Some of the faults are met by a later upload.
            for seed in 0..4 {
                let name = format!("{fault:?}{nth}{seed}");
                match try_put(&world, &name, &content(300_000, seed)) {
                    Ok(()) => assert_eq!(world.read(&name), content(300_000, seed)),
                    Err(Error::Engine(EngineError::Unavailable(_))) => {
                        assert!(!world.states().contains(&name))
                    }
                    Err(error) => panic!("{fault:?}: {error}"),
                }
            }
        }
    }
    let last = try_put(&world, "last", &content(300_000, 9))
        .or_else(|_| try_put(&world, "last", &content(300_000, 9)));
    last.unwrap();
    let stored = world.states().len() as u64;
    world.settle();
    assert_eq!(world.chunks(), stored, "what failed leaves nothing");
}

#[test]
fn a_full_disk_takes_deletes() {
    let (engine, world) = world();
    world.put("a", &content(100_000, 1));
    engine.set_full(true);
    let full = try_put(&world, "b", b"small");
    assert!(matches!(full, Err(Error::Engine(EngineError::Full(_)))), "{full:?}");
    world.delete("a").unwrap();
    assert_eq!(world.states(), [""; 0]);
    engine.set_full(false);
    world.put("b", b"small");
}
