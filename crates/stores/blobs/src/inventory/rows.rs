//! The policy of an account, and the rows of a rule.

use crate::error::Error;
use crate::store::BlobStore;
use orrery_blobs::containers::Container;
use orrery_blobs::inventory::{
    InventoryObject, InventoryPolicy, InventoryRule, Value, blob_value, container_value, load_policy,
    save_policy,
};
use orrery_blobs::operations::{ListBlobs, ListEntry, ListInclude};
use orrery_catalog::storage::AccountName;
use orrery_core::Timestamp;
use orrery_kv::{Snapshot, Txn};
use std::sync::Arc;

/// The fields of a row, in the order of the rule's columns.
pub type InventoryRow = Vec<Option<Value>>;

/// The rows of a rule, a page of a list at a time. All of them are of one moment.
pub struct InventoryRows {
    snapshot: Arc<Snapshot>,
    now: Timestamp,
    rule: InventoryRule,
    /// Those that are still to be looked through, the next one last.
    containers: Vec<Arc<Container>>,
    marker: Option<String>,
    page: std::vec::IntoIter<InventoryRow>,
}

impl BlobStore {
    pub fn inventory_policy(&self, account: &AccountName) -> Result<Option<InventoryPolicy>, Error> {
        Ok(load_policy(&*self.snapshot(), account)?)
    }

    /// Replaces the policy as a whole, or removes it.
    pub async fn set_inventory_policy(
        &self,
        account: &AccountName,
        policy: Option<InventoryPolicy>,
    ) -> Result<(), Error> {
        let account = account.clone();
        let save = move |txn: &mut Txn<'_>, _| {
            save_policy(txn, &account, policy.as_ref());
            Ok(())
        };
        self.write_catalog(&[], save).await
    }

    /// What a rule makes of an account now.
    pub fn inventory_rows(&self, account: &AccountName, rule: &InventoryRule) -> InventoryRows {
        let snapshot = self.snapshot();
        let mut containers = self.0.containers.of_account(account, "");
        containers.retain(|container| !container.id.name.is_system());
        containers.reverse();
        let page = Vec::new().into_iter();
        InventoryRows { snapshot, now: self.env().now(), rule: rule.clone(), containers, marker: None, page }
    }
}

impl InventoryRows {
    /// Looks through a page of a container. Returns whether there was anything to look through.
    fn read_page(&mut self) -> Result<bool, Error> {
        let Some(container) = self.containers.last().cloned() else { return Ok(false) };
        let rows = match self.rule.object {
            InventoryObject::Container => self.container_row(&container),
            InventoryObject::Blob => self.blob_rows(&container)?,
        };
        if self.marker.is_none() {
            self.containers.pop();
        }
        self.page = rows.into_iter();
        Ok(true)
    }

    fn container_row(&self, container: &Container) -> Vec<InventoryRow> {
        if !self.rule.filters.match_path(container.id.name.as_str()) {
            return Vec::new();
        }
        let columns = self.rule.columns.iter();
        vec![columns.map(|column| container_value(*column, container, self.now)).collect()]
    }

    fn blob_rows(&mut self, container: &Container) -> Result<Vec<InventoryRow>, Error> {
        let filters = &self.rule.filters;
        let include = ListInclude {
            snapshots: filters.include_snapshots,
            versions: filters.include_blob_versions,
            deleted: filters.include_deleted,
            ..ListInclude::default()
        };
        let request = ListBlobs { include, marker: self.marker.take(), ..ListBlobs::default() };
        let page = orrery_blobs::list(&*self.snapshot, container.number(), &request)?;
        self.marker = page.next;
        let name = container.id.name.as_str();
        let blobs = page.entries.iter().filter_map(|entry| match entry {
            ListEntry::Blob(blob) if filters.match_blob(name, blob, self.now) => Some(blob),
            _ => None,
        });
        let columns = &self.rule.columns;
        let row =
            |blob: &Box<_>| columns.iter().map(|column| blob_value(*column, name, blob, self.now)).collect();
        Ok(blobs.map(row).collect())
    }
}

impl Iterator for InventoryRows {
    type Item = Result<InventoryRow, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.page.next() {
                return Some(Ok(row));
            }
            match self.read_page() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.containers.clear();
                    return Some(Err(error));
                }
            }
        }
    }
}
