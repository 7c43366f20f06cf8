//! The crash harness by hand: `cargo run -p orrery-crash -- --rounds 100 --seed 7`.

use clap::{Parser, Subcommand};
use orrery_core::Env;
use orrery_crash::{Ending, Options, consumers, run};
use orrery_testing_client as client;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

/// Kills a server under load, again and again, and checks what it kept.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Part>,
    #[arg(long, env = "CRASH_ROUNDS", default_value_t = 20)]
    rounds: u32,
    /// Decides what is written and when the end comes; a random one if absent.
    #[arg(long, env = "CRASH_SEED")]
    seed: Option<u64>,
    #[arg(long, default_value_t = 64)]
    writers: usize,
    #[arg(long, default_value_t = 64)]
    consumers: usize,
    /// Messages for the consumers.
    #[arg(long, default_value_t = 4_000)]
    messages: usize,
    /// SIGTERM instead of `kill -9`.
    #[arg(long)]
    graceful: bool,
    /// Run the server with `--durability relaxed`.
    #[arg(long)]
    relaxed: bool,
}

/// A part of it alone; without one, the rounds and then the consumers.
#[derive(Subcommand)]
enum Part {
    /// The rounds alone
    Rounds,
    /// The consumers of one queue alone
    Consumers,
    /// One consumer: what the consumers are processes of
    #[command(hide = true)]
    Consume {
        #[arg(long)]
        address: SocketAddr,
        #[arg(long)]
        log: PathBuf,
        #[arg(long)]
        seed: u64,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match &arguments.command {
        Some(Part::Consume { address, log, seed }) => consume(*address, log.clone(), *seed),
        _ => crash(&arguments),
    };
    match outcome {
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
    if !matches!(arguments.command, Some(Part::Consumers)) {
        crash_rounds(arguments, server.clone(), seed)?;
    }
    if !matches!(arguments.command, Some(Part::Rounds)) {
        let program = std::env::current_exe()?;
        let (consumers, messages, server_kills) = (arguments.consumers, arguments.messages, 4);
        let options = consumers::Options { server, program, seed, consumers, messages, server_kills };
        println!("every message completed: {}", consumers::run(&options)?);
    }
    Ok(())
}

fn crash_rounds(
    arguments: &Arguments,
    server: client::Options,
    seed: u64,
) -> Result<(), Box<dyn std::error::Error>> {
    let ending = if arguments.graceful { Ending::Stopped } else { Ending::Killed };
    let (rounds, writers) = (arguments.rounds, arguments.writers);
    let summary = run(&Options { server, seed, rounds, writers, ending, verbose: true })?;
    println!("nothing lost: {summary}");
    Ok(())
}

fn consume(address: SocketAddr, log: PathBuf, seed: u64) -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let env = Env::system()?;
    Ok(runtime.block_on(consumers::consume(address, &log, env, seed))?)
}
