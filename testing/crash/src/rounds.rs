//! The rounds: load, the end, the start again, the audit; all on one folder that only grows.

use crate::audit::{Round, audit, audit_policy};
use crate::batches::{BatchAttempt, audit_batches};
use crate::check::check;
use crate::follower::Follower;
use crate::history::{Items, Key, Lsns, Outcome, PolicyChange, Record, Seq};
use crate::observe::{Observation, Observer, Wanted};
use crate::queues::history::MessageRecord;
use crate::queues::{self, Queues};
use crate::tables::{self, Tables};
use crate::writer::{Shared, Writer};
use crate::{asker, batcher, changer, policy, reader};
use orrery_core::{Env, OsSeed, Timestamp};
use orrery_testing_client::{Client, ClientError, ContainerPath, ServerError, ServerProcess};
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

/// Readers beside the writers, and those who write batches.
const READERS: usize = 4;
const BATCHERS: usize = 4;
/// How long a round's load lasts, between these.
const LOAD_MILLIS_MIN: u64 = 200;
const LOAD_MILLIS_MAX: u64 = 1000;
/// Items that a round did not touch but reads one by one all the same; the last round reads all.
const UNTOUCHED_READ_MAX: usize = 1000;
/// Items whose unique keys a round probes.
const PROBED_MAX: usize = 64;
/// Rounds after which every stored row is checked, and all items must come to be indexed as the last policy says; the
/// last round is always one. In between, what one kill left half indexed meets the next one.
const CHECKED_EVERY: u32 = 8;
/// Findings that a failure prints.
const FINDINGS_SHOWN_MAX: usize = 20;

/// How a round ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// `kill -9`.
    Killed,
    /// SIGTERM; the server must end by itself with exit code 0.
    Stopped,
}

#[derive(Clone, Debug)]
pub struct Options {
    pub server: orrery_testing_client::Options,
    pub seed: u64,
    pub rounds: u32,
    pub writers: usize,
    pub ending: Ending,
    /// Prints a line per round.
    pub verbose: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error(transparent)]
    Server(#[from] ServerError),
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error(transparent)]
    Seed(#[from] OsSeed),
    #[error("{0}: {1}")]
    Io(&'static str, std::io::Error),
    #[error("a task of the harness panicked: {0}")]
    Task(#[from] tokio::task::JoinError),
    #[error("{0}")]
    Setup(String),
    #[error("in round {round} the server ended by itself; it printed:\n{log}")]
    Crashed { round: u32, log: String },
    #[error(
        "round {round} of seed {seed}: {} findings; the folder is kept at {}\n{}",
        findings.len(), folder.display(), shown(findings)
    )]
    Wrong { round: u32, seed: u64, folder: PathBuf, findings: Vec<String> },
    #[error(
        "consumers of seed {seed}: {} findings; the folder is kept at {}\n{}",
        findings.len(), folder.display(), shown(findings)
    )]
    Deliveries { seed: u64, folder: PathBuf, findings: Vec<String> },
}

/// What a run did, over all rounds.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    pub seed: u64,
    pub rounds: u32,
    pub acknowledged: usize,
    pub refused: usize,
    pub unanswered: usize,
    pub unanswered_there: usize,
    pub sightings: usize,
    pub probes: usize,
    pub asked: usize,
    pub policies: usize,
    pub changes: usize,
    pub batches: usize,
    pub checks: usize,
    pub items: usize,
    pub reopen_max: Duration,
    pub tables: tables::Counts,
    pub queues: queues::Counts,
}

/// Runs all rounds on a temporary folder, which is kept if anything is wrong.
pub fn run(options: &Options) -> Result<Summary, Failure> {
    let folder = TempDir::with_prefix("orrery-crash-").map_err(|e| Failure::Io("no folder", e))?;
    let outcome = run_on(folder.path(), options);
    if let Err(Failure::Wrong { .. }) = outcome {
        let _ = folder.keep();
    }
    outcome
}

fn run_on(folder: &Path, options: &Options) -> Result<Summary, Failure> {
    let mut harness = Harness::new(folder, options)?;
    let mut server = ServerProcess::start(folder, &options.server)?;
    harness.set_up(&server)?;
    for round in 1..=options.rounds {
        server = harness.round(round, server)?;
    }
    server.kill()?;
    let findings = harness.check()?;
    harness.expect_nothing(options.rounds, findings)?;
    Ok(harness.summary)
}

struct Harness<'a> {
    folder: &'a Path,
    options: &'a Options,
    runtime: Runtime,
    random: Env,
    shared: Shared,
    writers: Vec<Writer>,
    items: Items,
    /// The attempt that made the indexing policy.
    policy: Option<Seq>,
    lsns: Lsns,
    follower: Follower,
    /// Every batch that was ever sent.
    batches: Vec<BatchAttempt>,
    tables: Tables,
    queues: Queues,
    summary: Summary,
}

impl<'a> Harness<'a> {
    fn new(folder: &'a Path, options: &'a Options) -> Result<Self, Failure> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let path = ContainerPath::new("crash", "items");
        Ok(Self {
            folder,
            options,
            runtime: runtime.map_err(|e| Failure::Io("no runtime", e))?,
            random: Env::seeded(Timestamp::default(), options.seed),
            shared: Shared::new(path, Env::system()?),
            writers: (0..options.writers).map(|index| Writer::new(index, options.seed)).collect(),
            items: Items::new(),
            policy: None,
            lsns: Lsns::default(),
            follower: Follower::default(),
            batches: Vec::new(),
            tables: Tables::new(options.seed),
            queues: Queues::default(),
            summary: Summary { seed: options.seed, ..Summary::default() },
        })
    }

    fn set_up(&mut self, server: &ServerProcess) -> Result<(), Failure> {
        let mut client = Client::new(server.cosmos(), self.shared.env.clone());
        let path = self.shared.path.clone();
        let seq = self.shared.next_seq();
        self.policy = Some(seq);
        let members = policy::members(policy::policy(seq, 1));
        self.runtime.block_on(async {
            for reply in [
                client.create_database(&path.database).await?,
                client.create_container(&path, &members).await?,
            ] {
                if reply.status != 201 {
                    let body = String::from_utf8_lossy(&reply.body).into_owned();
                    return Err(Failure::Setup(format!("setting up got {}: {body}", reply.status)));
                }
            }
            batcher::set_up(&mut client).await.map_err(Failure::from)?.map_err(Failure::Setup)?;
            let tables = self.tables.set_up(server.table(), &self.shared.env).await;
            tables.map_err(Failure::from)?.map_err(Failure::Setup)?;
            let queues = self.queues.set_up(server.queue(), &self.shared).await;
            queues.map_err(Failure::from)?.map_err(Failure::Setup)?;
            Ok(self.follower.catch_up(&mut client, &self.shared).await?)
        })
    }

    fn round(&mut self, round: u32, mut server: ServerProcess) -> Result<ServerProcess, Failure> {
        let tasks = self.start_load(&server);
        let load = Duration::from_millis(
            LOAD_MILLIS_MIN + self.random.random_u64() % (LOAD_MILLIS_MAX - LOAD_MILLIS_MIN),
        );
        std::thread::sleep(load);
        if !server.is_running() {
            return Err(Failure::Crashed { round, log: server.log() });
        }
        let mut findings = self.end(server)?;
        let Happened { record, of_tables, of_queues } = self.join(tasks)?;
        let is_last = round == self.options.rounds;
        let is_checked = is_last || round.is_multiple_of(CHECKED_EVERY);
        if is_checked {
            findings.extend(self.check()?);
        }

        let began = Instant::now();
        let server = ServerProcess::start(self.folder, &self.options.server)?;
        let reopened = began.elapsed();
        let seen = self.observe(&server, &record, is_last, is_checked)?;
        let mut client = Client::new(server.cosmos(), self.shared.env.clone());
        self.runtime.block_on(self.follower.catch_up(&mut client, &self.shared))?;
        findings.extend(self.follower.findings(&seen.feed, &record.operations));

        self.lsns.merge(&record.lsns);
        self.batches.extend(record.batches.iter().cloned());
        let kept = self.runtime.block_on(batcher::observe(server.cosmos(), &self.shared))?;
        findings.extend(audit_batches(&self.batches, &kept));
        findings.extend(self.judge(&record, &seen));
        let tables = self.tables.observe(server.table(), &self.shared, &of_tables, is_last);
        findings.extend(self.runtime.block_on(tables)?);
        let seed = self.random.random_u64();
        let queues = self.queues.observe(server.queue(), &self.shared, of_queues, seed);
        findings.extend(self.runtime.block_on(queues));
        self.account(&record, &seen, reopened);
        if self.options.verbose {
            println!("round {round:2}: {load:?} of load, reopened in {reopened:?}; so far {}", self.summary);
        }
        self.expect_nothing(round, findings)?;
        self.items = seen.feed;
        self.policy = seen.policy;
        for writer in &mut self.writers {
            writer.refresh(&self.items);
        }
        Ok(server)
    }

    fn expect_nothing(&self, round: u32, findings: Vec<String>) -> Result<(), Failure> {
        if findings.is_empty() {
            return Ok(());
        }
        let (seed, folder) = (self.options.seed, self.folder.to_owned());
        Err(Failure::Wrong { round, seed, folder, findings })
    }

    /// Has the server's own check look at every row of the folder, which no server has open.
    fn check(&mut self) -> Result<Vec<String>, Failure> {
        let verdict = check(&self.options.server.binary, self.folder);
        let verdict = verdict.map_err(|e| Failure::Io("`orrery check` could not be run", e))?;
        self.summary.checks += 1;
        let wrong = format!("`orrery check` ended with {:?}: {}", verdict.code, verdict.said);
        Ok(if verdict.agrees() { Vec::new() } else { vec![wrong] })
    }

    fn start_load(&mut self, server: &ServerProcess) -> Tasks {
        let address = server.cosmos();
        let writers = std::mem::take(&mut self.writers);
        let writers = writers.into_iter().map(|writer| writer.run(address, self.shared.clone()));
        let writers = writers.map(|task| self.runtime.spawn(task)).collect();
        let seed = || self.random.random_u64();
        let readers = (0..READERS).map(|_| reader::run(address, self.shared.clone(), seed()));
        let mut others: Vec<_> = readers.map(|task| self.runtime.spawn(task)).collect();
        let batchers = (0..BATCHERS).map(|_| batcher::run(address, self.shared.clone(), seed()));
        others.extend(batchers.map(|task| self.runtime.spawn(task)));
        others.push(self.runtime.spawn(asker::run(address, self.shared.clone(), seed())));
        others.push(self.runtime.spawn(changer::run(address, self.shared.clone(), seed())));
        let follower = std::mem::take(&mut self.follower).run(address, self.shared.clone());
        let follower = self.runtime.spawn(follower);
        let on = self.runtime.handle();
        let tables = self.tables.start(on, server.table(), &self.shared, &self.random);
        let queues = self.queues.start(on, server.queue(), &self.shared, &self.random);
        Tasks { writers, others, follower, tables, queues }
    }

    fn end(&self, server: ServerProcess) -> Result<Vec<String>, Failure> {
        match self.options.ending {
            Ending::Killed => server.kill().map(|()| Vec::new()).map_err(Failure::from),
            Ending::Stopped => {
                let status = server.stop()?;
                let wrong = format!("asked to stop, the server ended with {status}");
                Ok(if status.success() { Vec::new() } else { vec![wrong] })
            }
        }
    }

    fn join(&mut self, tasks: Tasks) -> Result<Happened, Failure> {
        let mut record = Record::default();
        for task in tasks.writers {
            let (writer, part) = self.runtime.block_on(task)?;
            self.writers.push(writer);
            record.merge(part);
        }
        for task in tasks.others {
            record.merge(self.runtime.block_on(task)?);
        }
        self.follower = self.runtime.block_on(tasks.follower)?;
        let of_tables = self.runtime.block_on(self.tables.join(tasks.tables))?;
        let of_queues = self.runtime.block_on(Queues::join(tasks.queues))?;
        Ok(Happened { record, of_tables, of_queues })
    }

    fn observe(
        &self,
        server: &ServerProcess,
        record: &Record,
        all: bool,
        until_indexed: bool,
    ) -> Result<Observation, Failure> {
        let mut before = self.lsns.clone();
        before.merge(&record.lsns);
        let observer = Observer { address: server.cosmos(), shared: self.shared.clone(), before };
        let touched: BTreeSet<Key> = record.operations.iter().map(|o| o.key.clone()).collect();
        let probed = self.sample(&touched, PROBED_MAX);
        let untouched: BTreeSet<Key> = self.items.keys().cloned().collect();
        let untouched_max = if all { usize::MAX } else { UNTOUCHED_READ_MAX };
        let read = touched.into_iter().chain(self.sample(&untouched, untouched_max)).collect();
        let wanted = Wanted { read, probed: &probed, random: self.random.random_u64(), until_indexed };
        Ok(self.runtime.block_on(observer.observe(wanted))?)
    }

    /// Up to that many of the keys, evenly spaced from a random start.
    fn sample(&self, keys: &BTreeSet<Key>, max: usize) -> Vec<Key> {
        let stride = keys.len().div_ceil(max.max(1)).max(1);
        let skip = (self.random.random_u64() % stride as u64) as usize;
        keys.iter().skip(skip).step_by(stride).cloned().collect()
    }

    fn judge(&self, record: &Record, seen: &Observation) -> Vec<String> {
        let violations = audit(Round {
            before: &self.items,
            operations: &record.operations,
            sightings: &record.sightings,
            asked: &record.asked,
            now: &seen.feed,
        });
        let policy = audit_policy(self.policy, &record.policies, seen.policy);
        let violations = violations.iter().chain(&policy).chain(&seen.violations).map(ToString::to_string);
        let troubles = record.trouble.iter().chain(&seen.trouble).cloned();
        // Many replies can show the same thing wrong; it is said once.
        let mut said = BTreeSet::new();
        violations.chain(troubles).filter(|finding| said.insert(finding.clone())).collect()
    }

    fn account(&mut self, record: &Record, seen: &Observation, reopened: Duration) {
        let there: BTreeSet<Seq> = seen.feed.values().map(|found| found.seq).collect();
        let summary = &mut self.summary;
        for operation in &record.operations {
            match operation.outcome {
                Outcome::Acknowledged { .. } => summary.acknowledged += 1,
                Outcome::Refused => summary.refused += 1,
                Outcome::Unknown => {
                    summary.unanswered += 1;
                    summary.unanswered_there += usize::from(there.contains(&operation.seq));
                }
            }
        }
        summary.rounds += 1;
        summary.sightings += record.sightings.len();
        summary.probes += seen.probes;
        summary.asked += seen.asked + record.asked.len();
        let changed = |change: &&PolicyChange| matches!(change.outcome, Outcome::Acknowledged { .. });
        summary.policies += record.policies.iter().filter(changed).count();
        summary.changes = self.follower.changes;
        summary.batches += record.batches.len();
        summary.items = seen.feed.len();
        summary.reopen_max = summary.reopen_max.max(reopened);
        summary.tables = self.tables.counts();
        summary.queues = self.queues.counts();
    }
}

struct Tasks {
    writers: Vec<JoinHandle<(Writer, Record)>>,
    others: Vec<JoinHandle<Record>>,
    follower: JoinHandle<Follower>,
    tables: tables::Load,
    queues: queues::Load,
}

/// What happened in a round: to items, to entities, to messages.
struct Happened {
    record: Record,
    of_tables: Record,
    of_queues: MessageRecord,
}

fn shown(findings: &[String]) -> String {
    findings.iter().take(FINDINGS_SHOWN_MAX).map(|finding| format!("  {finding}\n")).collect()
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} rounds, {} acknowledged, {} refused, {} unanswered ({} of them there), {} sightings, \
             {} unique-key probes, {} questions, {} policies, {} changes followed, {} batches, {} checks, {} items now, slowest reopen {:?}, seed {}; {}; {}",
            self.rounds,
            self.acknowledged,
            self.refused,
            self.unanswered,
            self.unanswered_there,
            self.sightings,
            self.probes,
            self.asked,
            self.policies,
            self.changes,
            self.batches,
            self.checks,
            self.items,
            self.reopen_max,
            self.seed,
            self.tables,
            self.queues,
        )
    }
}
