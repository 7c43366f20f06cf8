//! What runs of a policy did: the last of them are kept.

use crate::limits;
use crate::row::{self, PolicyKind, Row};
use orrery_catalog::storage::AccountName;
use orrery_core::{Ticks, Timestamp};
use orrery_kv::{Error, META, Order, Read, Txn};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LifecycleRun {
    /// Milliseconds since 1970.
    pub started: u64,
    pub finished: u64,
    /// States that were looked at.
    pub looked_at: u64,
    /// By `delete`, `tierToCool` and the like.
    pub actions: BTreeMap<String, ActionTotals>,
    /// What changed before the run came to it, so that nothing was done.
    pub skipped: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionTotals {
    pub blobs: u64,
    pub bytes: u64,
}

impl LifecycleRun {
    pub fn started_at(&self) -> Timestamp {
        Timestamp::from_millis(self.started)
    }
}

/// The last runs, the newest first.
pub fn runs(state: &dyn Read, account: &AccountName) -> Result<Vec<LifecycleRun>, Error> {
    let range = row::policy_runs(PolicyKind::Lifecycle, account.as_str());
    state.range(META, &range, Order::Descending).map(|row| read(&row?.1)).collect()
}

/// Adds a run, and forgets the oldest beyond those that are kept. In the catalog's scope.
pub fn save_run(
    txn: &mut Txn<'_>,
    account: &AccountName,
    at: Ticks,
    run: &LifecycleRun,
) -> Result<(), Error> {
    let kind = PolicyKind::Lifecycle;
    let range = row::policy_runs(kind, account.as_str());
    let rows = txn.range(META, &range, Order::Descending).skip(limits::LIFECYCLE_RUNS_KEPT_MAX - 1);
    let old = rows.map(|row| row.map(|(key, _)| key)).collect::<Result<Vec<_>, _>>()?;
    old.into_iter().for_each(|key| txn.delete(META, key));
    let stored = serde_json::to_vec(run).expect("a record of numbers has a JSON form");
    txn.put(META, Row::PolicyRun { kind, account: account.as_str(), at }.key(), stored);
    Ok(())
}

fn read(bytes: &[u8]) -> Result<LifecycleRun, Error> {
    serde_json::from_slice(bytes).map_err(|error| Error::Corrupt(format!("a run of a policy: {error}")))
}
