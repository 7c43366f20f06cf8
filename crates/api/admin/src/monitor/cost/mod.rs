//! What the measured use of a month costs, by the prices of the service.

pub mod bill;
pub mod prices;
pub mod storage_bill;

use super::Watch;
use super::calendar::Month;
use super::metering::{Metering, StorageKey};
use super::storage::resource::Resource;
use super::storage::tracker::OTHERS_NUMBER;
use bill::bill;
use orrery_api_common::problem::{Kind, Problem};
use orrery_catalog::storage::metering::{self as storage_metering, StorageHour, StorageUse};
use orrery_documents::metering::{self, Owner, Use};
use orrery_protocol::cost::Bill;
use prices::Prices;
use std::collections::{BTreeMap, BTreeSet};
use storage_bill::storage_bill;

impl Watch {
    /// The bill of a month such as `2026-11`, or of this one.
    pub fn cost(&self, month: Option<&str>) -> Result<Bill, Problem> {
        let month = match month {
            None => Month::of(self.now()),
            Some(text) => Month::parse(text).ok_or_else(|| {
                Problem::new(Kind::Invalid, format!("the month '{text}' is not like 2026-11"))
            })?,
        };
        self.look();
        let broken = |why: String| Problem::new(Kind::Broken, why);
        let prices = Prices::load().map_err(broken)?;
        let state = self.state();
        let stored = metering::between(&*self.0.store.snapshot(), month.from, month.to);
        let mut used: BTreeMap<(u32, Owner), Use> = BTreeMap::new();
        for (hour, owner, one) in
            stored.map_err(|error| Problem::new(Kind::Unavailable, error.to_string()))?
        {
            used.insert((hour, owner), one);
        }
        let pending = state.metering.pending().filter(|(hour, ..)| (month.from..month.to).contains(hour));
        for (hour, owner, more) in pending {
            match used.get_mut(&(hour, owner)) {
                Some(known) => known.merge(more),
                None => drop(used.insert((hour, owner), more.clone())),
            }
        }
        let used: Vec<(u32, Owner, Use)> =
            used.into_iter().map(|((hour, owner), one)| (hour, owner, one)).collect();
        let provisioned = &state.provisioned;
        let exists = |owner: Owner| match owner {
            Owner::Container(number) => provisioned.names.contains_key(&number),
            Owner::Database(_) => provisioned.supplies.iter().any(|supply| supply.owner == owner),
        };
        let storage = self.storage_used(&month, &state.metering)?;
        let measured: BTreeSet<u32> =
            used.iter().map(|(hour, ..)| *hour).chain(storage.iter().map(|(hour, ..)| *hour)).collect();
        let hours_measured = measured.len() as u32;
        let numbers: BTreeSet<u32> = self.0.storage.resources().iter().map(Resource::number).collect();
        let is_there = |_, number| number == OTHERS_NUMBER || numbers.contains(&number);
        let storage = storage_bill(&prices, month.hours(), &storage, hours_measured, is_there);
        let bill = bill(&prices, &month.name, month.hours(), &used, hours_measured, exists);
        Ok(Bill { storage, ..bill })
    }

    /// What resources of storage accounts used in a month: what is written down, and what is not yet.
    fn storage_used(&self, month: &Month, metering: &Metering) -> Result<Vec<StorageHour>, Problem> {
        let stored = storage_metering::between(&*self.0.store.snapshot(), month.from, month.to);
        let stored = stored.map_err(|error| Problem::new(Kind::Unavailable, error.to_string()))?;
        let mut used: BTreeMap<StorageKey, StorageUse> =
            stored.into_iter().map(|(hour, service, number, one)| ((hour, service, number), one)).collect();
        let pending = metering.pending_storage();
        for (key, more) in pending.filter(|((hour, ..), _)| (month.from..month.to).contains(hour)) {
            match used.get_mut(&key) {
                Some(known) => known.merge(more),
                None => drop(used.insert(key, more.clone())),
            }
        }
        Ok(used.into_iter().map(|((hour, service, number), one)| (hour, service, number, one)).collect())
    }
}
