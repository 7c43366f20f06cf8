//! Peek: shows the first visible messages and changes nothing.

use super::get::scan;
use super::{Message, message_of};
use crate::leftovers::current_generation;
use crate::{MessageCount, Position};
use orrery_core::Timestamp;
use orrery_kv::{Error, Read};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peeked {
    pub messages: Vec<Message>,
    /// More expired messages were in the way than one peek passes over: there may be others from here on.
    pub rest: Option<Position>,
}

/// `from` is a position before which there is nothing.
pub fn peek(
    state: &dyn Read,
    queue: u32,
    from: Position,
    wanted: MessageCount,
    now: Timestamp,
) -> Result<Peeked, Error> {
    let messages = current_generation(state, queue)?;
    let visible = scan(state, messages, from, wanted, now)?;
    let shown = visible.found.iter().map(|(at, row)| message_of(state, messages, at.ordinal, row));
    let rest = visible.is_cut.then_some(visible.end);
    Ok(Peeked { messages: shown.collect::<Result<_, _>>()?, rest })
}
