//! Get: takes the first visible messages and hides them for a while.

use super::{Growth, Message, ReceivedMessage, Stamp, current, message_of, put_visibility, remove};
use crate::leftovers::current_generation;
use crate::limits;
use crate::record::Visibility;
use crate::row::{self, Messages, Row};
use crate::spaces::MESSAGES;
use crate::{MessageCount, Position, VisibilityTimeout};
use orrery_core::Timestamp;
use orrery_kv::{Error, Order, Read, Txn};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Got {
    pub messages: Vec<ReceivedMessage>,
    /// Nothing before it is left once this is committed, unless it is inserted later.
    pub head: Position,
    /// More expired messages were in the way than one transaction removes: there may be others behind them.
    pub is_cut: bool,
}

/// `from` is a position before which there is nothing. Expired messages on the way are removed.
pub fn get(
    txn: &mut Txn<'_>,
    queue: u32,
    from: Position,
    wanted: MessageCount,
    hidden: VisibilityTimeout,
    stamp: Stamp,
) -> Result<Got, Error> {
    let messages = current(txn, queue)?;
    txn.frees();
    let visible = scan(txn, messages, from, wanted, stamp.now)?;
    let mut growth = Growth::default();
    visible.expired.iter().for_each(|(at, row)| remove(txn, messages, *at, row, &mut growth));
    growth.add_to(txn, messages);
    let taken = visible.found.iter().map(|(at, row)| hide(txn, messages, *at, row, hidden, stamp));
    let taken = taken.collect::<Result<Vec<_>, _>>()?;
    Ok(Got { messages: taken, head: visible.end, is_cut: visible.is_cut })
}

/// Moves a message to where it becomes visible again.
fn hide(
    txn: &mut Txn<'_>,
    messages: Messages,
    from: Position,
    row: &Visibility,
    hidden: VisibilityTimeout,
    stamp: Stamp,
) -> Result<ReceivedMessage, Error> {
    let row = Visibility {
        nonce: row.nonce.next(stamp),
        dequeue_count: row.dequeue_count.saturating_add(1),
        ..*row
    };
    let message: Message = message_of(txn, messages, from.ordinal, &row)?;
    let to = Position { visible_at: hidden.ends(stamp.now), ..from };
    txn.delete(MESSAGES, Row::Visibility(messages, from).key());
    let receipt = put_visibility(txn, messages, to, &row);
    Ok(ReceivedMessage { message, receipt, next_visible: to.visible_at })
}

/// The position of the first visible message, expired or not, or the end of all that is visible.
pub fn first_visible(
    state: &dyn Read,
    queue: u32,
    from: Position,
    now: Timestamp,
) -> Result<Position, Error> {
    let end = Position::after(now);
    let range = current_generation(state, queue)?.between(from, end);
    let first = state.range(MESSAGES, &range, Order::Ascending).next().transpose()?;
    first.map_or(Ok(end), |(key, _)| row::read_position(&key))
}

/// The first visible messages.
pub(super) struct Visible {
    pub found: Vec<(Position, Visibility)>,
    pub expired: Vec<(Position, Visibility)>,
    /// All visible messages before it are found or expired.
    pub end: Position,
    pub is_cut: bool,
}

/// Reads only rows that are found or expired: the range ends at `now`, and the scan as soon as it has enough.
pub(super) fn scan(
    state: &dyn Read,
    messages: Messages,
    from: Position,
    wanted: MessageCount,
    now: Timestamp,
) -> Result<Visible, Error> {
    let (found, expired, end) = (Vec::new(), Vec::new(), Position::after(now));
    let mut visible = Visible { found, expired, end, is_cut: false };
    for entry in state.range(MESSAGES, &messages.between(from, end), Order::Ascending) {
        let (key, value) = entry?;
        let (at, row) = (row::read_position(&key)?, Visibility::read(&value)?);
        if row.is_expired(now) {
            visible.expired.push((at, row));
        } else {
            visible.found.push((at, row));
        }
        visible.is_cut = visible.expired.len() == limits::EXPIRED_PER_GET_MAX;
        if visible.is_cut || visible.found.len() == wanted.get() {
            visible.end = at.next();
            break;
        }
    }
    Ok(visible)
}
