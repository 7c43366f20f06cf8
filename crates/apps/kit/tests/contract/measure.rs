//! How many creates a second the embedded adapter takes, on a disk and synced:
//! `cargo test -p orrery-kit --release --test contract -- --ignored --nocapture creates_of_many_tasks`.

use crate::world::{ITEMS, item, layout};
use orrery_core::{Env, limits};
use orrery_kit::port::{Documents, Embedded, Write};
use orrery_kv::Sync;
use orrery_kv_fjall::{FjallEngine, Folder};
use orrery_store::{Options, Store};
use std::time::Instant;

const TASKS: usize = 64;
const CREATES: usize = 100;

#[ignore = "a measurement"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn creates_of_many_tasks() {
    let folder = tempfile::tempdir().unwrap();
    let data = Folder::open(&folder.path().join("data")).unwrap();
    let engine = FjallEngine::open(data, &orrery_kv_fjall::Options::default()).unwrap();
    let options = Options { sync: Sync::Data, accept_loss: false, on_stuck: || panic!("it is stuck") };
    let store = Store::open(Box::new(engine), Env::system().unwrap(), &options).unwrap();
    let documents = Documents::Embedded(Embedded::new(store, "d", [7; 32], limits::PARTITION_BYTES_MAX));
    documents.ensure(&layout()).await.unwrap();
    let started = Instant::now();
    let tasks: Vec<_> = (0..TASKS)
        .map(|task| {
            let documents = documents.clone();
            tokio::spawn(async move {
                for n in 0..CREATES {
                    let partition = format!("user-{task}-{}", n % 50);
                    let write = Write::Create(item(&partition, &format!("{n}"), n as i64));
                    documents.write(ITEMS, &partition, write).await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let rate = (TASKS * CREATES) as f64 / started.elapsed().as_secs_f64();
    println!("{rate:.0} creates a second by {TASKS} tasks");
}
