//! Expired messages that no get comes to: found in steps without a lock, removed in the scope of their queue.

use super::{Growth, current, remove};
use crate::Position;
use crate::leftovers::current_generation;
use crate::limits;
use crate::record::Visibility;
use crate::row::{self, Row};
use crate::spaces::MESSAGES;
use orrery_core::Timestamp;
use orrery_kv::{Error, Order, Read, Txn};

/// The expired messages among some rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpiryPage {
    pub expired: Vec<Position>,
    /// Where the next page begins, if there is one.
    pub next: Option<Position>,
}

/// Looks through the visibility rows from a position on, those of invisible messages too.
pub fn expired(state: &dyn Read, queue: u32, from: Position, now: Timestamp) -> Result<ExpiryPage, Error> {
    let messages = current_generation(state, queue)?;
    let (mut page, mut seen) = (ExpiryPage { expired: Vec::new(), next: None }, 0);
    for entry in state.range(MESSAGES, &messages.from(from), Order::Ascending) {
        let (key, value) = entry?;
        let at = row::read_position(&key)?;
        if seen == limits::EXPIRY_ROWS_MAX || page.expired.len() == limits::LEFTOVER_ROWS_MAX {
            page.next = Some(at);
            break;
        }
        seen += 1;
        if Visibility::read(&value)?.is_expired(now) {
            page.expired.push(at);
        }
    }
    Ok(page)
}

/// Removes messages that are still where they were found. Returns their number.
pub fn remove_expired(
    txn: &mut Txn<'_>,
    queue: u32,
    found: &[Position],
    now: Timestamp,
) -> Result<usize, Error> {
    let (messages, mut removed, mut growth) = (current(txn, queue)?, 0, Growth::default());
    for at in found {
        let stored = txn.get(MESSAGES, &Row::Visibility(messages, *at).key())?;
        let row = stored.map(|bytes| Visibility::read(&bytes)).transpose()?;
        if let Some(row) = row.filter(|row| row.is_expired(now)) {
            remove(txn, messages, *at, &row, &mut growth);
            removed += 1;
        }
    }
    if removed > 0 {
        growth.add_to(txn, messages);
        txn.frees();
    }
    Ok(removed)
}
