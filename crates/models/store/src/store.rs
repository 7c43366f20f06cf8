//! The handle: reads from snapshots, writes through stripes and the committer.

use crate::Scope;
use crate::catalog::CatalogCache;
use crate::committer::Committer;
use crate::newest;
use crate::queries::Queries;
use crate::queue::{Answer, Queue};
use crate::stripe::{Stripe, Stripes};
use crate::trimming::TrimmingDue;
use crate::trouble::Trouble;
use crate::watch::Reserved;
use crate::watchdog::Watchdog;
use orrery_core::{Env, Lsn, limits};
use orrery_documents::catalog::Catalog;
use orrery_kv::{Db, Engine, Error as EngineError, Measure, Snapshot, Sync, Txn};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::Notify;

/// A cheap handle on the one store of a process.
#[derive(Clone)]
pub struct Store(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) db: Arc<Db>,
    env: Env,
    pub(crate) queue: Arc<Queue>,
    pub(crate) stripes: Arc<Stripes>,
    watchdog: Arc<Watchdog>,
    trouble: Arc<Trouble>,
    catalog: CatalogCache,
    /// Told of every group that was committed.
    committed: Arc<Notify>,
    ordinals: AtomicU64,
    trimming_due: TrimmingDue,
    pub(crate) queries: Queries,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

pub struct Options {
    pub sync: Sync,
    /// Go on although acknowledged writes were lost.
    pub accept_loss: bool,
    /// Memory for what was read before.
    pub warm_bytes: usize,
    /// Memory for all queries that run.
    pub query_bytes: usize,
    /// Called, from a thread of its own, when a commit does not end.
    pub on_stuck: fn(),
}

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Engine(#[from] orrery_kv::Error),
    #[error("a thread could not be started: {0}")]
    Thread(std::io::Error),
}

/// What a transaction gave back, and the commit that made it durable.
#[derive(Debug)]
pub struct Committed<T> {
    pub value: T,
    pub lsn: Lsn,
}

/// Why a transaction was not committed; `E` is what its own code said.
#[derive(Debug, thiserror::Error)]
pub enum WriteError<E> {
    #[error(transparent)]
    Model(E),
    /// Something outside its scope changed under it: its container is gone, or indexed in another way.
    #[error("the container was deleted, or its indexing policy changed")]
    OwnerGone,
    #[error("too many writes are waiting; try again")]
    Busy,
    #[error("the server is stopping")]
    Stopping,
    #[error(transparent)]
    Engine(orrery_kv::Error),
}

#[derive(Clone, Debug)]
pub(crate) enum CommitError {
    Refused,
    Aborted,
    Busy,
    Closed,
    Engine(orrery_kv::Error),
}

impl Store {
    pub fn open(engine: Box<dyn Engine>, env: Env, options: &Options) -> Result<Self, OpenError> {
        let open = if options.accept_loss { Db::open_accepting_loss } else { Db::open };
        let db = Arc::new(open(engine, options.sync)?.warmed(options.warm_bytes));
        let newest = db.durable_lsn();
        let inner = Inner {
            catalog: CatalogCache::load(&db)?,
            committed: Arc::default(),
            env,
            queue: Arc::new(Queue::new(newest)),
            stripes: Arc::new(Stripes::new()),
            watchdog: Arc::new(Watchdog::default()),
            trouble: Arc::new(Trouble::default()),
            ordinals: AtomicU64::new(first_ordinal(newest)),
            trimming_due: TrimmingDue::default(),
            queries: Queries::new(options.query_bytes),
            threads: Mutex::default(),
            db,
        };
        let store = Self(Arc::new(inner));
        store.start_threads(options.on_stuck).map_err(OpenError::Thread)?;
        Ok(store)
    }

    fn start_threads(&self, on_stuck: fn()) -> std::io::Result<()> {
        let inner = &self.0;
        let committer = Committer {
            turn: Arc::default(),
            db: inner.db.clone(),
            queue: inner.queue.clone(),
            stripes: inner.stripes.clone(),
            watchdog: inner.watchdog.clone(),
            trouble: inner.trouble.clone(),
            committed: inner.committed.clone(),
        };
        let watchdog = inner.watchdog.clone();
        let named = |name: &str| std::thread::Builder::new().name(name.to_owned());
        let mut threads = inner.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for name in ["committer-1", "committer-2"] {
            let committer = committer.clone();
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

    /// Nobody writes at the moment: what is only in memory may go to files.
    pub fn rest(&self) -> Result<(), orrery_kv::Error> {
        self.0.db.rest()
    }

    /// The LSN of the newest durable commit.
    pub fn durable_lsn(&self) -> Lsn {
        self.0.db.durable_lsn()
    }

    /// What a session token says of a range to a reader of the state as of `seen`: never older than what that state shows
    /// of the range, and never newer than the state.
    pub fn newest_in(&self, container: u32, range: u32, seen: Lsn) -> Lsn {
        self.0.catalog.newest().as_seen(container, range, seen)
    }

    /// Waits until a commit is durable, for so long at most; whether it is.
    pub async fn reaches(&self, lsn: Lsn, within: Duration) -> bool {
        let durable = async {
            loop {
                let next = self.0.committed.notified();
                if self.durable_lsn() >= lsn {
                    return;
                }
                next.await;
            }
        };
        tokio::time::timeout(within, durable).await.is_ok()
    }

    /// How the engine is doing.
    pub fn engine_measures(&self) -> Vec<Measure> {
        self.0.db.measures()
    }

    /// Why the last commit failed, if it did. Background work tries again every round, unless only a restart helps.
    pub fn trouble(&self) -> Option<EngineError> {
        self.0.trouble.current()
    }

    /// The databases and containers of the newest durable state.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.0.catalog.current()
    }

    pub(crate) fn trimming_due(&self) -> &TrimmingDue {
        &self.0.trimming_due
    }

    /// A number that no item has, above all earlier ones.
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
        for attempt in 0..limits::TRANSACTION_RETRIES_MAX {
            let done = match self.attempt(scope, attempt > 0, &body)? {
                Attempt::Again => None,
                Attempt::Reserved(reserved) => {
                    reserved.over().await;
                    None
                }
                Attempt::Settled(said) => settled(said, Ok(self.durable_lsn()))?,
                Attempt::Waits(said, answer) => {
                    settled(said, answer.await.unwrap_or(Err(CommitError::Closed)))?
                }
            };
            if let Some(committed) = done {
                return Ok(committed);
            }
        }
        Err(WriteError::Busy)
    }

    /// [`write`](Self::write) for a thread that may block.
    pub fn write_blocking<T, E>(
        &self,
        scope: Scope<'_>,
        body: impl Fn(&mut Txn<'_>) -> Result<T, E>,
    ) -> Result<Committed<T>, WriteError<E>> {
        for attempt in 0..limits::TRANSACTION_RETRIES_MAX {
            let done = match self.attempt(scope, attempt > 0, &body)? {
                Attempt::Again => None,
                Attempt::Reserved(reserved) => {
                    reserved.wait();
                    None
                }
                Attempt::Settled(said) => settled(said, Ok(self.durable_lsn()))?,
                Attempt::Waits(said, answer) => {
                    settled(said, answer.blocking_recv().unwrap_or(Err(CommitError::Closed)))?
                }
            };
            if let Some(committed) = done {
                return Ok(committed);
            }
        }
        Err(WriteError::Busy)
    }

    /// One run of the body under its stripe. A retry looks at the conditions first: the writers of a container that
    /// was dropped would otherwise send those behind them around once each.
    fn attempt<T, E>(
        &self,
        scope: Scope<'_>,
        is_retry: bool,
        body: &impl Fn(&mut Txn<'_>) -> Result<T, E>,
    ) -> Result<Attempt<T, E>, WriteError<E>> {
        let inner = &*self.0;
        let index = scope.stripe(inner.stripes.len());
        let mut stripe = inner.stripes.lock(index);
        if let Some(reserved) = stripe.reserved(scope, None) {
            return Ok(Attempt::Reserved(reserved));
        }
        let epoch = inner.queue.epoch();
        let snapshot = inner.db.snapshot();
        let pending = stripe.pending_over(&snapshot, epoch);
        let rests_on_pending = pending.iter().any(|puts| !puts.is_empty());
        let mut txn = Txn::over(&snapshot, pending);
        let said = body(&mut txn);
        let batch = txn.into_batch();
        if is_retry && said.is_ok() && !batch.conditions_hold(&*snapshot).map_err(WriteError::Engine)? {
            return Err(WriteError::OwnerGone);
        }
        let pushed = if said.is_ok() && !batch.is_empty() {
            inner.push(batch, scope, index, epoch, &mut stripe)
        } else if rests_on_pending {
            inner.queue.barrier(epoch)
        } else {
            return Ok(Attempt::Settled(said));
        };
        match pushed {
            Ok(answer) => Ok(Attempt::Waits(said, answer)),
            Err(CommitError::Aborted) => Ok(Attempt::Again),
            Err(error) => Err(refusal(error)),
        }
    }

    /// Changes the catalog and answers when the change is durable and [`catalog`](Self::catalog) shows it. Runs
    /// to its end on a thread of its own even if nobody waits any more, so that the two never part.
    pub async fn write_catalog<T: Send + 'static, E: Send + 'static>(
        &self,
        body: impl Fn(&mut Txn<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<Committed<T>, WriteError<E>> {
        let store = self.clone();
        let task = tokio::task::spawn_blocking(move || {
            let committed = store.write_blocking(Scope::Catalog, body)?;
            store.newest_catalog().map_err(WriteError::Engine)?;
            Ok(committed)
        });
        task.await.unwrap_or(Err(WriteError::Stopping))
    }

    /// The catalog as of now, even if whoever changed it has not shown it yet.
    pub fn newest_catalog(&self) -> Result<Arc<Catalog>, EngineError> {
        self.0.catalog.refresh(&self.0.db)?;
        Ok(self.catalog())
    }

    /// Commits what waits and stops the threads. Later writes are refused; reads go on.
    pub fn close(&self) {
        self.0.queue.close();
        let mut threads = std::mem::take(&mut *self.0.threads.lock().unwrap_or_else(PoisonError::into_inner));
        let watchdog = threads.pop();
        threads.into_iter().for_each(|thread| drop(thread.join()));
        self.0.watchdog.close();
        if let Some(watchdog) = watchdog {
            watchdog.thread().unpark();
            drop(watchdog.join());
        }
    }
}

impl Inner {
    /// Puts a batch into the queue. Before the committer can see it, it is pending in its stripe, and the newest of its
    /// range.
    pub(crate) fn push(
        &self,
        batch: orrery_kv::Batch,
        scope: Scope<'_>,
        index: usize,
        epoch: u64,
        stripe: &mut Stripe,
    ) -> Result<Answer, CommitError> {
        // Refused here, such a batch does not keep those that make room from being committed with others of their kind.
        if self.trouble.is_full() && !batch.makes_room() {
            self.db.check_room().map_err(CommitError::Engine)?;
        }
        let cell = self.catalog.newest().cell_of(scope);
        let least = lsn_above(self.ordinals.load(Ordering::Relaxed));
        self.queue.push(batch, index, epoch, least, |batch| {
            newest::raise(cell.as_ref(), batch.lsn());
            stripe.add(scope, batch);
        })
    }
}

enum Attempt<T, E> {
    /// It wrote nothing, and all it saw is durable.
    Settled(Result<T, E>),
    /// It wrote, or saw what is not durable yet; the answer comes when it is.
    Waits(Result<T, E>, Answer),
    /// Something it saw was never made durable.
    Again,
    /// A long transaction has the scope for itself; nothing was run.
    Reserved(Reserved),
}

/// What a transaction said, once its answer is known; `None`: it must be run again.
pub(crate) fn settled<T, E>(
    said: Result<T, E>,
    answer: Result<Lsn, CommitError>,
) -> Result<Option<Committed<T>>, WriteError<E>> {
    match answer {
        Ok(lsn) => said.map(|value| Some(Committed { value, lsn })).map_err(WriteError::Model),
        Err(CommitError::Aborted) => Ok(None),
        Err(error) => Err(refusal(error)),
    }
}

pub(crate) fn refusal<E>(error: CommitError) -> WriteError<E> {
    match error {
        CommitError::Refused => WriteError::OwnerGone,
        CommitError::Aborted | CommitError::Busy => WriteError::Busy,
        CommitError::Closed => WriteError::Stopping,
        CommitError::Engine(error) => WriteError::Engine(error),
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
