//! Thousands of short histories of the store. `LINEAR_SEED` runs one seed again; the machine's timing is not in it.

use orrery_core::Env;
use orrery_linear::{Answer, Options, is_linearizable, run};

/// Stores, and histories on each.
const STORES: u64 = 160;
const HISTORIES: usize = 16;

fn check(faults: bool) {
    let given = std::env::var("LINEAR_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = given.unwrap_or_else(|| Env::system().expect("randomness").random_u64());
    println!("LINEAR_SEED={seed}");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().expect("a runtime");
    let (mut overlaps, mut unknown) = (0, 0);
    for store in 0..STORES {
        let options = Options { seed: seed ^ store, histories: HISTORIES, tasks: 4, calls: 7, faults };
        for history in runtime.block_on(run(options)).expect("histories") {
            assert!(is_linearizable(&history), "seed {seed}, store {store}: {history:#?}");
            unknown += history.iter().filter(|event| event.answer == Answer::Unknown).count();
            let meets = |a: usize, b: usize| {
                history[a].called < history[b].answered && history[b].called < history[a].answered
            };
            overlaps += (0..history.len()).filter(|a| (0..*a).any(|b| meets(*a, b))).count();
        }
    }
    println!(
        "{} histories, {overlaps} calls met another, {unknown} without an answer",
        STORES as usize * HISTORIES
    );
    assert!(overlaps > 1000, "histories in which nothing meets show nothing");
    assert_eq!(unknown > 0, faults, "the disk refuses where it is told to");
}

#[test]
fn the_store_is_linearizable() {
    check(false);
}

#[test]
fn it_is_so_when_the_disk_refuses_writes() {
    check(true);
}
