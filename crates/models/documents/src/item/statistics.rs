//! How many items each range of a container holds, and how large they are.

use super::record::ItemHead;
use crate::limits;
use crate::spaces::DOCUMENTS;
use crate::{expiry, row};
use orrery_catalog::Container;
use orrery_core::Timestamp;
use orrery_kv::{Error, Order, Read};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statistics {
    pub range: u32,
    pub items: u64,
    pub bytes: u64,
}

/// Counted row by row; a range larger than a page may look at is counted so far, and no further.
pub fn statistics(state: &dyn Read, container: &Container, now: Timestamp) -> Result<Vec<Statistics>, Error> {
    container.ranges().leaves().iter().map(|range| count(state, container, range, now)).collect()
}

fn count(
    state: &dyn Read,
    container: &Container,
    range: &crate::ranges::Range,
    now: Timestamp,
) -> Result<Statistics, Error> {
    let keys = row::items_between(container.number(), range.min.as_bytes(), range.max.as_bytes());
    let mut counted = Statistics { range: range.id, items: 0, bytes: 0 };
    for row in state.range(DOCUMENTS, &keys, Order::Ascending).take(limits::PAGE_ROWS_SCANNED_MAX) {
        let item = ItemHead::read(row?.1)?;
        if !expiry::is_expired(container, &item, now) {
            counted.items += 1;
            counted.bytes += item.text_length() as u64;
        }
    }
    Ok(counted)
}
