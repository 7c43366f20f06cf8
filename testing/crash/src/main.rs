//! The crash harness by hand: `cargo run -p orrery-crash -- --rounds 100 --seed 7`.

use clap::Parser;
use orrery_core::Env;
use orrery_crash::{Ending, Options, run};
use orrery_testing_client as client;
use std::process::ExitCode;

/// Kills a server under load, again and again, and checks what it kept.
#[derive(Parser)]
struct Arguments {
    #[arg(long, env = "CRASH_ROUNDS", default_value_t = 20)]
    rounds: u32,
    /// Decides what is written and when the end comes; a random one if absent.
    #[arg(long, env = "CRASH_SEED")]
    seed: Option<u64>,
    #[arg(long, default_value_t = 64)]
    writers: usize,
    /// SIGTERM instead of `kill -9`.
    #[arg(long)]
    graceful: bool,
    /// Run the server with `--durability relaxed`.
    #[arg(long)]
    relaxed: bool,
}

fn main() -> ExitCode {
    match crash(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn crash(arguments: &Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let mut server = client::Options::new(client::newest_binary()?);
    if arguments.relaxed {
        server.durability = client::Durability::Relaxed;
    }
    let seed = match arguments.seed {
        Some(seed) => seed,
        None => Env::system()?.random_u64(),
    };
    println!("{} with seed {seed}", server.binary.display());
    let ending = if arguments.graceful { Ending::Stopped } else { Ending::Killed };
    let (rounds, writers) = (arguments.rounds, arguments.writers);
    let summary = run(&Options { server, seed, rounds, writers, ending, verbose: true })?;
    println!("nothing lost: {summary}");
    Ok(())
}
