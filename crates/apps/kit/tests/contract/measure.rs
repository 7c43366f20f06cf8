//! How many creates a second the embedded adapter takes: `--run-ignored all -- measure --no-capture`.

use crate::world::{Way, World};
use std::time::Instant;

const TASKS: usize = 64;
const CREATES: usize = 500;

#[ignore = "a measurement"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn creates_of_many_tasks() {
    let world = World::open(Way::Embedded).await;
    let started = Instant::now();
    let tasks: Vec<_> = (0..TASKS)
        .map(|task| {
            let world = world.clone();
            tokio::spawn(async move {
                for n in 0..CREATES {
                    world.create(&format!("user-{task}-{}", n % 50), &format!("{n}"), n as i64).await;
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
