//! Lifecycle management: the policy of an account, and a dry run of it. [`run`] does what a dry run shows.

mod run;

pub(crate) use run::LifecycleJob;

use crate::error::Error;
use crate::limits;
use crate::store::BlobStore;
use orrery_blobs::blob::BlobState;
use orrery_blobs::containers::Container;
use orrery_blobs::lifecycle::{BlobGroup, Decision, LifecyclePolicy, evaluate, load_policy, save_policy};
use orrery_blobs::operations::{ListBlobs, ListEntry, ListInclude, has_history};
use orrery_blobs::{Address, Blob, Conditions, ETagMatch, Selector};
use orrery_catalog::storage::AccountName;
use orrery_kv::Txn;

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
