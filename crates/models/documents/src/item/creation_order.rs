//! Items in creation order, which is ordinal order.
//!
//! Items lie in the order of their keys. Few of them are collected and sorted. More are found by the locator rows, which lie in
//! the order of numbers and lead to the items; each is then a lookup of its own, so there is a limit to that too. Beyond
//! it items come in the order of their keys.

use super::record::ItemHead;
use crate::index::{self, Locator};
use crate::limits;
use crate::spaces::{DOCUMENTS, INDEX};
use crate::{partition, row};
use orrery_catalog::Container;
use orrery_keys::Epk;
use orrery_kv::{Error, KeyRange, Order, Read, Tally};
use std::ops::ControlFlow;

/// Heads up to this size in all are kept while items are collected; those of others are read again.
const HEADS_BYTES_MAX: usize = 1024 * 1024;

/// The items of some key ranges, in creation order.
pub(super) struct CreationOrder<'a> {
    pub state: &'a dyn Read,
    pub container: &'a Container,
    /// Where they are; sorted, and none overlaps another.
    pub ranges: &'a [KeyRange],
    /// The same as effective partition keys; nothing if it is single items.
    pub areas: Option<&'a [(Epk, Epk)]>,
}

/// How items are brought into creation order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OrderStrategy {
    SortInMemory,
    ByLocators,
}

/// Shown an item and its number.
pub(super) type Show<'v> = &'v mut dyn FnMut(u64, ItemHead) -> Result<ControlFlow<()>, Error>;

impl CreationOrder<'_> {
    /// The way to begin; nothing if there are too many items.
    pub fn strategy(&self) -> Result<Option<OrderStrategy>, Error> {
        let tally = Tally::of(self.state, INDEX, &row::tally_key(self.container.number()))?;
        let items = tally.get(index::DOCUMENTS);
        if items <= limits::INSERTION_ORDER_COLLECTED_MAX || self.are_few()? {
            return Ok(Some(OrderStrategy::SortInMemory));
        }
        let is_affordable = items <= limits::INSERTION_ORDER_ITEMS_MAX && self.have_locators(&tally);
        Ok(is_affordable.then_some(OrderStrategy::ByLocators))
    }

    /// Whether locator rows lead to all of these items, and tell them from others.
    fn have_locators(&self, tally: &Tally) -> bool {
        self.areas.is_some() && tally.get(index::DOCUMENTS) == tally.get(index::INDEXED)
    }

    /// The way to go on in the order of numbers, however many items there are by now.
    pub fn resume_strategy(&self) -> Result<OrderStrategy, Error> {
        if let Some(strategy) = self.strategy()? {
            return Ok(strategy);
        }
        let tally = Tally::of(self.state, INDEX, &row::tally_key(self.container.number()))?;
        Ok(if self.have_locators(&tally) { OrderStrategy::ByLocators } else { OrderStrategy::SortInMemory })
    }

    /// Whether there are few by what is known of single partitions and items.
    fn are_few(&self) -> Result<bool, Error> {
        let Some(areas) = self.areas else {
            return Ok(self.ranges.len() as u64 <= limits::INSERTION_ORDER_COLLECTED_MAX);
        };
        if areas.len() > limits::INDEX_WALKS_MAX || areas.iter().any(|(min, max)| min != max) {
            return Ok(false);
        }
        let (mut items, mut bytes) = (0, 0);
        for (epk, _) in areas {
            let size = partition::size(self.state, self.container.number(), epk.as_bytes())?;
            (items, bytes) = (items + size.items, bytes + size.bytes);
        }
        Ok(items <= limits::INSERTION_ORDER_COLLECTED_MAX || bytes < limits::PARTITION_LARGE_BYTES)
    }

    /// Shows the items that have this number or a later one, also those that have expired.
    pub fn each(&self, strategy: OrderStrategy, from: u64, show: Show<'_>) -> Result<(), Error> {
        match strategy {
            OrderStrategy::SortInMemory => self.each_collected(from, show),
            OrderStrategy::ByLocators => self.each_by_locators(from, show),
        }
    }

    fn each_collected(&self, from: u64, show: Show<'_>) -> Result<(), Error> {
        let (mut found, mut bytes) = (Vec::new(), 0);
        for range in self.ranges {
            for row in self.state.range(DOCUMENTS, range, Order::Ascending) {
                let (key, value) = row?;
                bytes += value.len();
                let head = ItemHead::read(value)?;
                if head.ordinal() >= from {
                    let (ordinal, is_kept) = (head.ordinal(), bytes <= HEADS_BYTES_MAX);
                    found.push((ordinal, key, is_kept.then_some(head)));
                }
            }
        }
        found.sort_unstable_by_key(|(ordinal, ..)| *ordinal);
        for (ordinal, key, head) in found {
            let head = match head {
                Some(head) => Some(head),
                None => ItemHead::at(self.state, &key)?,
            };
            if let Some(head) = head
                && show(ordinal, head)?.is_break()
            {
                break;
            }
        }
        Ok(())
    }

    fn each_by_locators(&self, from: u64, show: Show<'_>) -> Result<(), Error> {
        let number = self.container.number();
        let range = row::locators_from(number, from);
        for place in self.state.range(INDEX, &range, Order::Ascending) {
            let (key, stored) = place?;
            let damaged = || Error::Corrupt("the key of a place".into());
            let ordinal = row::read_locator(&key).ok_or_else(damaged)?;
            let item = Locator::key_of(&stored, number, |epk| self.holds(epk))?;
            let Some(item) = item else { continue };
            let head = ItemHead::at(self.state, &item)?;
            if let Some(head) = head
                && show(ordinal, head)?.is_break()
            {
                break;
            }
        }
        Ok(())
    }

    fn holds(&self, epk: &[u8]) -> bool {
        let holds = |(min, max): &(Epk, Epk)| match min == max {
            true => epk == min.as_bytes(),
            false => min.as_bytes() <= epk && epk < max.as_bytes(),
        };
        self.areas.is_none_or(|areas| areas.iter().any(holds))
    }
}
