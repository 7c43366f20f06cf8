//! What waits in a queue, for whoever watches it.

use super::body_of;
use super::get::scan;
use crate::leftovers::current_generation;
use crate::{MessageCount, MessageId, Position};
use orrery_core::Timestamp;
use orrery_kv::{Error, Read};

/// Since when the first visible message is visible; nothing if none is, or more expired ones than a get removes are before
/// it. `from` is a position before which there is nothing.
pub fn waiting_since(
    state: &dyn Read,
    queue: u32,
    from: Position,
    now: Timestamp,
) -> Result<Option<Timestamp>, Error> {
    let messages = current_generation(state, queue)?;
    let visible = scan(state, messages, from, MessageCount::ONE, now)?;
    Ok(visible.found.first().map(|(at, _)| at.visible_at))
}

/// Whether a message is still in its queue, visible or not.
pub fn is_there(state: &dyn Read, queue: u32, id: MessageId, now: Timestamp) -> Result<bool, Error> {
    let messages = current_generation(state, queue)?;
    let body = body_of(state, messages, id.ordinal())?;
    Ok(body.is_some_and(|body| body.id_salt == id.salt() && !body.is_expired(now)))
}
