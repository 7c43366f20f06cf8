//! The handle: the definitions and the transactions of queues.

use crate::background::ExpirySweep;
use crate::definitions::{Definitions, OpenQueue};
use crate::error::Error;
use crate::head::HeadScan;
use crate::limits;
use orrery_catalog::scope;
use orrery_core::Env;
use orrery_kv::{Engine, Error as EngineError, Snapshot, Sync, Txn};
use orrery_queues::QueueId;
use orrery_queues::messages::Stamp;
use orrery_txn::{OpenError, Scope, TxnManager, WriteError};
use std::sync::Arc;
use std::time::Duration;

/// A cheap handle on the queues of a process.
#[derive(Clone)]
pub struct QueueStore(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub txns: TxnManager,
    pub definitions: Definitions,
    pub expiry: ExpirySweep,
}

#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Between two searches for expired messages, by the clock of the process.
    pub expiry_every: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { expiry_every: Duration::from_secs(limits::EXPIRY_EVERY_SECONDS) }
    }
}

/// A transaction on the messages of a queue, as its body sees it.
pub(crate) struct QueueWrite<'a> {
    pub queue: &'a OpenQueue,
    pub head: &'a HeadScan<'a>,
}

impl QueueStore {
    pub fn open(txns: TxnManager, options: Options) -> Result<Self, EngineError> {
        let definitions = Definitions::load(&txns.snapshot())?;
        let expiry = ExpirySweep::new(txns.env().now(), options.expiry_every);
        Ok(Self(Arc::new(Inner { txns, definitions, expiry })))
    }

    /// A store with transactions of its own, for simulations, tools and tests. A commit that does not end stops the
    /// process.
    pub fn standalone(engine: impl Engine + 'static, env: Env, sync: Sync) -> Result<Self, OpenError> {
        Ok(Self::open(TxnManager::standalone(engine, env, sync)?, Options::default())?)
    }

    pub fn env(&self) -> &Env {
        self.0.txns.env()
    }

    /// The transactions that this store shares with others.
    pub fn txns(&self) -> &TxnManager {
        &self.0.txns
    }

    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.0.txns.snapshot()
    }

    pub(crate) fn stamp(&self) -> Stamp {
        Stamp { now: self.env().now(), random: self.env().random_u64() }
    }

    pub(crate) fn find(&self, id: &QueueId) -> Result<Arc<OpenQueue>, Error> {
        self.0.definitions.find(id).ok_or(Error::QueueNotFound)
    }

    /// Runs `body` as one transaction in the queue's scope and answers when it is durable. If the queue was deleted and
    /// created again meanwhile, runs it on the new one.
    pub(crate) async fn write<T, E: Into<Error>>(
        &self,
        id: &QueueId,
        body: impl Fn(&QueueWrite<'_>, &mut Txn<'_>) -> Result<T, E>,
    ) -> Result<T, Error> {
        let mut queue = self.find(id)?;
        loop {
            let head = HeadScan::new(&queue.head);
            let write = QueueWrite { queue: &queue, head: &head };
            let scope = scope_of(queue.number());
            let written = self.0.txns.write(Scope::new(&scope), |txn| body(&write, txn)).await;
            match written {
                Ok(committed) => {
                    head.committed();
                    return Ok(committed.value);
                }
                Err(WriteError::PreconditionFailed) => {}
                Err(error) => {
                    if matches!(error, WriteError::Busy) {
                        queue.counters.refuse();
                    }
                    return Err(error.into());
                }
            }
            drop(head);
            let gone = queue.number();
            self.refresh(id)?;
            queue = self.find(id)?;
            if queue.number() == gone {
                return Err(Error::QueueNotFound);
            }
        }
    }

    /// For a thread that may block and runs no tasks, such as a background job's.
    pub(crate) fn write_blocking<T>(
        &self,
        queue: u32,
        body: impl Fn(&mut Txn<'_>) -> Result<T, EngineError>,
    ) -> Result<T, WriteError<EngineError>> {
        let scope = scope_of(queue);
        self.0.txns.write_blocking(Scope::new(&scope), body).map(|committed| committed.value)
    }

    /// Changes the definition of a queue and answers when the change is durable and in memory. Runs to its end on a thread
    /// of its own even if the caller stops waiting, so that the two never part.
    pub(crate) async fn write_definition<T: Send + 'static, E: Into<Error> + Send + 'static>(
        &self,
        id: &QueueId,
        body: impl Fn(&QueueId, &mut Txn<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, Error> {
        let (store, id) = (self.clone(), id.clone());
        let task = tokio::task::spawn_blocking(move || {
            let scope = Scope::new(&[scope::CATALOG]);
            let committed = store.0.txns.write_blocking(scope, |txn| body(&id, txn))?;
            store.refresh(&id)?;
            Ok(committed.value)
        });
        task.await.unwrap_or(Err(Error::Stopping))
    }

    fn refresh(&self, id: &QueueId) -> Result<(), EngineError> {
        self.0.definitions.refresh(id, || self.snapshot())
    }

    /// Commits what waits and stops the threads. Later writes are refused; reads go on.
    pub fn close(&self) {
        self.0.txns.close();
    }
}

fn scope_of(queue: u32) -> [u8; 5] {
    let [a, b, c, d] = queue.to_be_bytes();
    [scope::QUEUE, a, b, c, d]
}
