//! Consistency check: whether the rows derived from a container's items are exactly those that the
//! items require.
//!
//! ```text
//! items, in key order ─ what each asks for is looked up ─> what is missing, and how many rows there must be
//! rows, counted by kind ─ where there are more ─> each is traced back to its item ─> what nobody asks for
//! ```
//!
//! It reads and never repairs. Whatever the container holds, it keeps the counts of one partition and a few examples in
//! memory. What it cannot see: an item whose locator row and entries are all gone is like one that its request left out of
//! the index, but for the tally; and an expiry row too many is no fault, because the reaper drops it.

use crate::changes::horizon;
use crate::row;
use crate::spaces::{DOCUMENTS, INDEX, LOG, OVERFLOW, SPACES};
use crate::sweep::text_of;
use bytes::Bytes;
pub use finding::{Fault, Finding};
use finding::{Findings, hex};
use items::Items;
use orrery_catalog::jobs::{self, JobKind};
use orrery_catalog::{Catalog, Container};
use orrery_core::Lsn;
use orrery_keys::{KeyReader, prefix_end};
use orrery_kv::{Error, KeyRange, META, Order, Read, Space, verify_log};
use rows::{Kind, RowCounts};
use std::collections::{BTreeMap, BTreeSet, HashSet};

mod finding;
mod items;
mod orphans;
mod rows;
mod tallies;

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
    let (mut findings, mut counts) = (Findings::default(), RowCounts::default());
    let definition_row = state.get(META, container.alive_key())?;
    if definition_row != Some(container.alive_value()) {
        findings.note(Fault::NotAlive, || container.path().to_owned());
    }
    let items = Items::new(state, container, &mut findings, &mut counts)?.go_through()?;
    count_rows(state, container, &mut findings, &mut counts)?;
    for kind in Kind::TRACED {
        orphans::search(state, container, kind, counts.surplus(kind), &mut findings)?;
    }
    let entries = counts.there(Kind::Entry) + counts.there(Kind::LocalEntry);
    Ok(Checked { items, entries, findings: findings.finish() })
}

fn count_rows(
    state: &dyn Read,
    container: &Container,
    findings: &mut Findings,
    counts: &mut RowCounts,
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

/// Who else keeps its changes in the log, by number, and up to which commit they were trimmed; `None` for what is dropped
/// and being removed.
pub type LogOwners = BTreeMap<u32, Option<Lsn>>;

/// Containers that have rows, and are neither in the catalog nor waiting to be swept. `others` have rows in the log alone.
pub fn check_owners(state: &dyn Read, catalog: &Catalog, others: &LogOwners) -> Result<Vec<Finding>, Error> {
    let mut known: BTreeSet<u64> =
        catalog.all_containers().map(|container| u64::from(container.number())).collect();
    let swept = jobs::jobs(state)?.into_iter().filter(|(kind, _)| *kind == JobKind::Sweep);
    known.extend(swept.map(|(_, container)| u64::from(container)));
    let mut findings = Findings::default();
    for space in [DOCUMENTS, INDEX, LOG] {
        let is_others = |number: u64| space == LOG && is_of_others(number, others);
        for owner in owners(state, space)? {
            if owner.is_none_or(|number| !known.contains(&number) && !is_others(number)) {
                let name = owner.map_or_else(|| "no number".to_owned(), |number| format!("number {number}"));
                findings.note(Fault::Ownerless, || format!("{name} in the space {}", SPACES.name(space)));
            }
        }
    }
    Ok(findings.finish())
}

fn is_of_others(stream: u64, others: &LogOwners) -> bool {
    u32::try_from(stream).is_ok_and(|number| others.contains_key(&number))
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

// The links of the whole log: every entry that was not trimmed follows from the one before it.

/// A sentence for each stream of the log that is broken. `tip` is the newest commit.
pub fn check_logs(state: &dyn Read, tip: Lsn, others: &LogOwners) -> Result<Vec<String>, Error> {
    let mut faults = Vec::new();
    for stream in state.streams(LOG)? {
        let number = u32::try_from(stream).ok();
        // Up to the horizon entries are removed and shortened, and their links do not fit any more.
        let trimmed = match number.and_then(|number| others.get(&number)) {
            Some(Some(trimmed)) => *trimmed,
            Some(None) => continue,
            None => number.map_or(Ok(Lsn(0)), |container| horizon(state, container))?,
        };
        if let Err(error) = verify_log(state, LOG, stream, Lsn(trimmed.0.saturating_add(1)), tip) {
            faults.push(error.to_string());
        }
    }
    Ok(faults)
}

// Texts that lie apart: whatever points to one finds it, and to each points one row.

/// Over all containers, dropped ones included: their rows point to their texts until both are swept. Of each text, where
/// it is stays in memory.
pub fn check_texts(state: &dyn Read, others: &LogOwners) -> Result<Vec<Finding>, Error> {
    let mut findings = Findings::default();
    let mut wanted: HashSet<Bytes> = HashSet::new();
    for space in [DOCUMENTS, LOG] {
        for row in state.range(space, &KeyRange::all(), Order::Ascending) {
            let row = row?;
            let is_others = || KeyReader::new(&row.0).u64().is_ok_and(|stream| is_of_others(stream, others));
            if space == LOG && is_others() {
                continue;
            }
            let Some(text) = text_of(space, &row) else { continue };
            if !wanted.insert(text.clone()) {
                findings.note(Fault::SharedText, || hex(&text));
            }
        }
    }
    for row in state.range(OVERFLOW, &KeyRange::all(), Order::Ascending) {
        let (key, _) = row?;
        if !wanted.remove(&key) {
            findings.note(Fault::SurplusText, || hex(&key));
        }
    }
    wanted.iter().for_each(|key| findings.note(Fault::MissingText, || hex(key)));
    Ok(findings.finish())
}
