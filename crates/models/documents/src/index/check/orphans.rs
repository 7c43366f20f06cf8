//! The way back: from a row to the item that asks for it.

use super::finding::{Fault, Findings, hex};
use super::rows::{Kind, Parts, parts};
use crate::index::entry_writer::terms_under;
use crate::index::locator::Locator;
use crate::item::unique_of;
use crate::item::{self, ItemRow};
use crate::spaces::{DOCUMENTS, INDEX};
use crate::{partition, row};
use orrery_catalog::Container;
use orrery_kv::{Error, Order, Read};

/// Notes the rows of a kind that no item asks for, of which there are so many.
pub(super) fn search(
    state: &dyn Read,
    container: &Container,
    kind: Kind,
    mut surplus: u64,
    findings: &mut Findings,
) -> Result<(), Error> {
    if surplus == 0 {
        return Ok(());
    }
    let trace = Trace { state, container };
    for found in state.range(INDEX, &kind.range(container.number()), Order::Ascending) {
        let (key, value) = found?;
        let parts = parts(&key);
        if parts.as_ref().map_or(Ok(false), |parts| damage_is_no(trace.is_asked_for(parts, &value)))? {
            continue;
        }
        findings.note(fault(kind), || parts.map_or_else(|| hex(&key), |parts| name(&parts)));
        surplus -= 1;
        if surplus == 0 {
            break;
        }
    }
    Ok(())
}

fn fault(kind: Kind) -> Fault {
    match kind {
        Kind::Unique => Fault::SurplusUnique,
        Kind::Partition => Fault::SurplusSize,
        Kind::Locator => Fault::SurplusLocator,
        Kind::Entry => Fault::SurplusEntry,
        Kind::LocalEntry => Fault::SurplusLocalEntry,
        Kind::Tally => Fault::SurplusTally,
        Kind::Expiry | Kind::Successor => Fault::StrangeRow,
    }
}

fn name(parts: &Parts<'_>) -> String {
    match parts {
        Parts::Unique { epk, key, values } => {
            format!("key {key} with values {} in partition {}", hex(values), hex(epk))
        }
        Parts::Partition { epk } => format!("partition {}", hex(epk)),
        Parts::Locator { ordinal } => format!("number {ordinal}"),
        Parts::Entry { term, ordinal, .. } => format!("term {} of number {ordinal}", hex(term)),
        Parts::LocalEntry { epk, term, ordinal } => {
            format!("term {} of number {ordinal} in partition {}", hex(term), hex(epk))
        }
        Parts::Tally { epk } => {
            epk.map_or_else(|| "the container".to_owned(), |epk| format!("partition {}", hex(epk)))
        }
    }
}

/// What a damaged row asks for nobody can tell.
fn damage_is_no(asked_for: Result<bool, Error>) -> Result<bool, Error> {
    match asked_for {
        Err(Error::Corrupt(_)) => Ok(false),
        other => other,
    }
}

struct Trace<'a> {
    state: &'a dyn Read,
    container: &'a Container,
}

impl Trace<'_> {
    fn is_asked_for(&self, parts: &Parts<'_>, value: &[u8]) -> Result<bool, Error> {
        match parts {
            Parts::Unique { epk, key, values } => {
                let id = str::from_utf8(value).unwrap_or_default();
                let item = item::stored(self.state, self.container, epk, id)?;
                let number = usize::from(*key);
                let is_known = number < self.container.definition().unique_keys().len();
                Ok(is_known
                    && item.is_some_and(|item| {
                        unique_of(self.container, item.text()).get(number).is_some_and(|own| own == values)
                    }))
            }
            Parts::Partition { epk } => self.has_items(epk),
            Parts::Locator { ordinal } => Ok(self.item(*ordinal)?.is_some()),
            Parts::Entry { term, ordinal, prefix } => {
                let Some((place, item)) = self.item(*ordinal)? else { return Ok(false) };
                Ok(row::epk_prefix(&place.epk) == *prefix && self.has_term(&place, &item, term)?)
            }
            Parts::LocalEntry { epk, term, ordinal } => {
                let Some((place, item)) = self.item(*ordinal)? else { return Ok(false) };
                let is_large = partition::size(self.state, self.container.number(), epk)?.is_large;
                Ok(is_large && place.epk == *epk && self.has_term(&place, &item, term)?)
            }
            Parts::Tally { epk: None } => Ok(true),
            Parts::Tally { epk: Some(epk) } => {
                let is_large = partition::size(self.state, self.container.number(), epk)?.is_large;
                Ok(is_large && self.has_items(epk)?)
            }
        }
    }

    fn has_items(&self, epk: &[u8]) -> Result<bool, Error> {
        let range = row::items_of_partition(self.container.number(), epk);
        Ok(self.state.range(DOCUMENTS, &range, Order::Ascending).next().transpose()?.is_some())
    }

    /// The item of a number, by its locator row.
    fn item(&self, ordinal: u64) -> Result<Option<(Locator, ItemRow)>, Error> {
        let Some(place) = Locator::of(self.state, self.container.number(), ordinal)? else { return Ok(None) };
        let item = item::stored(self.state, self.container, &place.epk, &place.id)?;
        Ok(item.filter(|item| item.ordinal() == ordinal).map(|item| (place, item)))
    }

    fn has_term(&self, place: &Locator, item: &ItemRow, term: &[u8]) -> Result<bool, Error> {
        let terms = terms_under(self.container, place.generation, item)?;
        Ok(terms.iter().any(|other| other == term))
    }
}
