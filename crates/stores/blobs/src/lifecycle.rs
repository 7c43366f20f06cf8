//! Lifecycle management: the policy of an account, a dry run, and the run that does what a dry run shows.

use crate::background::engine_error;
use crate::error::Error;
use crate::limits;
use crate::store::BlobStore;
use orrery_blobs::blob::BlobState;
use orrery_blobs::containers::Container;
use orrery_blobs::lifecycle::{
    self, Action, BlobGroup, Decision, LifecyclePolicy, LifecycleRun, evaluate, load_policy, save_policy,
};
use orrery_blobs::operations::{DeleteBlob, ListBlobs, ListEntry, ListInclude, SetTier, has_history};
use orrery_blobs::{Address, Blob, Conditions, ETagMatch, Selector};
use orrery_catalog::storage::AccountName;
use orrery_core::Timestamp;
use orrery_kv::{Error as EngineError, Txn};
use orrery_txn::{JobError, Progress, WriteError};
use std::sync::atomic::{AtomicU64, Ordering};

/// Something that a run does.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedAction {
    pub address: Address,
    pub selector: Selector,
    pub bytes: u64,
    pub decision: Decision,
    /// What the state looks like; if it changed, nothing is done.
    conditions: Conditions,
}

/// A page of what a run would do, in the order in which it would.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LifecyclePlan {
    pub actions: Vec<PlannedAction>,
    /// States that were looked at.
    pub looked_at: u64,
    /// Where to go on.
    pub next: Option<LifecycleCursor>,
}

/// How far a run has come: a container, and a marker of its list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LifecycleCursor {
    container: String,
    marker: Option<String>,
}

/// When policies run next, in seconds.
#[derive(Default)]
pub(crate) struct LifecycleDue(AtomicU64);

impl BlobStore {
    pub fn lifecycle_policy(&self, account: &AccountName) -> Result<Option<LifecyclePolicy>, Error> {
        Ok(load_policy(&*self.snapshot(), account)?)
    }

    /// Replaces the policy as a whole, or removes it.
    pub async fn set_lifecycle_policy(
        &self,
        account: &AccountName,
        policy: Option<LifecyclePolicy>,
    ) -> Result<(), Error> {
        let account = account.clone();
        let save = move |txn: &mut Txn<'_>, _| {
            save_policy(txn, &account, policy.as_ref());
            Ok(())
        };
        self.write_catalog(&[], save).await
    }

    /// What a run would do now. Without a policy, nothing.
    pub fn plan_lifecycle(
        &self,
        account: &AccountName,
        from: &LifecycleCursor,
    ) -> Result<LifecyclePlan, Error> {
        let Some(policy) = self.lifecycle_policy(account)? else { return Ok(LifecyclePlan::default()) };
        let mut plan = LifecyclePlan::default();
        let containers = self.0.containers.of_account(account, &from.container);
        for (at, container) in containers.iter().enumerate() {
            let is_first = container.id.name.as_str() == from.container;
            let marker = from.marker.clone().filter(|_| is_first);
            let marker = self.plan_container(&policy, container, marker, &mut plan)?;
            let next = containers.get(at + 1).map(|next| next.id.name.as_str().to_owned());
            if let Some(marker) = marker {
                let container = container.id.name.as_str().to_owned();
                plan.next = Some(LifecycleCursor { container, marker: Some(marker) });
                break;
            }
            if plan.looked_at >= limits::LIFECYCLE_PAGE_STATES_MAX {
                plan.next = next.map(|container| LifecycleCursor { container, marker: None });
                break;
            }
        }
        Ok(plan)
    }

    /// Plans a page of a container. Returns where the next one begins.
    fn plan_container(
        &self,
        policy: &LifecyclePolicy,
        container: &Container,
        marker: Option<String>,
        plan: &mut LifecyclePlan,
    ) -> Result<Option<String>, Error> {
        let now = self.env().now();
        let include = ListInclude { snapshots: true, versions: true, ..ListInclude::default() };
        let request = ListBlobs { include, marker, ..ListBlobs::default() };
        let tracked_since = self.service(&container.id.account)?.settings.tracked_since();
        let snapshot = self.snapshot();
        let page = orrery_blobs::list(&*snapshot, container.number(), &request)?;
        for blob in page.entries.iter().filter_map(blob_of) {
            plan.looked_at += 1;
            let group = BlobGroup {
                container: container.id.name.as_str(),
                has_history: blob.state == BlobState::Current
                    && has_history(&*snapshot, container.number(), &blob.name)?,
                tracked_since,
            };
            if let Some(decision) = evaluate(policy, group, blob, now) {
                plan.actions.push(planned(container, blob, decision));
            }
        }
        Ok(page.next)
    }

    /// Does what a dry run shows, and remembers what it did.
    pub async fn run_lifecycle(&self, account: &AccountName) -> Result<LifecycleRun, Error> {
        let started = self.env().now();
        let mut run = LifecycleRun { started: started.millis(), ..LifecycleRun::default() };
        let mut from = Some(LifecycleCursor::default());
        while let Some(cursor) = from {
            let plan = self.plan_lifecycle(account, &cursor)?;
            run.looked_at += plan.looked_at;
            for action in &plan.actions {
                self.do_planned(action, &mut run).await?;
            }
            from = plan.next;
        }
        run.finished = self.env().now().millis();
        let (account, saved) = (account.clone(), run.clone());
        let save = move |txn: &mut Txn<'_>, stamp: orrery_blobs::Stamp| {
            Ok(lifecycle::save_run(txn, &account, stamp.ticks, &saved)?)
        };
        self.write_catalog(&[], save).await?;
        Ok(run)
    }

    async fn do_planned(&self, planned: &PlannedAction, run: &mut LifecycleRun) -> Result<(), Error> {
        let PlannedAction { address, selector, conditions, .. } = planned;
        let done = match planned.decision.action {
            Action::Delete => {
                let delete = DeleteBlob {
                    selector: *selector,
                    conditions: conditions.clone(),
                    ..DeleteBlob::default()
                };
                self.delete_blob(address, delete).await.map(drop)
            }
            Action::Tier(tier) => {
                let set =
                    SetTier { selector: *selector, tier, priority: None, conditions: conditions.clone() };
                self.set_tier(address, set).await.map(drop)
            }
        };
        match done {
            Ok(()) => {
                let totals = run.actions.entry(planned.decision.action.name()).or_default();
                totals.blobs += 1;
                totals.bytes += planned.bytes;
                Ok(())
            }
            // It changed, or came to be protected, since it was looked at.
            Err(Error::Refused(_)) => {
                run.skipped += 1;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// The last runs, the newest first.
    pub fn lifecycle_runs(&self, account: &AccountName) -> Result<Vec<LifecycleRun>, Error> {
        Ok(lifecycle::runs(&*self.snapshot(), account)?)
    }

    /// Once a day, for every account with a policy whose last run is a day ago.
    pub(crate) fn run_lifecycles(&self) -> Result<Progress, JobError> {
        let now = self.env().now();
        if !self.0.lifecycle_due.is_now(now) {
            return Ok(Progress::Idle);
        }
        let accounts = lifecycle::accounts(&*self.snapshot()).map_err(WriteError::Engine)?;
        for account in accounts {
            let runs = self.lifecycle_runs(&account).map_err(engine_error)?;
            let is_due = runs.first().is_none_or(|last| {
                last.started_at().plus(std::time::Duration::from_secs(limits::LIFECYCLE_EVERY_SECONDS)) <= now
            });
            if is_due {
                self.run_lifecycle_blocking(&account)?;
            }
        }
        self.0.lifecycle_due.0.store(now.seconds() + limits::LIFECYCLE_LOOK_EVERY_SECONDS, Ordering::Relaxed);
        Ok(Progress::Idle)
    }

    /// On the thread of background jobs, which runs no tasks.
    fn run_lifecycle_blocking(&self, account: &AccountName) -> Result<(), JobError> {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime =
            runtime.map_err(|error| WriteError::Engine(EngineError::Unavailable(error.to_string())))?;
        runtime.block_on(self.run_lifecycle(account)).map(drop).map_err(engine_error)
    }
}

impl LifecycleDue {
    /// Also after the clock was set back.
    fn is_now(&self, now: Timestamp) -> bool {
        let due = self.0.load(Ordering::Relaxed);
        now.seconds() >= due || due - now.seconds() > limits::LIFECYCLE_LOOK_EVERY_SECONDS
    }
}

fn blob_of(entry: &ListEntry) -> Option<&Blob> {
    match entry {
        ListEntry::Blob(blob) => Some(blob),
        ListEntry::Prefix(_) | ListEntry::VersionsOnly(_) | ListEntry::Uncommitted { .. } => None,
    }
}

fn planned(container: &Container, blob: &Blob, decision: Decision) -> PlannedAction {
    PlannedAction {
        address: container.id.blob(blob.name.clone()),
        selector: match blob.state {
            BlobState::Snapshot(at) => Selector::Snapshot(at),
            BlobState::Version(at) => Selector::Version(at),
            BlobState::Current | BlobState::DeletedBlob => Selector::Current,
        },
        bytes: blob.length(),
        decision,
        conditions: Conditions {
            if_match: Some(ETagMatch::OneOf(vec![blob.etag()])),
            ..Conditions::default()
        },
    }
}
