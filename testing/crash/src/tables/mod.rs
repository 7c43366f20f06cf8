//! Tables in the rounds: writers of entities, readers, those who send entity group transactions; and what is there of it all
//! after a restart.
//!
//! Entities are audited as items are: a version of an entity is one attempt's, and its tag is that attempt's answer.

mod batcher;
mod entity;
mod observe;
mod reader;
mod request;
mod writer;

use crate::audit::{Round, audit, audit_views};
use crate::batches::{BatchAttempt, audit_batches};
use crate::history::{Items, Key, Outcome, Record};
use crate::writer::{HOT, Shared};
use orrery_core::Env;
use orrery_testing_client::{Client, ClientError};
use std::fmt;
use std::net::SocketAddr;
use tokio::runtime::Handle;
use tokio::task::{JoinError, JoinHandle};
use writer::Writer;

const ENTITIES: &str = "entities";
const BATCHES: &str = "batches";

const WRITERS: usize = 12;
const READERS: usize = 2;
const BATCHERS: usize = 4;
/// Entities that all writers contend for.
const CONTESTED: u64 = 8;

/// What the harness knows of the tables.
pub(crate) struct Tables {
    writers: Vec<Writer>,
    entities: Items,
    /// Every batch that was ever sent.
    batches: Vec<BatchAttempt>,
    counts: Counts,
}

/// What was done to tables, over all rounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub acknowledged: usize,
    pub refused: usize,
    pub unanswered: usize,
    pub sightings: usize,
    pub batches: usize,
    pub entities: usize,
}

pub(crate) struct Load {
    writers: Vec<JoinHandle<(Writer, Record)>>,
    others: Vec<JoinHandle<Record>>,
}

impl Tables {
    pub(crate) fn new(seed: u64) -> Self {
        let writers = (0..WRITERS).map(|index| Writer::new(index, seed)).collect();
        Self { writers, entities: Items::new(), batches: Vec::new(), counts: Counts::default() }
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    /// The inner error is an answer that it should not get.
    pub(crate) async fn set_up(
        &self,
        address: SocketAddr,
        env: &Env,
    ) -> Result<Result<(), String>, ClientError> {
        let mut client = Client::new(address, env.clone());
        for table in [ENTITIES, BATCHES] {
            let made = client.call_storage(&request::create_table(table)).await?;
            if made.status != 201 {
                return Ok(Err(format!("table {table} got {}: {}", made.status, request::text(&made))));
            }
        }
        batcher::set_up(&mut client).await
    }

    pub(crate) fn start(&mut self, on: &Handle, address: SocketAddr, shared: &Shared, random: &Env) -> Load {
        let writers = std::mem::take(&mut self.writers).into_iter();
        let writers = writers.map(|writer| on.spawn(writer.run(address, shared.clone()))).collect();
        let seed = || random.random_u64();
        let readers = (0..READERS).map(|_| on.spawn(reader::run(address, shared.clone(), seed())));
        let batchers = (0..BATCHERS).map(|_| on.spawn(batcher::run(address, shared.clone(), seed())));
        Load { writers, others: readers.chain(batchers).collect() }
    }

    /// What happened in a round that is over.
    pub(crate) async fn join(&mut self, load: Load) -> Result<Record, JoinError> {
        let mut record = Record::default();
        for task in load.writers {
            let (writer, part) = task.await?;
            self.writers.push(writer);
            record.merge(part);
        }
        for task in load.others {
            record.merge(task.await?);
        }
        Ok(record)
    }

    /// Everything that is wrong after the restart. What is there now is where the next round begins.
    pub(crate) async fn observe(
        &mut self,
        address: SocketAddr,
        shared: &Shared,
        record: &Record,
        reads_all: bool,
    ) -> Result<Vec<String>, ClientError> {
        let observer = observe::Observer { address, shared };
        let seen = observer.observe(record, &self.entities, reads_all).await?;
        self.batches.extend(record.batches.iter().cloned());
        let kept = batcher::observe(&mut Client::new(address, shared.env.clone())).await?;
        let (operations, sightings, asked) = (&record.operations, &record.sightings, &[]);
        let violations =
            audit(Round { before: &self.entities, operations, sightings, asked, now: &seen.entities });
        let views = audit_views(&seen.entities, &seen.points);
        let mut findings: Vec<String> =
            violations.iter().chain(&views).map(|violation| format!("entity {violation}")).collect();
        findings.extend(record.trouble.iter().chain(&seen.trouble).cloned());
        let batches = audit_batches(&self.batches, &kept);
        findings.extend(batches.into_iter().map(|wrong| format!("batch of entities: {wrong}")));
        self.account(record, seen.entities.len());
        self.entities = seen.entities;
        self.writers.iter_mut().for_each(|writer| writer.refresh(&self.entities));
        Ok(findings)
    }

    fn account(&mut self, record: &Record, entities: usize) {
        let counts = &mut self.counts;
        for operation in &record.operations {
            *match operation.outcome {
                Outcome::Acknowledged { .. } => &mut counts.acknowledged,
                Outcome::Refused => &mut counts.refused,
                Outcome::Unknown => &mut counts.unanswered,
            } += 1;
        }
        counts.sightings += record.sightings.len();
        counts.batches += record.batches.len();
        counts.entities = entities;
    }
}

/// One of the entities that everybody writes; half of them in the hot partition.
fn contested_key(random: u64) -> Key {
    let n = random % CONTESTED;
    let partition = if n.is_multiple_of(2) { HOT.to_owned() } else { format!("p{n}") };
    Key { partition, id: format!("c{n}") }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { acknowledged, refused, unanswered, sightings, batches, entities } = self;
        write!(
            f,
            "tables: {acknowledged} acknowledged, {refused} refused, {unanswered} unanswered, {sightings} sightings, \
             {batches} batches, {entities} entities now"
        )
    }
}
