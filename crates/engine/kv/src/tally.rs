//! Counters that many writers change: each adds or subtracts, and the commit sums up.
//!
//! A tally is a row of numbered counts. No transaction reads it before it writes, so writers of
//! different partitions never wait for each other, and a group of commits writes each row once.

use crate::limits;
use crate::{Error, Put, Read, Space};
use bytes::Bytes;
use std::collections::{BTreeMap, HashMap};

/// Value of a tally row: number and count of each field, 8 bytes each, ordered by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally(Vec<(u64, u64)>);

/// Fields below this are always kept, however many others there are.
const KEPT: u64 = 16;

/// A change of one count of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub space: Space,
    pub key: Bytes,
    pub field: u64,
    pub by: i64,
}

impl Tally {
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let (words, rest) = bytes.as_chunks();
        let (pairs, odd) = words.as_chunks::<2>();
        if !rest.is_empty() || !odd.is_empty() {
            return Err(Error::Corrupt(format!("a tally's row has {} bytes", bytes.len())));
        }
        let fields: Vec<(u64, u64)> = pairs.iter().map(|pair| pair.map(u64::from_be_bytes).into()).collect();
        if !fields.is_sorted_by(|a, b| a.0 < b.0) {
            return Err(Error::Corrupt("a tally's fields are out of order".to_owned()));
        }
        Ok(Self(fields))
    }

    /// The tally stored in a row; empty if there is none.
    pub fn of(state: &dyn Read, space: Space, key: &[u8]) -> Result<Self, Error> {
        state.get(space, key)?.map_or(Ok(Self::default()), |bytes| Self::read(&bytes))
    }

    /// A count; 0 if it is not kept. A row has a limited number of fields, so a count may be too
    /// small.
    pub fn get(&self, field: u64) -> u64 {
        self.place(field).map_or(0, |at| self.0[at].1)
    }

    fn write(&self) -> Option<Bytes> {
        let pairs = self.0.iter().flat_map(|(field, count)| [field.to_be_bytes(), count.to_be_bytes()]);
        let bytes: Vec<u8> = pairs.flatten().collect();
        (!bytes.is_empty()).then(|| Bytes::from(bytes))
    }

    fn add(&mut self, field: u64, by: i64) {
        match self.place(field) {
            Ok(at) => {
                let count = &mut self.0[at].1;
                *count = count.saturating_add_signed(by);
                if *count == 0 {
                    self.0.remove(at);
                }
            }
            Err(at) if by > 0 && (field < KEPT || self.0.len() < limits::TALLY_FIELDS_MAX) => {
                self.0.insert(at, (field, by.unsigned_abs()));
            }
            Err(_) => {}
        }
    }

    /// Position of a field, or where it would be inserted.
    fn place(&self, field: u64) -> Result<usize, usize> {
        self.0.binary_search_by_key(&field, |(field, _)| *field)
    }
}

/// The rows as last written.
#[derive(Default)]
pub(crate) struct Tallies(HashMap<(Space, Bytes), Tally>);

impl Tallies {
    /// The rows after the changes of a group.
    pub fn changed(&mut self, changes: Vec<Change>, state: &dyn Read) -> Result<Vec<Put>, Error> {
        let mut by_row: BTreeMap<(Space, Bytes), Vec<(u64, i64)>> = BTreeMap::new();
        for Change { space, key, field, by } in changes {
            by_row.entry((space, key)).or_default().push((field, by));
        }
        if self.0.len() + by_row.len() > limits::TALLIES_CACHED_MAX {
            self.0.clear();
        }
        let puts = by_row.into_iter().map(|((space, key), changes)| {
            let tally = match self.0.entry((space, key.clone())) {
                std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
                std::collections::hash_map::Entry::Vacant(place) => {
                    place.insert(Tally::of(state, space, &key)?)
                }
            };
            changes.into_iter().for_each(|(field, by)| tally.add(field, by));
            Ok(Put { space, key, value: tally.write() })
        });
        puts.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_bytes_are_these() {
        let mut tally = Tally::default();
        tally.add(2, 5);
        tally.add(1, 1);
        let bytes = tally.write().expect("not empty");
        assert_eq!(
            bytes[..],
            [[0, 0, 0, 0, 0, 0, 0, 1u8]; 2].concat()[..]
                .iter()
                .copied()
                .chain([0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 5])
                .collect::<Vec<_>>()[..]
        );
        assert_eq!(Tally::read(&bytes), Ok(tally));
        assert!(Tally::read(&bytes[..20]).is_err());
        assert!(Tally::read(&[&bytes[16..], &bytes[..16]].concat()).is_err());
    }

    #[test]
    fn a_count_that_reaches_nothing_is_gone() {
        let mut tally = Tally::default();
        tally.add(7, 2);
        tally.add(7, -2);
        assert_eq!(tally.write(), None);
        tally.add(7, -1);
        assert_eq!(tally.get(7), 0);
    }

    #[test]
    fn fields_beyond_the_limit_are_not_kept() {
        let mut tally = Tally::default();
        let last = 100 + limits::TALLY_FIELDS_MAX as u64;
        (100..=last).for_each(|field| tally.add(field, 1));
        assert_eq!(tally.get(last), 0);
        tally.add(100, 1);
        assert_eq!(tally.get(100), 2);
        tally.add(1, 1);
        assert_eq!(tally.get(1), 1, "the first fields are always kept");
    }
}
