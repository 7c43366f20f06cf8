//! Pages of items in key order: by partition, then by id.

use super::record::{ItemHead, ItemRow};
use crate::catalog::Container;
use crate::index::Place;
use crate::{expiry, row};
use orrery_core::{Timestamp, limits};
use orrery_keys::{Epk, Hashing};
use orrery_kv::{Error, KeyRange, Order, Read, Space};
use orrery_query::execute::Limits;

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

#[derive(Debug)]
pub struct Page {
    pub items: Vec<ItemRow>,
    /// The key of the last row looked at, if there may be more: where the next page begins after.
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

/// The id of the item with this ordinal: its place row tells, or if it is not indexed, its whole partition.
pub fn id_of(
    state: &dyn Read,
    container: &Container,
    epk: &Epk,
    ordinal: u64,
) -> Result<Option<String>, Error> {
    if let Some(place) = Place::of(state, container.number(), ordinal)? {
        return Ok((place.epk == epk.as_bytes()).then_some(place.id));
    }
    let range = row::items_of_partition(container.number(), epk.as_bytes());
    for row in state.range(Space::Documents, &range, Order::Ascending) {
        let (key, value) = row?;
        if ItemHead::read(value)?.ordinal() == ordinal {
            return Ok(row::read_item(&key).map(|(_, id)| id));
        }
    }
    Ok(None)
}

/// The next page after the key `after`. Stable under writes between pages: a position is a key, not a count.
pub fn read_feed(
    state: &dyn Read,
    container: &Container,
    scope: &FeedScope,
    after: Option<&[u8]>,
    page: Limits,
    now: Timestamp,
) -> Result<Page, Error> {
    let mut range = scope.range(container);
    if let Some(after) = after {
        let next = [after, &[0]].concat();
        range.start = range.start.max(next);
    }
    let (mut items, mut bytes, mut looked_at, mut scanned) = (Vec::new(), 0, 0, 0);
    let mut last = None;
    for row in state.range(Space::Documents, &range, Order::Ascending) {
        let (key, value) = row?;
        let item = ItemHead::read(value)?;
        let overflows = !items.is_empty() && bytes + item.text_length() > page.bytes;
        let tired = looked_at >= limits::PAGE_ROWS_SCANNED_MAX || scanned >= limits::PAGE_BYTES_SCANNED_MAX;
        if items.len() >= page.items || overflows || tired {
            return Ok(Page { items, more_after: last, looked_at, scanned });
        }
        looked_at += 1;
        scanned += item.text_length();
        last = Some(key.to_vec());
        if !expiry::is_expired(container, &item, now) {
            bytes += item.text_length();
            items.push(item.whole(state)?);
        }
    }
    Ok(Page { items, more_after: None, looked_at, scanned })
}
