//! The rounds against the real binary. `CRASH_ROUNDS` and `CRASH_SEED` override what is run.

use orrery_core::Env;
use orrery_crash::{Ending, Options, consumers, run};
use orrery_testing_client as client;

fn number<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

fn check(ending: Ending, rounds: u32) {
    let binary = client::newest_binary().unwrap_or_else(|missing| panic!("{missing}"));
    let seed = number("CRASH_SEED").unwrap_or_else(|| Env::system().expect("randomness").random_u64());
    println!("{} with CRASH_SEED={seed}", binary.display());
    let server = client::Options::new(binary);
    let options = Options { server, seed, rounds, writers: 64, ending, verbose: true };
    match run(&options) {
        Ok(summary) => {
            println!("{summary}");
            let done = [
                summary.acknowledged,
                summary.tables.acknowledged,
                summary.tables.batches,
                summary.queues.puts,
            ];
            assert!(!done.contains(&0), "something was not written at all, so nothing was shown: {done:?}");
        }
        Err(failure) => panic!("{failure}"),
    }
}

#[test]
fn a_killed_server_loses_nothing_it_acknowledged() {
    check(Ending::Killed, number("CRASH_ROUNDS").unwrap_or(16));
}

#[test]
fn a_stopped_server_loses_nothing_and_ends_well() {
    check(Ending::Stopped, 3);
}

#[test]
fn every_message_is_completed_by_consumers_that_are_killed() {
    let server = client::Options::new(client::newest_binary().unwrap_or_else(|missing| panic!("{missing}")));
    let seed = number("CRASH_SEED").unwrap_or_else(|| Env::system().expect("randomness").random_u64());
    println!("{} with CRASH_SEED={seed}", server.binary.display());
    let program = env!("CARGO_BIN_EXE_orrery-crash").into();
    let (consumers, messages, server_kills) = (64, 2_000, 3);
    let options = consumers::Options { server, program, seed, consumers, messages, server_kills };
    let summary = consumers::run(&options).unwrap_or_else(|failure| panic!("{failure}"));
    println!("{summary}");
    assert_eq!(summary.servers_killed, server_kills);
    assert!(summary.deliveries > summary.messages, "nobody was killed while it held a message");
}
