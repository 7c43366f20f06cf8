//! Runs of inventory rules: the last of them are kept.

use crate::limits;
use crate::row::{self, PolicyKind, Row};
use orrery_catalog::storage::AccountName;
use orrery_core::Ticks;
use orrery_kv::{Error, META, Order, Read, Txn};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InventoryRun {
    pub rule: String,
    /// Milliseconds since 1970.
    pub started: u64,
    pub finished: u64,
    /// Rows, and the bytes of what they are about.
    pub objects: u64,
    pub bytes: u64,
    /// The manifest in the destination container; none, if the run failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// The last runs, the newest first.
pub fn runs(state: &dyn Read, account: &AccountName) -> Result<Vec<InventoryRun>, Error> {
    let range = row::policy_runs(PolicyKind::Inventory, account.as_str());
    state.range(META, &range, Order::Descending).map(|row| read(&row?.1)).collect()
}

/// Adds a run, and forgets the oldest beyond those that are kept. In the catalog's scope.
pub fn save_run(
    txn: &mut Txn<'_>,
    account: &AccountName,
    at: Ticks,
    run: &InventoryRun,
) -> Result<(), Error> {
    let kind = PolicyKind::Inventory;
    let range = row::policy_runs(kind, account.as_str());
    let rows = txn.range(META, &range, Order::Descending).skip(limits::INVENTORY_RUNS_KEPT_MAX - 1);
    let old = rows.map(|row| row.map(|(key, _)| key)).collect::<Result<Vec<_>, _>>()?;
    old.into_iter().for_each(|key| txn.delete(META, key));
    let stored = serde_json::to_vec(run).expect("a record of texts and numbers has a JSON form");
    txn.put(META, Row::PolicyRun { kind, account: account.as_str(), at }.key(), stored);
    Ok(())
}

fn read(bytes: &[u8]) -> Result<InventoryRun, Error> {
    serde_json::from_slice(bytes).map_err(|error| Error::Corrupt(format!("a run of an inventory: {error}")))
}
