//! Measured use on its way to the disk: what each owner of throughput used since it was last written down.

use super::calendar::hour_of;
use super::sizes::Sizes;
use super::throughput::{Provisioned, Supply};
use super::window::Look;
use crate::limits;
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
    written: Timestamp,
}

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

    /// Writes down what is pending, when it is time: every minute if something was used, and when an hour is over.
    pub fn write_when_due(&mut self, store: &Store, now: Timestamp) -> Result<(), WriteError<EngineError>> {
        let is_hour_over = self.pending.keys().any(|(hour, _)| *hour < hour_of(now));
        let is_used = self.pending.values().any(|used| used.requests > 0);
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
        let oldest = hour_of(now).saturating_sub(limits::METERING_HOURS_MAX);
        store.write_blocking(Scope::Catalog, |txn| metering::forget_before(txn, oldest))?;
        Ok(())
    }

    /// What is not on the disk yet.
    pub fn pending(&self) -> impl Iterator<Item = (u32, Owner, &Use)> {
        self.pending.iter().map(|((hour, owner), used)| (*hour, *owner, used))
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
