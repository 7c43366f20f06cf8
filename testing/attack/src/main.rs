//! The attack suite: a list of named attacks on a real server, each bounded in time and load.
//!
//! `cargo run -p orrery-attack` runs the short form of every attack; `--only NAME` selects attacks by name, `--long`
//! repeats more. An attack is one file with a function `attack(&Arena) -> Result<(), String>`: it starts its own server on its
//! own folder, does harm, and returns a sentence if the server did not hold. To add one, write the file and add it to [`ATTACKS`].

mod connections;
mod damage;
mod full_disk;
mod io_faults;
mod malformed;
mod memory;
mod rebinding;
mod regex;
mod scripts;
mod storage_input;
mod storage_memory;
mod storage_pages;
mod storage_slow;

use clap::Parser;
use orrery_attack::Arena;
use orrery_testing_client::newest_binary;
use std::process::ExitCode;
use std::time::Instant;

type Attack = fn(&Arena) -> Result<(), String>;

/// The attacks, in the order in which they run.
const ATTACKS: &[(&str, Attack)] = &[
    ("malformed-requests", malformed::requests),
    ("malformed-bodies", malformed::bodies),
    ("damaged-files", damage::files),
    ("damaged-promises", damage::promises),
    ("rebinding", rebinding::attack),
    ("scripts-endless", scripts::endless),
    ("scripts-stopped", scripts::stopped),
    ("scripts-killed", scripts::killed),
    ("connections", connections::attack),
    ("io-failed-sync", io_faults::failed_sync),
    ("io-failed-write", io_faults::failed_write),
    ("io-full-to-the-last-byte", io_faults::full_to_the_last_byte),
    ("io-full-disk-deletes", full_disk::deletes),
    ("memory-sorts", memory::sorts),
    ("memory-half-sent-bodies", memory::half_sent_bodies),
    ("regex", regex::attack),
    ("storage-input", storage_input::refused),
    ("storage-truncated", storage_input::truncated),
    ("storage-noise", storage_input::noise),
    ("storage-memory-batches", storage_memory::batches),
    ("storage-memory-half-sent", storage_memory::half_sent_bodies),
    ("storage-memory-pages", storage_memory::pages),
    ("storage-slow-heads", storage_slow::heads),
    ("storage-slow-bodies", storage_slow::bodies),
    ("storage-connections", connections::storage),
    ("storage-web-pages", storage_pages::attack),
];

/// Attacks a server and checks that it holds.
#[derive(Parser)]
struct Arguments {
    /// Run only the attacks whose name contains this text
    #[arg(long)]
    only: Option<String>,
    /// Run the long form of each attack: more repetitions and more cases
    #[arg(long)]
    long: bool,
    /// List the names of the attacks and exit
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let is_selected = |name: &str| arguments.only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    let selected: Vec<_> = ATTACKS.iter().filter(|(name, _)| is_selected(name)).collect();
    if arguments.list {
        selected.iter().for_each(|(name, _)| println!("{name}"));
        return ExitCode::SUCCESS;
    }
    let binary = match newest_binary() {
        Ok(binary) => binary,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    println!("attacking {}", binary.display());
    let (mut passed, mut failed) = (0, 0);
    for (name, attack) in selected {
        let begun = Instant::now();
        let outcome = Arena::new(binary.clone(), arguments.long).and_then(|arena| attack(&arena));
        let seconds = begun.elapsed().as_secs_f32();
        match outcome {
            Ok(()) => {
                passed += 1;
                println!("passed  {name} ({seconds:.1} s)");
            }
            Err(reason) => {
                failed += 1;
                println!("FAILED  {name} ({seconds:.1} s): {reason}");
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    if failed == 0 && passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
