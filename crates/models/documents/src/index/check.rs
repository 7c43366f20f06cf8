//! Whether the rows that are derived from a container's items are those that the items ask for.
//!
//! ```text
//! items, in key order ─ what each asks for is looked up ─> what is missing, and how many rows there must be
//! rows, counted by kind ─ where there are more ─> each is traced back to its item ─> what nobody asks for
//! ```
//!
//! It reads and never repairs. Whatever the container holds, it keeps the counts of one partition and a few examples in
//! memory. What it cannot see: an item whose place row and entries are all gone is like one that its request left out of
//! the index, but for the tally; and an expiry row too many is no fault, because the reaper drops it.

mod finding;
mod items;
mod kinds;
mod logs;
mod surplus;
mod texts;
mod watched;

pub use finding::{Fault, Finding};
pub use logs::check_logs;
pub use texts::check_texts;

use crate::row;
use crate::spaces::{DOCUMENTS, INDEX, LOG, OVERFLOW, SPACES};
use finding::Findings;
use items::Items;
use kinds::{IndexStatistics, Kind};
use orrery_catalog::jobs::{self, JobKind};
use orrery_catalog::{Catalog, Container};
use orrery_keys::{KeyReader, prefix_end};
use orrery_kv::{Error, KeyRange, META, Order, Read, Space};
use std::collections::BTreeSet;

/// What a container holds, and what is wrong with it.
#[derive(Debug, Default)]
pub struct Checked {
    pub items: u64,
    /// Of the container and of its large partitions.
    pub entries: u64,
    pub findings: Vec<Finding>,
}

/// Fails only where rows cannot be read at all; whatever is wrong with them is a finding.
pub fn check_container(state: &dyn Read, container: &Container) -> Result<Checked, Error> {
    let (mut findings, mut counts) = (Findings::default(), IndexStatistics::default());
    let definition_row = state.get(META, container.alive_key())?;
    if definition_row != Some(container.alive_value()) {
        findings.note(Fault::NotAlive, || container.path().to_owned());
    }
    let items = Items::new(state, container, &mut findings, &mut counts)?.go_through()?;
    count_rows(state, container, &mut findings, &mut counts)?;
    for kind in Kind::TRACED {
        surplus::search(state, container, kind, counts.surplus(kind), &mut findings)?;
    }
    let entries = counts.there(Kind::Entry) + counts.there(Kind::LocalEntry);
    Ok(Checked { items, entries, findings: findings.finish() })
}

fn count_rows(
    state: &dyn Read,
    container: &Container,
    findings: &mut Findings,
    counts: &mut IndexStatistics,
) -> Result<(), Error> {
    for found in state.range(INDEX, &row::of_container(container.number()), Order::Ascending) {
        let (key, _) = found?;
        match Kind::of(&key) {
            Some(Kind::Expiry) if row::read_expiry(&key).is_none() => {
                findings.note(Fault::StrangeRow, || finding::hex(&key));
            }
            Some(kind) => counts.see(kind),
            None => findings.note(Fault::StrangeRow, || finding::hex(&key)),
        }
    }
    Ok(())
}

/// Containers that have rows, and are neither in the catalog nor waiting to be swept.
pub fn check_owners(state: &dyn Read, catalog: &Catalog) -> Result<Vec<Finding>, Error> {
    let mut known: BTreeSet<u64> =
        catalog.all_containers().map(|container| u64::from(container.number())).collect();
    let swept = jobs::jobs(state)?.into_iter().filter(|(kind, _)| *kind == JobKind::Sweep);
    known.extend(swept.map(|(_, container)| u64::from(container)));
    let mut findings = Findings::default();
    for space in [DOCUMENTS, INDEX, LOG] {
        for owner in owners(state, space)? {
            if owner.is_none_or(|number| !known.contains(&number)) {
                let name = owner.map_or_else(|| "no number".to_owned(), |number| format!("number {number}"));
                findings.note(Fault::Ownerless, || format!("{name} in the space {}", SPACES.name(space)));
            }
        }
    }
    Ok(findings.finish())
}

/// The numbers that the keys of a space begin with. Each is met once, its other rows are leapt over.
fn owners(state: &dyn Read, space: Space) -> Result<Vec<Option<u64>>, Error> {
    let (mut owners, mut range) = (Vec::new(), KeyRange::all());
    while let Some(found) = state.range(space, &range, Order::Ascending).next() {
        let (key, _) = found?;
        let mut reader = KeyReader::new(&key);
        let owner = match space {
            LOG | OVERFLOW => reader.u64().ok(),
            _ => reader.u32().ok().map(u64::from),
        };
        owners.push(owner);
        let length = if owner.is_some() { key.len() - reader.raw().len() } else { key.len() };
        let Some(next) = prefix_end(&key[..length]) else { break };
        range.start = next;
    }
    Ok(owners)
}
