//! The Rust SDKs as judges of Cosmos DB and of queues: every fact over http and over https, against one server.
//!
//! A second server, whose clock stands still until a fact moves it, starts only if a fact asks for it. Each
//! fact makes the databases it needs, so facts need no order and clean nothing up. What came of each goes to
//! `results/rust.jsonl`. Arguments, if any, choose the facts whose name or feature contains one of them.

mod check;
mod cosmos;
mod facts;
mod matrix;
mod queues;
mod server;

use cosmos::{Cosmos, Transport};
use facts::{Clock, Fact};
use server::Server;
use std::collections::HashMap;
use std::fs::{File, create_dir_all};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Some wrong answers make the SDK ask again for ever.
const FACT_SECONDS_MAX: Duration = Duration::from_secs(60);
const SDK_FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

#[tokio::main]
async fn main() -> io::Result<ExitCode> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let mut results = results_file()?;
    let mut stage = Stage::default();
    let (mut passed, mut failed) = (0, 0);
    for fact in facts::all().iter().filter(|fact| is_wanted(fact, &wanted)) {
        for transport in [Transport::Http, Transport::Https] {
            let outcome = stage.run(fact, transport).await;
            writeln!(results, "{}", result_line(fact, transport, outcome.is_ok()))?;
            match outcome {
                Ok(()) => passed += 1,
                Err(reason) => {
                    failed += 1;
                    println!("FAILED {} ({}): {reason}", fact.name, transport.scheme());
                }
            }
        }
    }
    println!("rust: {passed} passed, {failed} failed");
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn is_wanted(fact: &Fact, wanted: &[String]) -> bool {
    wanted.is_empty() || wanted.iter().any(|text| fact.name.contains(text) || fact.feature.contains(text))
}

fn results_file() -> io::Result<File> {
    let folder = Path::new(SDK_FOLDER).join("results");
    create_dir_all(&folder)?;
    File::create(folder.join("rust.jsonl"))
}

fn result_line(fact: &Fact, transport: Transport, ok: bool) -> serde_json::Value {
    serde_json::json!({
        "feature": fact.feature, "test": fact.name, "transport": transport.scheme(), "ok": ok,
    })
}

/// The servers and clients made so far. What failed to start is tried once and its failure kept.
#[derive(Default)]
struct Stage {
    servers: HashMap<Clock, Result<Arc<Server>, String>>,
    clients: HashMap<(Clock, Transport), Result<Cosmos, String>>,
}

impl Stage {
    async fn run(&mut self, fact: &Fact, transport: Transport) -> Result<(), String> {
        let cosmos = self.cosmos(fact.clock, transport).await?;
        // A task of its own, so that a failed assertion ends this fact and not the suite.
        match tokio::spawn(timeout(FACT_SECONDS_MAX, (fact.run)(cosmos))).await {
            Ok(Ok(outcome)) => outcome.map_err(|error| error.to_string()),
            Ok(Err(_)) => Err(format!("it ran for {} seconds", FACT_SECONDS_MAX.as_secs())),
            Err(_) => Err("an assertion failed (above)".into()),
        }
    }

    async fn cosmos(&mut self, clock: Clock, transport: Transport) -> Result<Cosmos, String> {
        if let Some(made) = self.clients.get(&(clock, transport)) {
            return made.clone();
        }
        let server = self.servers.entry(clock).or_insert_with(|| start(clock)).clone();
        let made = match server {
            Ok(server) => Cosmos::connect(server, transport).await.map_err(|error| error.to_string()),
            Err(reason) => Err(reason),
        };
        self.clients.insert((clock, transport), made.clone());
        made
    }
}

fn start(clock: Clock) -> Result<Arc<Server>, String> {
    let flags: &[&str] = match clock {
        Clock::Running => &[],
        Clock::Manual => &["--clock", "manual"],
        Clock::Throttled => &["--clock", "manual", "--throttle", "on"],
        Clock::Serverless => &["--clock", "manual", "--throttle", "on", "--serverless"],
    };
    Server::start(flags).map(Arc::new).map_err(|error| error.to_string())
}
