//! A queue in the rounds: those who put, those who get; and what is there of the messages after a restart.

pub mod audit;
mod hands;
pub mod history;
pub(crate) mod message;
mod observe;
mod workers;

use crate::history::{Seq, Tick};
use crate::writer::Shared;
use audit::{Finding, audit_messages};
use hands::{Gone, Hands};
use history::{Act, MessageOperation, MessageRecord, Outcome};
use orrery_core::Env;
use orrery_testing_client::ClientError;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::SocketAddr;
use tokio::runtime::Handle;
use tokio::task::{JoinError, JoinHandle};

const QUEUE: &str = "work";
const PUTTERS: usize = 4;
const CONSUMERS: usize = 8;

/// What the harness knows of the queue.
#[derive(Default)]
pub(crate) struct Queues {
    /// In the order in which it began. Of messages that are gone, only the deletes.
    known: MessageRecord,
    counts: Counts,
}

/// What was done to messages, over all rounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub puts: usize,
    pub gets: usize,
    pub updates: usize,
    pub deletes: usize,
    pub refused: usize,
    pub unanswered: usize,
    pub messages: usize,
}

pub(crate) struct Load(Vec<JoinHandle<MessageRecord>>);

impl Queues {
    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    /// The inner error is an answer that it should not get.
    pub(crate) async fn set_up(
        &self,
        address: SocketAddr,
        shared: &Shared,
    ) -> Result<Result<(), String>, ClientError> {
        Hands::new(address, shared.clone(), 0).create_queue().await
    }

    pub(crate) fn start(&self, on: &Handle, address: SocketAddr, shared: &Shared, random: &Env) -> Load {
        let seed = || random.random_u64();
        let putters = (0..PUTTERS).map(|_| on.spawn(workers::run_putter(address, shared.clone(), seed())));
        let consumers =
            (0..CONSUMERS).map(|_| on.spawn(workers::run_consumer(address, shared.clone(), seed())));
        Load(putters.chain(consumers).collect())
    }

    /// What happened in a round that is over.
    pub(crate) async fn join(load: Load) -> Result<MessageRecord, JoinError> {
        let mut record = MessageRecord::default();
        for task in load.0 {
            record.merge(task.await?);
        }
        Ok(record)
    }

    /// Everything that is wrong after the restart.
    pub(crate) async fn observe(
        &mut self,
        address: SocketAddr,
        shared: &Shared,
        record: MessageRecord,
        seed: u64,
    ) -> Vec<String> {
        self.take(record);
        let mut hands = Hands::new(address, shared.clone(), seed);
        let looked = observe::look(&mut hands, &self.known).await;
        self.take(hands.record);
        let mut trouble = std::mem::take(&mut self.known.trouble);
        let (looked, kept) = match looked {
            Ok(found) => found,
            Err(Gone) => {
                trouble.push("the queue could not be looked at".to_owned());
                return trouble;
            }
        };
        let findings = audit_messages(&self.known.operations, &self.known.open_gets, looked);
        trouble.extend(findings.iter().map(Finding::to_string));
        self.counts.messages = kept;
        self.forget(looked);
        trouble
    }

    fn take(&mut self, record: MessageRecord) {
        let counts = &mut self.counts;
        for operation in &record.operations {
            *match (operation.outcome, operation.act) {
                (Outcome::Unknown, _) => &mut counts.unanswered,
                (Outcome::Mismatch | Outcome::Missing, _) => &mut counts.refused,
                (Outcome::Done, Act::Put) => &mut counts.puts,
                (Outcome::Done, Act::Get { .. }) => &mut counts.gets,
                (Outcome::Done, Act::Update) => &mut counts.updates,
                (Outcome::Done, Act::Delete) => &mut counts.deletes,
            } += 1;
        }
        counts.unanswered += record.open_gets.len();
        self.known.merge(record);
        self.known.operations.sort_by_key(|operation| operation.began);
    }

    /// Keeps of the messages that are gone no more than that they are, and of the others what was done. What was never
    /// answered is decided by now: a text that was seen was written, and all else does not matter any more, nor what was
    /// refused because of it.
    fn forget(&mut self, looked: Tick) {
        let MessageRecord { operations, ids, .. } = &mut self.known;
        let is_get = |one: &MessageOperation| matches!(one.act, Act::Get { .. });
        let is_deleted = |one: &MessageOperation| one.act == Act::Delete && one.is_done();
        let mut seen: BTreeMap<Seq, Tick> = BTreeMap::new();
        for get in operations.iter().filter(|one| is_get(one)) {
            let Some(text) = get.text else { continue };
            seen.entry(text).and_modify(|first| *first = get.ended.min(*first)).or_insert(get.ended);
        }
        for open in operations.iter_mut().filter(|one| one.outcome == Outcome::Unknown) {
            if let Some(seen) = open.text.and_then(|text| seen.get(&text)) {
                (open.outcome, open.ended) = (Outcome::Done, *seen);
            }
        }
        let gone: BTreeSet<Seq> =
            operations.iter().filter(|one| is_deleted(one)).map(|one| one.message).collect();
        let taken = operations.iter().filter(|one| is_get(one) && one.began > looked).map(|one| one.message);
        let there: BTreeSet<Seq> = taken.filter(|message| !gone.contains(message)).collect();
        operations.retain(|one| {
            let is_kept = there.contains(&one.message) && one.is_done();
            is_kept || is_deleted(one)
        });
        ids.retain(|message, _| there.contains(message));
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { puts, gets, updates, deletes, refused, unanswered, messages } = self;
        write!(
            f,
            "queue: {puts} puts, {gets} deliveries, {updates} updates, {deletes} deletes, {refused} refused, \
             {unanswered} unanswered, {messages} messages kept"
        )
    }
}
