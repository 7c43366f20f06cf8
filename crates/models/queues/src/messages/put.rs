//! Put: a new message, behind all that are visible.

use super::{Growth, Stamp, current, put_visibility};
use crate::pop_receipt::Nonce;
use crate::record::{Body, Visibility};
use crate::row::Row;
use crate::spaces::MESSAGES;
use crate::{MessageId, MessageText, PopReceipt, Position, TimeToLive, VisibilityTimeout};
use orrery_core::Timestamp;
use orrery_kv::{Error, Txn};

#[derive(Clone, Debug)]
pub struct NewMessage {
    pub text: MessageText,
    /// Shorter than the time to live, see [`TimeToLive::outlasts`].
    pub visibility: VisibilityTimeout,
    pub time_to_live: TimeToLive,
}

/// A message that was put, with a receipt by which it can be updated or deleted before anyone gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    pub id: MessageId,
    pub inserted: Timestamp,
    pub expires: Option<Timestamp>,
    pub receipt: PopReceipt,
    pub next_visible: Timestamp,
}

/// `id` is new; its ordinal is above those of all messages before.
pub fn put(
    txn: &mut Txn<'_>,
    queue: u32,
    id: MessageId,
    new: &NewMessage,
    stamp: Stamp,
) -> Result<Accepted, Error> {
    let messages = current(txn, queue)?;
    let expires = new.time_to_live.ends(stamp.now);
    let at = Position { visible_at: new.visibility.ends(stamp.now), ordinal: id.ordinal() };
    let nonce = Nonce::first(stamp);
    let text_bytes = new.text.as_bytes().len() as u32;
    let row = Visibility { nonce, dequeue_count: 0, expires, id_salt: id.salt(), text_bytes };
    let body = Body { id_salt: id.salt(), inserted: stamp.now, expires, text: new.text.clone() };
    txn.put(MESSAGES, Row::Body(messages, id.ordinal()).key(), body.write());
    let receipt = put_visibility(txn, messages, at, &row);
    let mut growth = Growth::default();
    growth.add(text_bytes);
    growth.add_to(txn, messages);
    Ok(Accepted { id, inserted: stamp.now, expires, receipt, next_visible: at.visible_at })
}
