//! Puts on top of a snapshot: what a transaction wrote, or what waits for the disk.

use crate::{KeyRange, Order, Put, Row, Rows, Space};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::iter::Peekable;
use std::ops::Bound;

#[derive(Clone, Debug, Default)]
pub struct Overlay {
    spaces: [BTreeMap<Bytes, Option<Bytes>>; Space::COUNT_MAX],
}

impl Overlay {
    /// `None`: the overlay has nothing for this key. `Some(None)`: the overlay removes it.
    pub fn get(&self, space: Space, key: &[u8]) -> Option<&Option<Bytes>> {
        self.spaces[space.index()].get(key)
    }

    pub fn put(&mut self, put: &Put) {
        self.spaces[put.space.index()].insert(put.key.clone(), put.value.clone());
    }

    pub fn insert(&mut self, space: Space, key: Bytes, value: Option<Bytes>) {
        self.spaces[space.index()].insert(key, value);
    }

    pub fn clear(&mut self) {
        for space in &mut self.spaces {
            space.clear();
        }
    }

    pub fn is_empty(&self) -> bool {
        self.spaces.iter().all(BTreeMap::is_empty)
    }

    /// The puts of a range, in ascending order.
    pub(crate) fn entries(&self, space: Space, range: &KeyRange) -> BTreeMap<Bytes, Option<Bytes>> {
        in_range(&self.spaces[space.index()], range)
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    }
}

/// `BTreeMap::range` without its panic: a range that ends before it starts is empty.
pub(crate) fn in_range<'a, V>(
    map: &'a BTreeMap<Bytes, V>,
    range: &KeyRange,
) -> impl Iterator<Item = (&'a Bytes, &'a V)> + use<'a, V> {
    let end = range.end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
    let bounds = (Bound::Included(range.start.as_slice()), end);
    let wanted = (!range.is_empty()).then(|| map.range::<[u8], _>(bounds));
    wanted.into_iter().flatten()
}

/// The rows of `under` with the puts of `over` on top. `over` has the same order, and each key
/// once.
pub fn overlaid<'a>(
    under: Rows<'a>,
    over: impl Iterator<Item = (Bytes, Option<Bytes>)> + 'a,
    order: Order,
) -> Rows<'a> {
    let mut over = over.peekable();
    if over.peek().is_none() {
        return under;
    }
    Box::new(Merge { under: under.peekable(), over, order })
}

struct Merge<'a, O: Iterator> {
    under: Peekable<Rows<'a>>,
    over: Peekable<O>,
    order: Order,
}

impl<O: Iterator<Item = (Bytes, Option<Bytes>)>> Merge<'_, O> {
    /// Whether the next row of `under` comes strictly before the next one of `over`.
    fn under_is_first(&mut self) -> Option<bool> {
        let under = match self.under.peek() {
            None => return self.over.peek().map(|_| false),
            Some(Err(_)) => return Some(true),
            Some(Ok((key, _))) => key,
        };
        let Some((over, _)) = self.over.peek() else { return Some(true) };
        Some(match self.order {
            Order::Ascending => under < over,
            Order::Descending => under > over,
        })
    }
}

impl<O: Iterator<Item = (Bytes, Option<Bytes>)>> Iterator for Merge<'_, O> {
    type Item = Result<Row, crate::Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.under_is_first()? {
                return self.under.next();
            }
            let (key, value) = self.over.next()?;
            self.under.next_if(|row| matches!(row, Ok((under, _)) if *under == key));
            if let Some(value) = value {
                return Some(Ok((key, value)));
            }
        }
    }
}
