//! What the measured use of a month costs, by the prices of the service.

pub mod bill;
pub mod prices;

use super::Watch;
use super::calendar::Month;
use bill::bill;
use orrery_api_common::problem::{Kind, Problem};
use orrery_documents::metering::{self, Owner, Use};
use orrery_protocol::cost::Bill;
use prices::Prices;
use std::collections::BTreeMap;

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
        Ok(bill(&prices, &month.name, month.hours(), &used, exists))
    }
}
