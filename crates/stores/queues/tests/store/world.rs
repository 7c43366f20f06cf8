//! A store with one queue, as a server would have it.

use orrery_catalog::storage::{AccountName, QueueName};
use orrery_core::{Env, Timestamp};
use orrery_kv::{Engine, MemoryEngine, Sync};
use orrery_queue_store::{
    Accepted, Error, MessageCount, MessageText, Metadata, NewMessage, QueueId, QueueStore, ReceivedMessage,
    TimeToLive, VisibilityTimeout,
};
use orrery_queues::spaces::SPACES;
use orrery_txn::{JobError, Jobs, Progress};
use std::time::Duration;

pub const START: Timestamp = Timestamp::from_seconds(1_000_000);

pub struct World {
    pub store: QueueStore,
    pub queue: QueueId,
    runtime: tokio::runtime::Runtime,
}

pub fn queue_id(name: &str) -> QueueId {
    QueueId {
        account: AccountName::parse("devstoreaccount1").unwrap(),
        name: QueueName::parse(name).unwrap(),
    }
}

pub fn text(text: &str) -> MessageText {
    MessageText::new(text.to_owned()).unwrap()
}

pub fn message(text_of: &str, hidden: i64, lives: i64) -> NewMessage {
    NewMessage {
        text: text(text_of),
        visibility: VisibilityTimeout::for_put(hidden).unwrap(),
        time_to_live: TimeToLive::parse(lives).unwrap(),
    }
}

pub fn seconds(seconds: i64) -> VisibilityTimeout {
    VisibilityTimeout::for_put(seconds).unwrap()
}

pub fn count(count: i64) -> MessageCount {
    MessageCount::parse(count).unwrap()
}

impl World {
    pub fn new() -> Self {
        Self::over(MemoryEngine::new(&SPACES), Sync::Data)
    }

    pub fn over(engine: impl Engine + 'static, sync: Sync) -> Self {
        Self::at(engine, sync, Env::seeded(START, 7))
    }

    /// A store that may have been there before.
    pub fn at(engine: impl Engine + 'static, sync: Sync, env: Env) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let store = QueueStore::standalone(engine, env, sync).unwrap();
        let world = Self { store, queue: queue_id("turns"), runtime };
        world.run(world.store.create_queue(&world.queue, Metadata::default())).unwrap();
        world
    }

    pub fn run<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    pub fn advance(&self, seconds: u64) {
        self.store.env().advance(Duration::from_secs(seconds)).unwrap();
    }

    pub fn put(&self, text: &str) -> Accepted {
        self.run(self.store.put(&self.queue, message(text, 0, -1))).unwrap()
    }

    pub fn get(&self, wanted: i64, hidden: i64) -> Vec<ReceivedMessage> {
        self.try_get(wanted, hidden).unwrap()
    }

    pub fn try_get(&self, wanted: i64, hidden: i64) -> Result<Vec<ReceivedMessage>, Error> {
        self.run(self.store.get(&self.queue, count(wanted), seconds(hidden)))
    }

    pub fn delete(&self, got: &ReceivedMessage) -> Result<(), Error> {
        self.run(self.store.delete(&self.queue, got.message.id, got.receipt))
    }

    /// The texts of the messages that a get would take.
    pub fn visible(&self) -> Vec<String> {
        let peeked = self.run(self.store.peek(&self.queue, count(32))).unwrap();
        peeked.iter().map(|message| message.text.as_str().to_owned()).collect()
    }

    pub fn count(&self) -> u64 {
        self.store.approximate_count(&self.queue).unwrap()
    }

    /// One round of background jobs.
    pub fn round(&self) -> Result<Progress, JobError> {
        let mut jobs = Jobs::default();
        self.store.register_jobs(&mut jobs);
        jobs.round()
    }

    /// Rounds of background jobs until nothing is left. Says how many there were.
    pub fn settle(&self) -> usize {
        let is_over = |_: &usize| self.round().unwrap() == Progress::Idle;
        1 + (0..10_000).find(is_over).expect("the work comes to an end")
    }
}

pub fn texts(got: &[ReceivedMessage]) -> Vec<&str> {
    got.iter().map(|got| got.message.text.as_str()).collect()
}
