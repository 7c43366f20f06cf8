//! Feeds of items: in creation order where there are few, otherwise in key order.

use super::creation_order::{CreationOrder, OrderStrategy};
use super::record::{ItemHead, ItemRow};
use crate::index::Locator;
use crate::limits;
use crate::spaces::DOCUMENTS;
use crate::{expiry, row};
use orrery_catalog::Container;
use orrery_core::Timestamp;
use orrery_keys::{Epk, Hashing};
use orrery_kv::{Error, KeyRange, Order, Read};
use orrery_query::execute::Limits;
use std::collections::HashMap;
use std::ops::ControlFlow;

/// Bytes of an effective partition key of version 2.
const HASH_BYTES: usize = 16;

/// Which items a feed covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FeedScope {
    /// One logical partition.
    Partition(Epk),
    /// Every item whose effective partition key is in `[min, max)`.
    Between(Epk, Epk),
}

#[derive(Debug, Default)]
pub struct Page {
    pub items: Vec<ItemRow>,
    /// Where the next page begins after, if there may be more: the key of the last row looked at, or a mark and the last number.
    pub more_after: Option<Vec<u8>>,
    /// Rows that were looked at, expired or not, and how much text they have.
    pub looked_at: usize,
    pub scanned: usize,
}

impl FeedScope {
    /// The logical partition that it is, also where a client says so by bounds that hold no other.
    pub(crate) fn partition(&self, container: &Container) -> Option<&Epk> {
        match self {
            FeedScope::Partition(epk) => Some(epk),
            FeedScope::Between(min, max) => {
                let is_point = container.hashing() == Hashing::HashV2 && min.as_bytes().len() == HASH_BYTES;
                (is_point && next(min.as_bytes()).as_deref() == Some(max.as_bytes())).then_some(min)
            }
        }
    }

    /// Its effective partition keys; a single one is named twice.
    pub(crate) fn area(&self) -> (Epk, Epk) {
        match self {
            FeedScope::Partition(epk) => (epk.clone(), epk.clone()),
            FeedScope::Between(min, max) => (min.clone(), max.clone()),
        }
    }

    pub(crate) fn range(&self, container: &Container) -> KeyRange {
        match self {
            FeedScope::Partition(epk) => row::items_of_partition(container.number(), epk.as_bytes()),
            FeedScope::Between(min, max) => {
                row::items_between(container.number(), min.as_bytes(), max.as_bytes())
            }
        }
    }
}

/// The byte string of the same length that comes next.
fn next(bytes: &[u8]) -> Option<Vec<u8>> {
    let last = bytes.iter().rposition(|byte| *byte != 0xff)?;
    let mut next = bytes.to_vec();
    next[last] += 1;
    next[last + 1..].fill(0);
    Some(next)
}

/// The id of the item with this ordinal: its locator row tells, or if it is not indexed, its whole partition.
pub fn id_of(
    state: &dyn Read,
    container: &Container,
    epk: &Epk,
    ordinal: u64,
) -> Result<Option<String>, Error> {
    if let Some(place) = Locator::of(state, container.number(), ordinal)? {
        return Ok((place.epk == epk.as_bytes()).then_some(place.id));
    }
    let range = row::items_of_partition(container.number(), epk.as_bytes());
    for row in state.range(DOCUMENTS, &range, Order::Ascending) {
        let (key, value) = row?;
        if ItemHead::read(value)?.ordinal() == ordinal {
            return Ok(row::read_item(&key).map(|(_, id)| id));
        }
    }
    Ok(None)
}

/// What a place in the order of creation begins with. No key does: its first bytes are the number of a container.
const BY_NUMBER: u8 = 0xff;

/// The next page after a place that the page before it gave. Stable under writes between pages: a place is a key or a number, not
/// a count; and a sequence of pages goes on in the order in which it began.
pub fn read_feed(
    state: &dyn Read,
    container: &Container,
    scope: &FeedScope,
    after: Option<&[u8]>,
    page: Limits,
    now: Timestamp,
) -> Result<Page, Error> {
    let (ranges, area) = ([scope.range(container)], [scope.area()]);
    let ordered = CreationOrder { state, container, ranges: &ranges, areas: Some(&area) };
    let mut reading = Reading { page, now, container, read: Page::default(), bytes: 0 };
    match after.map(number_of) {
        None => match ordered.strategy()? {
            Some(strategy) => reading.by_number(state, &ordered, strategy, 0)?,
            None => reading.by_key(state, ranges[0].clone())?,
        },
        Some(Some(number)) => {
            let strategy = ordered.resume_strategy()?;
            reading.by_number(state, &ordered, strategy, number.saturating_add(1))?;
        }
        Some(None) => {
            let next = [after.unwrap_or_default(), &[0]].concat();
            let range = KeyRange { start: ranges[0].start.clone().max(next), ..ranges[0].clone() };
            reading.by_key(state, range)?;
        }
    }
    Ok(reading.read)
}

/// The number in a place in the order of creation.
fn number_of(place: &[u8]) -> Option<u64> {
    match place.split_first()? {
        (&BY_NUMBER, number) => number.try_into().ok().map(u64::from_be_bytes),
        _ => None,
    }
}

/// A page being filled.
struct Reading<'a> {
    page: Limits,
    now: Timestamp,
    container: &'a Container,
    read: Page,
    /// Text of the items that it has.
    bytes: usize,
}

impl Reading<'_> {
    fn by_key(&mut self, state: &dyn Read, range: KeyRange) -> Result<(), Error> {
        let mut last = None;
        for row in state.range(DOCUMENTS, &range, Order::Ascending) {
            let (key, value) = row?;
            let item = ItemHead::read(value)?;
            if !self.take(state, item)? {
                self.read.more_after = last;
                return Ok(());
            }
            last = Some(key.to_vec());
        }
        Ok(())
    }

    fn by_number(
        &mut self,
        state: &dyn Read,
        ordered: &CreationOrder<'_>,
        strategy: OrderStrategy,
        from: u64,
    ) -> Result<(), Error> {
        let mut last = None;
        ordered.each(strategy, from, &mut |number, item| {
            if self.take(state, item)? {
                last = Some([&[BY_NUMBER][..], &number.to_be_bytes()].concat());
                return Ok(ControlFlow::Continue(()));
            }
            self.read.more_after = last.take();
            Ok(ControlFlow::Break(()))
        })
    }

    /// Whether the page had room for one more.
    fn take(&mut self, state: &dyn Read, item: ItemHead) -> Result<bool, Error> {
        let (page, length) = (&mut self.read, item.text_length());
        let overflows = !page.items.is_empty() && self.bytes + length > self.page.bytes;
        let tired =
            page.looked_at >= limits::PAGE_ROWS_SCANNED_MAX || page.scanned >= limits::PAGE_BYTES_SCANNED_MAX;
        if page.items.len() >= self.page.items || overflows || tired {
            return Ok(false);
        }
        page.looked_at += 1;
        page.scanned += length;
        if !expiry::is_expired(self.container, &item, self.now) {
            self.bytes += length;
            page.items.push(item.whole(state)?);
        }
        Ok(true)
    }
}

// The ids behind the numbers of a partition's items, for whoever asks for many of them.

/// The ids of a partition's items by their numbers, of as many as `max`.
pub fn ids_by_ordinal(
    state: &dyn Read,
    container: &Container,
    epk: &Epk,
    max: usize,
) -> Result<HashMap<u64, String>, Error> {
    let range = row::items_of_partition(container.number(), epk.as_bytes());
    let rows = state.range(DOCUMENTS, &range, Order::Ascending).take(max);
    let ids = rows.map(|row| {
        let (key, value) = row?;
        let (_, id) = row::read_item(&key).ok_or_else(|| Error::Corrupt("the key of an item".into()))?;
        Ok((ItemHead::read(value)?.ordinal(), id))
    });
    ids.collect()
}
