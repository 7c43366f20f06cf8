//! The handle: reads from snapshots, writes through stripes and the committer.

use crate::block_on::block_on;
use crate::error::{CommitError, OpenError, WriteError};
use crate::group_commit::Committer;
use crate::limits;
use crate::queue::{Answer, Group, Pushed};
use crate::scope::Scope;
use crate::scope_watch::Reserved;
use crate::stripe::Stripe;
use orrery_core::{Env, Lsn};
use orrery_kv::{Batch, Db, Engine, Error as EngineError, Measure, Snapshot, Sync, Txn};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::{Handle, RuntimeFlavor};

/// A cheap handle on the transactions of a process.
#[derive(Clone)]
pub struct TxnManager(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) db: Arc<Db>,
    env: Env,
    /// Also has the queue, the stripes and the health of commits.
    pub(crate) committer: Committer,
    ordinals: AtomicU64,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

pub struct Options {
    pub sync: Sync,
    /// Open although acknowledged writes were lost.
    pub accept_loss: bool,
    /// Memory for the row cache.
    pub cache_bytes: usize,
    /// Called, from a thread of its own, when a commit does not end.
    pub on_stuck: fn(),
}

/// What a transaction returned, and the commit that made it durable.
#[derive(Debug)]
pub struct Committed<T> {
    pub value: T,
    pub lsn: Lsn,
}

impl TxnManager {
    pub fn open(engine: Box<dyn Engine>, env: Env, options: &Options) -> Result<Self, OpenError> {
        let open = if options.accept_loss { Db::open_accepting_loss } else { Db::open };
        let db = Arc::new(open(engine, options.sync)?.with_cache_bytes(options.cache_bytes));
        let newest = db.durable_lsn();
        let committer = Committer::new(db.clone(), newest);
        let inner = Inner {
            env,
            committer,
            ordinals: AtomicU64::new(first_ordinal(newest)),
            threads: Mutex::default(),
            db,
        };
        let manager = Self(Arc::new(inner));
        manager.start_threads(options.on_stuck).map_err(OpenError::Thread)?;
        Ok(manager)
    }

    /// For a store of its own, in simulations, tools and tests. A commit that does not end stops the process.
    pub fn standalone(engine: impl Engine + 'static, env: Env, sync: Sync) -> Result<Self, OpenError> {
        let on_stuck = || std::process::abort();
        let options = Options { sync, accept_loss: false, cache_bytes: 1 << 20, on_stuck };
        Self::open(Box::new(engine), env, &options)
    }

    fn start_threads(&self, on_stuck: fn()) -> std::io::Result<()> {
        let inner = &self.0;
        let watchdog = inner.committer.watchdog.clone();
        let named = |name: &str| std::thread::Builder::new().name(name.to_owned());
        let mut threads = inner.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for name in ["committer-1", "committer-2"] {
            let committer = inner.committer.clone();
            threads.push(named(name).spawn(move || committer.run())?);
        }
        threads.push(named("watchdog").spawn(move || watchdog.run(on_stuck))?);
        Ok(())
    }

    pub fn env(&self) -> &Env {
        &self.0.env
    }

    /// The newest durable state.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.0.db.snapshot()
    }

    /// The LSN of the newest durable commit.
    pub fn durable_lsn(&self) -> Lsn {
        self.0.db.durable_lsn()
    }

    /// Waits until a commit is durable, at most for `within`; false if it is not by then.
    pub async fn wait_until_durable(&self, lsn: Lsn, within: Duration) -> bool {
        let durable = async {
            loop {
                let next = self.0.committer.committed.notified();
                if self.durable_lsn() >= lsn {
                    return;
                }
                next.await;
            }
        };
        tokio::time::timeout(within, durable).await.is_ok()
    }

    /// Lets the engine move what is only in memory to files; for a moment in which nobody writes.
    pub fn rest(&self) -> Result<(), EngineError> {
        self.0.db.idle()
    }

    /// Measurements of the engine.
    pub fn engine_measures(&self) -> Vec<Measure> {
        self.0.db.measures()
    }

    /// Why the last commit failed, if it did. Background jobs try again every round, unless only a restart helps.
    pub fn commit_failure(&self) -> Option<EngineError> {
        self.0.committer.health.error()
    }

    /// A number above all earlier ones, also those of earlier runs.
    pub fn next_ordinal(&self) -> u64 {
        self.0.ordinals.fetch_add(1, Ordering::Relaxed)
    }

    /// Runs `body` as one transaction in `scope` and answers when it is durable. `body` may run more than
    /// once; it must do nothing but read and write `txn`.
    pub async fn write<T, E>(
        &self,
        scope: Scope<'_>,
        body: impl Fn(&mut Txn<'_>) -> Result<T, E>,
    ) -> Result<Committed<T>, WriteError<E>> {
        orrery_core::tour_step!();
        self.run(scope, body, may_commit_here()).await
    }

    /// [`write`](Self::write) for a task that has several writes under way at once: none of them commits on its own
    /// thread, so that all are queued before the first is waited for, and share a sync.
    pub async fn write_concurrently<T, E>(
        &self,
        scope: Scope<'_>,
        body: impl Fn(&mut Txn<'_>) -> Result<T, E>,
    ) -> Result<Committed<T>, WriteError<E>> {
        self.run(scope, body, false).await
    }

    async fn run<T, E>(
        &self,
        scope: Scope<'_>,
        body: impl Fn(&mut Txn<'_>) -> Result<T, E>,
        may_commit_here: bool,
    ) -> Result<Committed<T>, WriteError<E>> {
        for attempt in 0..limits::TRANSACTION_RETRIES_MAX {
            let outcome = match self.attempt(scope, attempt > 0, may_commit_here, &body)? {
                Attempt::Retry => None,
                Attempt::Reserved(reserved) => {
                    reserved.released().await;
                    None
                }
                Attempt::Settled(returned) => settle(returned, Ok(self.durable_lsn()))?,
                Attempt::Queued(returned, answer) => {
                    settle(returned, answer.await.unwrap_or(Err(CommitError::Closed)))?
                }
                Attempt::Lone(returned, group, answer) => {
                    self.commit_lone(group);
                    settle(returned, answer.await.unwrap_or(Err(CommitError::Closed)))?
                }
            };
            if let Some(committed) = outcome {
                return Ok(committed);
            }
        }
        Err(WriteError::Busy)
    }

    /// Commits on this thread. It keeps its tasks where a commit is over before another thread has taken them.
    fn commit_lone(&self, group: Group) {
        let committer = &self.0.committer;
        if committer.recent.allow_inline() && Handle::current().metrics().num_workers() > 1 {
            committer.commit_lone(group);
        } else {
            tokio::task::block_in_place(|| committer.commit_lone(group));
        }
    }

    /// [`write`](Self::write) for a thread that may block and runs no tasks, such as a background job's.
    pub fn write_blocking<T, E>(
        &self,
        scope: Scope<'_>,
        body: impl Fn(&mut Txn<'_>) -> Result<T, E>,
    ) -> Result<Committed<T>, WriteError<E>> {
        block_on(self.write(scope, body))
    }

    /// One run of the body under its stripe. A retry checks the preconditions first: the writers of a container that
    /// was dropped would otherwise each make all those behind them retry.
    fn attempt<T, E>(
        &self,
        scope: Scope<'_>,
        is_retry: bool,
        may_commit_here: bool,
        body: &impl Fn(&mut Txn<'_>) -> Result<T, E>,
    ) -> Result<Attempt<T, E>, WriteError<E>> {
        let inner = &*self.0;
        let index = scope.stripe(inner.committer.stripes.len());
        let mut stripe = inner.committer.stripes.lock(index);
        if let Some(reserved) = stripe.reserved(scope, None) {
            return Ok(Attempt::Reserved(reserved));
        }
        let epoch = inner.committer.queue.epoch();
        let snapshot = inner.db.snapshot();
        let pending = stripe.pending_over(&snapshot, epoch);
        let rests_on_pending = pending.iter().any(|puts| !puts.is_empty());
        let mut txn = Txn::over(&snapshot, pending);
        let returned = body(&mut txn);
        let batch = txn.into_batch();
        if is_retry && returned.is_ok() && !batch.conditions_hold(&*snapshot).map_err(WriteError::Engine)? {
            return Err(WriteError::PreconditionFailed);
        }
        let pushed = if returned.is_ok() && !batch.is_empty() {
            inner.push(batch, scope, index, epoch, &mut stripe, may_commit_here)
        } else if rests_on_pending {
            inner.committer.queue.barrier(epoch).map(Pushed::Queued)
        } else {
            return Ok(Attempt::Settled(returned));
        };
        match pushed {
            Ok(Pushed::Queued(answer)) => Ok(Attempt::Queued(returned, answer)),
            Ok(Pushed::Lone(group, answer)) => Ok(Attempt::Lone(returned, group, answer)),
            Err(CommitError::Aborted) => Ok(Attempt::Retry),
            Err(error) => Err(error.into()),
        }
    }

    /// Commits what waits and stops the threads. Later writes are refused; reads go on.
    pub fn close(&self) {
        self.0.committer.queue.close();
        let mut threads = std::mem::take(&mut *self.0.threads.lock().unwrap_or_else(PoisonError::into_inner));
        let watchdog = threads.pop();
        threads.into_iter().for_each(|thread| drop(thread.join()));
        self.0.committer.watchdog.close();
        if let Some(watchdog) = watchdog {
            watchdog.thread().unpark();
            drop(watchdog.join());
        }
    }
}

impl Inner {
    /// Puts a batch into the queue. Before the committer can see it, it is pending in its stripe, and the newest of its
    /// scope.
    pub(crate) fn push(
        &self,
        batch: Batch,
        scope: Scope<'_>,
        index: usize,
        epoch: u64,
        stripe: &mut Stripe,
        may_commit_here: bool,
    ) -> Result<Pushed, CommitError> {
        // Refused here, such a batch does not keep those that make room from being committed with others of their kind.
        if self.committer.health.is_full() && !batch.makes_room(self.db.spaces()) {
            self.db.check_room().map_err(CommitError::Engine)?;
        }
        let least = lsn_above(self.ordinals.load(Ordering::Relaxed));
        self.committer.queue.push(batch, index, epoch, least, may_commit_here, |batch| {
            if let Some(newest) = scope.newest() {
                newest.raise(batch.lsn());
            }
            stripe.add(scope, batch);
        })
    }
}

/// Whether this thread can wait for the disk while others take over its tasks.
fn may_commit_here() -> bool {
    Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread)
}

enum Attempt<T, E> {
    /// It wrote nothing, and everything it read is durable.
    Settled(Result<T, E>),
    /// It wrote, or read what is not durable yet; the answer comes when it is.
    Queued(Result<T, E>, Answer),
    /// It wrote, and no one else is writing: the writer commits it.
    Lone(Result<T, E>, Group, Answer),
    /// Something it read never became durable.
    Retry,
    /// An optimistic transaction holds the scope alone; the body was not run.
    Reserved(Reserved),
}

/// The outcome of a transaction once its batch is answered; `None`: it must be run again.
pub(crate) fn settle<T, E>(
    returned: Result<T, E>,
    answer: Result<Lsn, CommitError>,
) -> Result<Option<Committed<T>>, WriteError<E>> {
    orrery_core::tour_step!();
    match answer {
        Ok(lsn) => returned.map(|value| Some(Committed { value, lsn })).map_err(WriteError::Model),
        Err(CommitError::Aborted) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Ordinals need only be unique and ascending; starting above any that the commits so far can have used saves keeping
/// a counter on the disk.
fn first_ordinal(newest: Lsn) -> u64 {
    (newest.0 + 1) << ORDINALS_PER_LSN_BITS
}

/// An LSN whose first ordinal is above this one. A commit gets one at least as high, however many ordinals were drawn
/// for transactions that came to nothing.
fn lsn_above(ordinal: u64) -> Lsn {
    Lsn(ordinal >> ORDINALS_PER_LSN_BITS)
}

const ORDINALS_PER_LSN_BITS: u32 = 16;
