//! A run of a lifecycle policy: page by page what a dry run shows, several actions at once so that they share syncs.
//!
//! The background job does one page a round, so that a run over many blobs does not keep other jobs waiting.

use super::{LifecycleCursor, LifecyclePlan, PlannedAction};
use crate::background::engine_error;
use crate::error::Error;
use crate::limits;
use crate::store::BlobStore;
use orrery_blobs::Stamp;
use orrery_blobs::lifecycle::{self, Action, LifecycleRun};
use orrery_blobs::operations::{DeleteBlob, SetTier};
use orrery_catalog::storage::AccountName;
use orrery_core::Timestamp;
use orrery_kv::{Error as EngineError, Txn};
use orrery_txn::{JobError, Progress, WriteError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::task::JoinSet;

/// A run that is under way.
struct ActiveRun {
    account: AccountName,
    /// Where the next page begins; none when all is done.
    cursor: Option<LifecycleCursor>,
    done: LifecycleRun,
}

/// What the background job is at.
#[derive(Default)]
pub(crate) struct LifecycleJob(Mutex<JobState>);

#[derive(Default)]
struct JobState {
    /// When it is looked next whether a run is due.
    look_at: Timestamp,
    active: Option<ActiveRun>,
}

impl LifecycleJob {
    fn state(&self) -> MutexGuard<'_, JobState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ActiveRun {
    fn begin(account: AccountName, now: Timestamp) -> Self {
        let done = LifecycleRun { started: now.millis(), ..LifecycleRun::default() };
        Self { account, cursor: Some(LifecycleCursor::default()), done }
    }

    /// What became of one action. What changed, or came to be protected, since it was looked at, is skipped.
    fn count(&mut self, planned: &PlannedAction, done: Result<(), Error>) -> Result<(), Error> {
        match done {
            Ok(()) => {
                let totals = self.done.actions.entry(planned.decision.action.name()).or_default();
                totals.blobs += 1;
                totals.bytes += planned.bytes;
            }
            Err(Error::Refused(_)) => self.done.skipped += 1,
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

impl BlobStore {
    /// Does what a dry run shows, and remembers what it did.
    pub async fn run_lifecycle(&self, account: &AccountName) -> Result<LifecycleRun, Error> {
        let mut run = ActiveRun::begin(account.clone(), self.env().now());
        while self.run_page(&mut run).await? {}
        Ok(run.done)
    }

    /// The last runs, the newest first.
    pub fn lifecycle_runs(&self, account: &AccountName) -> Result<Vec<LifecycleRun>, Error> {
        Ok(lifecycle::runs(&*self.snapshot(), account)?)
    }

    /// Does the next page, or ends the run. Returns whether it goes on.
    async fn run_page(&self, run: &mut ActiveRun) -> Result<bool, Error> {
        let Some(cursor) = &run.cursor else {
            self.end_run(run).await?;
            return Ok(false);
        };
        let plan = self.plan_lifecycle(&run.account, cursor)?;
        run.done.looked_at += plan.looked_at;
        let next = plan.next.clone();
        self.do_plan(plan, run).await?;
        run.cursor = next;
        Ok(true)
    }

    async fn do_plan(&self, plan: LifecyclePlan, run: &mut ActiveRun) -> Result<(), Error> {
        let (mut actions, mut tasks) = (plan.actions.into_iter(), JoinSet::new());
        loop {
            let room = limits::LIFECYCLE_ACTIONS_AT_ONCE - tasks.len();
            for planned in actions.by_ref().take(room) {
                let store = self.clone();
                tasks.spawn(async move {
                    let done = store.do_planned(&planned).await;
                    (planned, done)
                });
            }
            let Some(ended) = tasks.join_next().await else { return Ok(()) };
            let (planned, done) = ended.map_err(|_| Error::Stopping)?;
            run.count(&planned, done)?;
        }
    }

    async fn do_planned(&self, planned: &PlannedAction) -> Result<(), Error> {
        let PlannedAction { address, selector, conditions, .. } = planned;
        match planned.decision.action {
            Action::Delete => {
                let conditions = conditions.clone();
                let delete = DeleteBlob { selector: *selector, conditions, ..DeleteBlob::default() };
                self.delete_blob(address, delete).await.map(drop)
            }
            Action::Tier(tier) => {
                let conditions = conditions.clone();
                let set = SetTier { selector: *selector, tier, priority: None, conditions };
                self.set_tier(address, set).await.map(drop)
            }
        }
    }

    async fn end_run(&self, run: &mut ActiveRun) -> Result<(), Error> {
        run.done.finished = self.env().now().millis();
        let (account, saved) = (run.account.clone(), run.done.clone());
        let save = move |txn: &mut Txn<'_>, stamp: Stamp| {
            Ok(lifecycle::save_run(txn, &account, stamp.ticks, &saved)?)
        };
        self.write_catalog(&[], save).await
    }

    /// A page of the run that is under way, or of the next that is due.
    pub(crate) fn run_lifecycles(&self) -> Result<Progress, JobError> {
        let mut state = self.0.lifecycle_job.state();
        if state.active.is_none() {
            state.active = self.next_run(&mut state.look_at)?;
        }
        let Some(run) = &mut state.active else { return Ok(Progress::Idle) };
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime =
            runtime.map_err(|error| WriteError::Engine(EngineError::Unavailable(error.to_string())))?;
        if !runtime.block_on(self.run_page(run)).map_err(engine_error)? {
            state.active = None;
        }
        Ok(Progress::More)
    }

    /// The run of an account whose last one is a day ago.
    fn next_run(&self, look_at: &mut Timestamp) -> Result<Option<ActiveRun>, JobError> {
        let now = self.env().now();
        let every = Duration::from_secs(limits::LIFECYCLE_LOOK_EVERY_SECONDS);
        // Also after the clock was set back.
        if now < *look_at && *look_at <= now.plus(every) {
            return Ok(None);
        }
        for account in lifecycle::accounts(&*self.snapshot()).map_err(WriteError::Engine)? {
            let runs = self.lifecycle_runs(&account).map_err(engine_error)?;
            let day = Duration::from_secs(limits::LIFECYCLE_EVERY_SECONDS);
            if runs.first().is_none_or(|last| last.started_at().plus(day) <= now) {
                return Ok(Some(ActiveRun::begin(account, now)));
            }
        }
        *look_at = now.plus(every);
        Ok(None)
    }
}
