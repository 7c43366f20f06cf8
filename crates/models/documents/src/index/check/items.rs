//! The first way: from each item to the rows that it asks for.

use super::finding::{Fault, Findings, hex};
use super::rows::{Kind, RowCounts};
use super::tallies::CheckedTally;
use crate::expiry;
use crate::index::entry_writer::terms_under;
use crate::index::locator::Locator;
use crate::index::{DOCUMENTS, INDEXED, Terms};
use crate::item::{ItemRow, partition_key_of, unique_of};
use crate::limits;
use crate::partition::{self, PartitionSize};
use crate::row::{self, Row};
use crate::spaces::{self, INDEX, LOG};
use orrery_catalog::Container;
use orrery_catalog::change_log;
use orrery_catalog::jobs::{self, JobKind};
use orrery_kv::{Error, LogRecord, Order, Read};
use orrery_value::{Value, raw};

/// The items of a container, gone through in the order of their keys.
pub(super) struct Items<'a> {
    state: &'a dyn Read,
    container: &'a Container,
    findings: &'a mut Findings,
    counts: &'a mut RowCounts,
    items: u64,
    tally: CheckedTally,
    partition: Option<Partition>,
    /// While the expiry rows are made anew, some may be missing.
    has_expiry_rows: bool,
}

/// The partition whose items come just now.
struct Partition {
    epk: Vec<u8>,
    stored: PartitionSize,
    items: u64,
    bytes: u64,
    tally: CheckedTally,
}

/// An item and where it lies.
struct Found<'a> {
    epk: &'a [u8],
    id: &'a str,
    row: &'a ItemRow,
}

impl<'a> Items<'a> {
    pub fn new(
        state: &'a dyn Read,
        container: &'a Container,
        findings: &'a mut Findings,
        counts: &'a mut RowCounts,
    ) -> Result<Self, Error> {
        let tally = CheckedTally::new(state, &row::tally_key(container.number()), &[DOCUMENTS, INDEXED])?;
        let is_rebuilding = jobs::jobs(state)?.contains(&(JobKind::Expiry, container.number()));
        let (items, partition, has_expiry_rows) = (0, None, !is_rebuilding);
        Ok(Self { state, container, findings, counts, items, tally, partition, has_expiry_rows })
    }

    /// Says how many there are.
    pub fn go_through(mut self) -> Result<u64, Error> {
        let range = row::of_container(self.container.number());
        for found in self.state.range(spaces::DOCUMENTS, &range, Order::Ascending) {
            let (key, value) = found?;
            self.items += 1;
            self.tally.count(DOCUMENTS);
            match (row::read_item(&key), ItemRow::read(self.state, value)) {
                (Some((epk, id)), Ok(row)) => self.check(&Found { epk: &epk, id: &id, row: &row })?,
                _ => self.findings.note(Fault::DamagedItem, || hex(&key)),
            }
        }
        self.leave_partition();
        if self.tally.is_there {
            self.counts.hold(Kind::Tally);
        }
        self.tally.finish("the container", self.findings);
        Ok(self.items)
    }

    fn check(&mut self, found: &Found<'_>) -> Result<(), Error> {
        let is_large = self.count_in_partition(found)?;
        self.check_lies_right(found);
        self.check_logged(found)?;
        self.check_unique(found)?;
        self.check_expiry(found)?;
        self.check_indexed(found, is_large)
    }

    /// Trimming leaves the last change of an item that is there.
    fn check_logged(&mut self, found: &Found<'_>) -> Result<(), Error> {
        let commit = LogRecord::of_commit(change_log::stream(self.container.number()), found.row.lsn());
        match self.state.range(LOG, &commit, Order::Ascending).next().transpose()? {
            Some(_) => {}
            None => self.findings.note(Fault::UnloggedItem, || found.id.to_owned()),
        }
        Ok(())
    }

    /// Says whether the partition is a large one.
    fn count_in_partition(&mut self, found: &Found<'_>) -> Result<bool, Error> {
        if self.partition.as_ref().is_none_or(|partition| partition.epk != found.epk) {
            self.leave_partition();
            self.partition = Some(self.enter_partition(found.epk)?);
        }
        let Some(partition) = &mut self.partition else { return Ok(false) };
        partition.items += 1;
        partition.bytes += found.row.text_bytes().len() as u64;
        Ok(partition.stored.is_large)
    }

    fn enter_partition(&mut self, epk: &[u8]) -> Result<Partition, Error> {
        let number = self.container.number();
        // One that cannot be read is as wrong as one that says nothing.
        let stored = partition::size(self.state, number, epk).or_else(or_nothing)?;
        let key = Row::Tally { container: number, epk: Some(epk) }.key();
        let tally =
            if stored.is_large { CheckedTally::new(self.state, &key, &[])? } else { CheckedTally::default() };
        Ok(Partition { epk: epk.to_vec(), stored, items: 0, bytes: 0, tally })
    }

    fn leave_partition(&mut self) {
        let Some(Partition { epk, stored, items, bytes, tally }) = self.partition.take() else { return };
        let is_right = (stored.items, stored.bytes) == (items, bytes)
            && (stored.is_large || bytes < limits::PARTITION_LARGE_BYTES);
        let name = || format!("partition {}", hex(&epk));
        if !is_right {
            let say = || format!("{}, which holds {items} items and {bytes} bytes, has {stored:?}", name());
            self.findings.note(Fault::WrongSize, say);
        }
        if stored.items > 0 {
            self.counts.hold(Kind::Partition);
        }
        if tally.is_there {
            self.counts.hold(Kind::Tally);
        }
        tally.finish(&name(), self.findings);
    }

    fn check_lies_right(&mut self, found: &Found<'_>) {
        let text = found.row.text();
        let id = raw::member(text, "id").map_or(Value::Undefined, Value::read);
        let key = partition_key_of(self.container, text);
        let epk = orrery_keys::epk(self.container.hashing(), &key);
        let is_right = matches!(id, Value::String(id) if id == found.id) && epk.as_bytes() == found.epk;
        if !is_right {
            self.findings.note(Fault::MisplacedItem, || found.name());
        }
    }

    fn check_unique(&mut self, found: &Found<'_>) -> Result<(), Error> {
        let unique = unique_of(self.container, found.row.text());
        for (number, values) in unique.iter().enumerate() {
            let (container, key) = (self.container.number(), number as u8);
            let row = Row::Unique { container, epk: found.epk, key, values };
            match self.state.get(INDEX, &row.key())? {
                Some(holder) if *holder == *found.id.as_bytes() => self.counts.hold(Kind::Unique),
                _ => self.findings.note(Fault::MissingUnique, || format!("key {number} of {}", found.name())),
            }
        }
        Ok(())
    }

    fn check_expiry(&mut self, found: &Found<'_>) -> Result<(), Error> {
        let at = expiry::expires_at(self.container, found.row).filter(|_| self.has_expiry_rows);
        let Some(at) = at else { return Ok(()) };
        let row = Row::Expiry { container: self.container.number(), at, epk: found.epk, id: found.id };
        if self.state.get(INDEX, &row.key())?.is_none() {
            self.findings.note(Fault::MissingExpiry, || format!("{} at second {at}", found.name()));
        }
        Ok(())
    }

    fn check_indexed(&mut self, found: &Found<'_>, is_large: bool) -> Result<(), Error> {
        let number = self.container.number();
        let key = Row::Locator { container: number, ordinal: found.row.ordinal() }.key();
        let Some(stored) = self.state.get(INDEX, &key)? else { return self.check_not_indexed(found) };
        self.counts.hold(Kind::Locator);
        self.tally.count(INDEXED);
        let place =
            Locator::read(&stored).ok().filter(|place| place.epk == found.epk && place.id == found.id);
        let terms = place.and_then(|place| terms_under(self.container, place.generation, found.row).ok());
        match terms {
            Some(terms) => self.check_terms(found, &terms, is_large),
            None => {
                self.findings.note(Fault::WrongLocator, || found.name());
                Ok(())
            }
        }
    }

    /// An item without a locator row was left out of the index, and has no entries either.
    fn check_not_indexed(&mut self, found: &Found<'_>) -> Result<(), Error> {
        let terms = terms_under(self.container, self.container.generations().number(), found.row)?;
        for term in terms.iter() {
            if self.has_entry(found, term)? {
                self.findings.note(Fault::LostLocator, || found.name());
                break;
            }
        }
        Ok(())
    }

    fn check_terms(&mut self, found: &Found<'_>, terms: &Terms, is_large: bool) -> Result<(), Error> {
        for term in terms.iter() {
            let say = || format!("term {} of {}", hex(term), found.name());
            match self.has_entry(found, term)? {
                true => self.counts.hold(Kind::Entry),
                false => self.findings.note(Fault::MissingEntry, say),
            }
            if is_large {
                match self.has_local_entry(found, term)? {
                    true => self.counts.hold(Kind::LocalEntry),
                    false => self.findings.note(Fault::MissingLocalEntry, say),
                }
            }
        }
        for path in terms.path_numbers() {
            self.tally.count(path);
            if let Some(partition) = &mut self.partition {
                partition.tally.count(path);
            }
        }
        Ok(())
    }

    fn has_entry(&self, found: &Found<'_>, term: &[u8]) -> Result<bool, Error> {
        let (container, ordinal, epk) = (self.container.number(), found.row.ordinal(), found.epk);
        let key = Row::Entry { container, term, ordinal, epk }.key();
        Ok(self.state.get(INDEX, &key)?.is_some())
    }

    fn has_local_entry(&self, found: &Found<'_>, term: &[u8]) -> Result<bool, Error> {
        let (container, ordinal, epk) = (self.container.number(), found.row.ordinal(), found.epk);
        let key = Row::LocalEntry { container, epk, term, ordinal }.key();
        Ok(self.state.get(INDEX, &key)?.is_some())
    }
}

impl Found<'_> {
    fn name(&self) -> String {
        format!("item {:?} (number {})", self.id, self.row.ordinal())
    }
}

/// Damage in a row is found by what follows from it.
fn or_nothing(error: Error) -> Result<PartitionSize, Error> {
    match error {
        Error::Corrupt(_) => Ok(PartitionSize::default()),
        other => Err(other),
    }
}
