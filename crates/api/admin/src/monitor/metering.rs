//! Measured use on its way to the disk: what each owner of throughput used since it was last written down.

use super::calendar::hour_of;
use super::sizes::Sizes;
use super::storage::tracker::StorageDelta;
use super::throughput::{Provisioned, Supply};
use super::window::Look;
use crate::limits;
use orrery_catalog::storage::ServiceKind;
use orrery_catalog::storage::metering::{self as storage_metering, StorageUse};
use orrery_core::Timestamp;
use orrery_document_store::monitor::Totals;
use orrery_document_store::{EngineError, Scope, Store, WriteError};
use orrery_documents::catalog::limits::METERING_ROWS_MAX;
use orrery_documents::metering::{self, Owner, Use};
use std::collections::BTreeMap;

/// Looks closer together than this are one, so that a peak is that of a second.
const LOOK_MILLIS_MIN: u64 = 1_000;

#[derive(Default)]
pub struct Metering {
    last: Option<Look>,
    /// Not written yet.
    pending: BTreeMap<(u32, Owner), Use>,
    storage: BTreeMap<StorageKey, StorageUse>,
    written: Timestamp,
}

/// An hour, and a resource by its service and number.
pub type StorageKey = (u32, ServiceKind, u32);

impl Metering {
    /// Adds what was used since the last look to the hour in which that was.
    pub fn look(&mut self, look: &Look, provisioned: &Provisioned, sizes: &Sizes, force: bool) {
        let Some(last) = &self.last else {
            self.last = Some(look.clone());
            self.written = look.at;
            return;
        };
        let millis = look.at.millis().saturating_sub(last.at.millis());
        if millis < LOOK_MILLIS_MIN && !force {
            return;
        }
        let hour = hour_of(last.at);
        for supply in &provisioned.supplies {
            let mut used = Totals::default();
            for number in &supply.containers {
                let now = sum(look, *number);
                used.merge(&now.since(&sum(last, *number)));
            }
            let more = used_by(supply, &used, millis, sizes);
            match self.pending.get_mut(&(hour, supply.owner)) {
                Some(known) => known.merge(&more),
                None => drop(self.pending.insert((hour, supply.owner), more)),
            }
        }
        self.last = Some(look.clone());
    }

    /// Adds what resources of storage accounts were asked since the last look.
    pub fn look_at_storage(&mut self, deltas: Vec<StorageDelta>, at: Timestamp) {
        for (service, number, more) in deltas {
            match self.storage.get_mut(&(hour_of(at), service, number)) {
                Some(known) => known.merge(&more),
                None => drop(self.storage.insert((hour_of(at), service, number), more)),
            }
        }
    }

    /// Writes down what is pending, when it is time: every minute if something was used, and when an hour is over.
    pub fn write_when_due(&mut self, store: &Store, now: Timestamp) -> Result<(), WriteError<EngineError>> {
        let mut hours =
            self.pending.keys().map(|(hour, _)| hour).chain(self.storage.keys().map(|(hour, ..)| hour));
        let is_hour_over = hours.any(|hour| *hour < hour_of(now));
        let is_used = self.pending.values().any(|used| used.requests > 0)
            || self.storage.values().any(|used| used.transactions.total() > 0);
        let is_time = now.millis() >= self.written.millis() + limits::METERING_EVERY_SECONDS * 1000;
        if is_hour_over || (is_used && is_time) {
            self.write(store, now)?;
        }
        Ok(())
    }

    /// What cannot be written stays pending.
    pub fn write(&mut self, store: &Store, now: Timestamp) -> Result<(), WriteError<EngineError>> {
        self.written = now;
        while !self.pending.is_empty() {
            let rows: Vec<(u32, Owner, Use)> = self
                .pending
                .iter()
                .take(METERING_ROWS_MAX)
                .map(|((hour, owner), used)| (*hour, *owner, used.clone()))
                .collect();
            store.write_blocking(Scope::Catalog, |txn| {
                rows.iter().try_for_each(|(hour, owner, used)| metering::add(txn, *hour, *owner, used))
            })?;
            rows.iter().for_each(|(hour, owner, _)| drop(self.pending.remove(&(*hour, *owner))));
        }
        self.write_storage(store)?;
        let oldest = hour_of(now).saturating_sub(limits::METERING_HOURS_MAX);
        store.write_blocking(Scope::Catalog, |txn| {
            metering::forget_before(txn, oldest)?;
            storage_metering::forget_before(txn, oldest)
        })?;
        Ok(())
    }

    fn write_storage(&mut self, store: &Store) -> Result<(), WriteError<EngineError>> {
        while !self.storage.is_empty() {
            let rows: Vec<(StorageKey, StorageUse)> =
                self.storage.iter().take(METERING_ROWS_MAX).map(|(key, used)| (*key, used.clone())).collect();
            store.write_blocking(Scope::Catalog, |txn| {
                rows.iter().try_for_each(|((hour, service, number), used)| {
                    storage_metering::add(txn, *hour, *service, *number, used)
                })
            })?;
            rows.iter().for_each(|(key, _)| drop(self.storage.remove(key)));
        }
        Ok(())
    }

    /// What is not on the disk yet.
    pub fn pending(&self) -> impl Iterator<Item = (u32, Owner, &Use)> {
        self.pending.iter().map(|((hour, owner), used)| (*hour, *owner, used))
    }

    /// The same of storage.
    pub fn pending_storage(&self) -> impl Iterator<Item = (StorageKey, &StorageUse)> {
        self.storage.iter().map(|(key, used)| (*key, used))
    }
}

fn sum(look: &Look, number: u32) -> Totals {
    let mut sum = Totals::default();
    look.containers.get(&number).into_iter().flatten().for_each(|totals| sum.merge(totals));
    sum
}

fn used_by(supply: &Supply, used: &Totals, millis: u64, sizes: &Sizes) -> Use {
    let bytes = supply.containers.iter().filter_map(|number| sizes.get(number)).map(|held| held.bytes).sum();
    Use {
        database: supply.database.clone(),
        container: supply.container.clone(),
        requests: used.requests(),
        hundredths: used.hundredths,
        peak_hundredths: (u128::from(used.hundredths) * 1000 / u128::from(millis.max(LOOK_MILLIS_MIN)))
            as u64,
        bytes,
        throughput: supply.throughput,
    }
}
