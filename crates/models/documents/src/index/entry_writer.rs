//! Maintains an item's index entries in the transaction that writes the item.
//!
//! What is written is what changed: terms that an item had before and has now are left alone.

use super::locator::Locator;
use super::terms::{Terms, terms};
use super::{DOCUMENTS, INDEXED};
use crate::item::ItemRow;
use crate::limits;
use crate::row::{self, Row};
use crate::spaces::{self, INDEX};
use bytes::Bytes;
use orrery_catalog::Container;
use orrery_keys::KeyBuf;
use orrery_kv::{Error, META, Order, Read, Txn};
use std::cmp::Ordering;
use std::mem;

/// What an entry's key has, mostly.
const KEY_BYTES_USUAL: usize = 48;

/// An item's place in the indexes, while its transaction runs.
pub(crate) struct EntryWriter<'a> {
    pub container: &'a Container,
    pub epk: &'a [u8],
    pub id: &'a str,
    pub ordinal: u64,
    pub is_large: bool,
}

impl EntryWriter<'_> {
    /// Changes an item's entries from those of `old` to those of `new`, which is not indexed if it is `None` or has too
    /// many. Says how many were written or removed.
    pub fn replace(
        &self,
        txn: &mut Txn<'_>,
        old: Option<&ItemRow>,
        new: Option<&ItemRow>,
    ) -> Result<u64, Error> {
        orrery_core::tour_step!();
        let number = self.container.number();
        let generations = self.container.generations();
        let place = match old {
            Some(_) => Locator::of(txn, number, self.ordinal)?,
            None => None,
        };
        let before = match (old, &place) {
            (Some(old), Some(place)) => stored_terms(txn, self.container, place, old)?,
            _ => Terms::default(),
        };
        let after = new.map(|new| terms(generations.rules(), new.text(), new.written()));
        // Left out like one whose request asked for it: its container is scanned while it is there.
        let after = after.filter(|after| after.len() <= limits::INDEX_TERMS_MAX);
        let new = new.filter(|_| after.is_some());
        let after = after.unwrap_or_default();
        let changed = self.put_difference(txn, &before, &after);
        match (&place, new) {
            (Some(place), Some(_)) if place.generation == generations.number() => {}
            (_, Some(_)) => Locator::put(txn, number, self.ordinal, generations.number(), self.epk, self.id),
            (Some(_), None) => {
                txn.delete(INDEX, Row::Locator { container: number, ordinal: self.ordinal }.key())
            }
            (None, None) => {}
        }
        self.tally(txn, INDEXED, i64::from(new.is_some()) - i64::from(place.is_some()));
        self.tally_paths(txn, &before, &after);
        Ok(changed)
    }

    /// Counts an item that comes or goes.
    pub fn count_item(&self, txn: &mut Txn<'_>, by: i64) {
        self.tally(txn, DOCUMENTS, by);
    }

    fn put_difference(&self, txn: &mut Txn<'_>, before: &Terms, after: &Terms) -> u64 {
        let mut entries = EntryKeys::with_capacity(before.len() + after.len());
        let mut changed = 0;
        each_difference(before.iter(), after.iter(), |term, is_new| {
            entries.add(is_new, |keys| self.entry(keys, term));
            if self.is_large {
                entries.add(is_new, |keys| self.local_entry(keys, term));
            }
            changed += 1;
        });
        entries.put(txn);
        changed
    }

    fn tally_paths(&self, txn: &mut Txn<'_>, before: &Terms, after: &Terms) {
        // One key for all paths: a clone of it is cheaper than a key each.
        let key = Bytes::copy_from_slice(&row::tally_key(self.container.number()));
        each_difference(before.path_numbers(), after.path_numbers(), |path, is_new| {
            let by = if is_new { 1 } else { -1 };
            txn.tally(INDEX, key.clone(), path, by);
            if self.is_large {
                txn.tally(INDEX, self.partition_tally(), path, by);
            }
        });
    }

    fn tally(&self, txn: &mut Txn<'_>, field: u64, by: i64) {
        if by != 0 {
            txn.tally(INDEX, Bytes::copy_from_slice(&row::tally_key(self.container.number())), field, by);
        }
    }

    fn entry(&self, keys: KeyBuf, term: &[u8]) -> KeyBuf {
        row::entry(keys, self.container.number(), term, self.ordinal, self.epk)
    }

    fn local_entry(&self, keys: KeyBuf, term: &[u8]) -> KeyBuf {
        row::local_entry(keys, self.container.number(), self.epk, term, self.ordinal)
    }

    fn partition_tally(&self) -> Bytes {
        Row::Tally { container: self.container.number(), epk: Some(self.epk) }.key()
    }
}

/// Entries that come or go. Their keys lie in one piece of memory, as an item has many.
struct EntryKeys {
    keys: KeyBuf,
    /// Where each key ends, and whether its entry comes.
    ends: Vec<(usize, bool)>,
}

impl EntryKeys {
    /// For about so many.
    fn with_capacity(count: usize) -> Self {
        Self { keys: KeyBuf::with_capacity(count * KEY_BYTES_USUAL), ends: Vec::with_capacity(count) }
    }

    fn add(&mut self, is_new: bool, write: impl FnOnce(KeyBuf) -> KeyBuf) {
        self.keys = write(mem::take(&mut self.keys));
        self.ends.push((self.keys.as_bytes().len(), is_new));
    }

    fn put(self, txn: &mut Txn<'_>) {
        let mut keys = Bytes::from(self.keys.finish());
        let mut start = 0;
        for (end, is_new) in self.ends {
            txn.put_blind(INDEX, keys.split_to(end - start), is_new.then(Bytes::new));
            start = end;
        }
    }
}

/// The terms of an item as it was entered under a generation of the policy.
pub(super) fn terms_under(container: &Container, generation: u8, item: &ItemRow) -> Result<Terms, Error> {
    let rules = container.generations().of(generation);
    let rules = rules.ok_or_else(|| Error::Corrupt(format!("an item of index generation {generation}")))?;
    Ok(terms(rules, item.text(), item.written()))
}

/// The same for a transaction. If the picture of the container that it goes by is an old one, the item may be of a
/// generation that it does not know; then nothing it writes matters, because its commit is refused.
fn stored_terms(
    txn: &Txn<'_>,
    container: &Container,
    place: &Locator,
    item: &ItemRow,
) -> Result<Terms, Error> {
    if container.generations().of(place.generation).is_none()
        && txn.get(META, container.alive_key())? != Some(container.alive_value())
    {
        return Ok(Terms::default());
    }
    terms_under(container, place.generation, item)
}

/// Gives the items of a partition that has become large entries of their own.
pub(crate) fn add_local_entries(txn: &mut Txn<'_>, container: &Container, epk: &[u8]) -> Result<(), Error> {
    let range = row::items_of_partition(container.number(), epk);
    let items: Vec<Bytes> = txn
        .range(spaces::DOCUMENTS, &range, Order::Ascending)
        .map(|row| row.map(|(_, value)| value))
        .collect::<Result<_, _>>()?;
    for value in items {
        let item = ItemRow::read(txn, value)?;
        let Some(place) = Locator::of(txn, container.number(), item.ordinal())? else { continue };
        let (id, ordinal) = (&*place.id, item.ordinal());
        let writer = EntryWriter { container, epk, id, ordinal, is_large: true };
        let terms = stored_terms(txn, container, &place, &item)?;
        let mut entries = EntryKeys::with_capacity(terms.len());
        terms.iter().for_each(|term| entries.add(true, |keys| writer.local_entry(keys, term)));
        entries.put(txn);
        let tally = writer.partition_tally();
        terms.path_numbers().for_each(|path| txn.tally(INDEX, tally.clone(), path, 1));
    }
    Ok(())
}

/// Goes along two sorted lists, and tells what only one of them has: `true` for the second.
fn each_difference<T: Ord>(
    before: impl Iterator<Item = T>,
    after: impl Iterator<Item = T>,
    mut tell: impl FnMut(T, bool),
) {
    let (mut before, mut after) = (before.peekable(), after.peekable());
    loop {
        let order = match (before.peek(), after.peek()) {
            (None, None) => return,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(old), Some(new)) => old.cmp(new),
        };
        if order.is_le()
            && let Some(old) = before.next()
            && order.is_lt()
        {
            tell(old, false);
        }
        if order.is_ge()
            && let Some(new) = after.next()
            && order.is_gt()
        {
            tell(new, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn a_difference_turns_one_list_into_the_other(
            before in prop::collection::btree_set(0u8..30, 0..20),
            after in prop::collection::btree_set(0u8..30, 0..20),
        ) {
            let (mut turned, mut told) = (before.clone(), 0);
            each_difference(before.iter(), after.iter(), |item, is_new| {
                told += 1;
                assert!(if is_new { turned.insert(*item) } else { turned.remove(item) });
            });
            prop_assert_eq!(&turned, &after);
            let differ: BTreeSet<_> = before.symmetric_difference(&after).collect();
            prop_assert_eq!(told, differ.len());
        }
    }
}
