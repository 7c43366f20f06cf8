//! Writers of the same names at the same time, beside background jobs: every blob is whole, and every chunk is counted right.

use crate::world::{START, World, blob, content};
use bytes::Bytes;
use orrery_blob_store::model::operations::{DeleteBlob, DeleteSnapshots, PutOptions};
use orrery_blob_store::model::spaces::SPACES;
use orrery_blob_store::model::{Conditions, ETagMatch, Selector, chunk_references};
use orrery_blob_store::{BlobStore, Error, ExpectedHashes};
use orrery_chunks::files::MemoryFiles;
use orrery_core::Env;
use orrery_kv::{MemoryEngine, Sync};
use orrery_txn::Jobs;
use std::sync::atomic::{AtomicBool, Ordering};

const TASKS: u64 = 8;
const STEPS: u64 = 40;
const NAMES: [&str; 3] = ["a", "b", "c"];

async fn put(store: &BlobStore, name: &str, bytes: Vec<u8>, options: PutOptions) -> Result<(), Error> {
    let mut writer = store.upload(u64::MAX);
    for part in bytes.chunks(7000) {
        writer.write(Bytes::copy_from_slice(part)).await?;
    }
    let uploaded = writer.finish(ExpectedHashes::default()).await?;
    store.put_blob(&blob(name), uploaded, options).await.map(drop)
}

async fn read(store: &BlobStore, name: &str) -> Result<Vec<u8>, Error> {
    let reader = store.open_blob(&blob(name), Selector::Current, None, &Conditions::default()).await?;
    let (md5, bytes) = (reader.blob().headers.content_md5, reader.read_all().await?);
    let [length, seed] =
        [0, 8].map(|at| u64::from_be_bytes(bytes[at..at + 8].try_into().expect("eight bytes")));
    assert_eq!(bytes, made(length as usize, seed), "what is read was put");
    assert!(md5.is_some());
    Ok(bytes.to_vec())
}

/// Content that says what it is.
fn made(length: usize, seed: u64) -> Vec<u8> {
    let mut bytes = content(length, seed);
    bytes[..8].copy_from_slice(&(length as u64).to_be_bytes());
    bytes[8..16].copy_from_slice(&seed.to_be_bytes());
    bytes
}

async fn step(store: &BlobStore, env: &Env) -> Result<(), Error> {
    let pick = |choices: u64| (env.random_u64() % choices) as usize;
    let (name, other) = (NAMES[pick(3)], NAMES[pick(3)]);
    match pick(8) {
        0..3 => {
            let bytes = made([100, 40_000, 90_000][pick(3)], env.random_u64());
            put(store, name, bytes, PutOptions::default()).await
        }
        3 | 4 => read(store, name).await.map(drop),
        5 => {
            store.copy_blob(&blob(name), Selector::Current, &blob(other), Default::default()).await.map(drop)
        }
        6 => store.snapshot_blob(&blob(name), None, Conditions::default()).await.map(drop),
        _ => {
            let delete = DeleteBlob { snapshots: DeleteSnapshots::Include, ..DeleteBlob::default() };
            store.delete_blob(&blob(name), delete).await.map(drop)
        }
    }
}

#[test]
fn every_blob_is_whole_and_every_chunk_is_counted() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().unwrap();
    let files = MemoryFiles::new();
    let world = World::over(MemoryEngine::new(&SPACES), files, Sync::Data, Env::seeded(START, 1));
    world.create("runs");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut jobs = Jobs::default();
            world.store.register_jobs(&mut jobs);
            while !is_over.load(Ordering::Acquire) {
                world.store.env().advance(std::time::Duration::from_secs(86_400)).unwrap();
                jobs.round().unwrap();
                std::thread::yield_now();
            }
        });
        let tasks: Vec<_> = (0..TASKS)
            .map(|task| {
                let store = world.store.clone();
                runtime.spawn(async move {
                    let env = Env::seeded(START, task);
                    for _ in 0..STEPS {
                        match step(&store, &env).await {
                            Ok(()) | Err(Error::Refused(_)) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                })
            })
            .collect();
        let ended: Vec<_> = tasks.into_iter().map(|task| runtime.block_on(task)).collect();
        is_over.store(true, Ordering::Release);
        ended.into_iter().for_each(|task| task.unwrap());
    });
    world.settle();
    let snapshot = world.store.snapshot();
    let mut references = chunk_references(&*snapshot).unwrap().into_iter().map(Ok);
    let checked = orrery_chunks::check(&world.files, &*snapshot, Some(&mut references)).unwrap();
    assert_eq!(checked.faults, [""; 0]);
}

#[test]
fn of_many_who_create_one_wins() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().unwrap();
    let world = World::new();
    let create = |seed: u64| {
        let store = world.store.clone();
        let conditions = Conditions { if_none_match: Some(ETagMatch::Any), ..Conditions::default() };
        let options = PutOptions { conditions, ..PutOptions::default() };
        runtime.spawn(async move { put(&store, "a", made(50_000, seed), options).await.map(|()| seed) })
    };
    let tasks: Vec<_> = (0..16).map(create).collect();
    let ended: Vec<_> = tasks.into_iter().filter_map(|task| runtime.block_on(task).unwrap().ok()).collect();
    assert_eq!(ended.len(), 1);
    assert_eq!(world.read("a"), made(50_000, ended[0]));
    world.settle();
    assert_eq!(world.chunks(), 1, "those who lost leave nothing");
}
