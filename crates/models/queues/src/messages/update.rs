//! Update: the holder of a message hides it for longer or shows it earlier, and may replace its text.

use super::held::held;
use super::{Growth, Stamp, body_of, put_visibility};
use crate::error::MessageError;
use crate::record::{Body, Visibility};
use crate::row::{Messages, Row};
use crate::spaces::MESSAGES;
use crate::{MessageId, MessageText, PopReceipt, Position, VisibilityTimeout};
use orrery_core::Timestamp;
use orrery_kv::{Error, Txn};

#[derive(Clone, Debug)]
pub struct Update {
    pub id: MessageId,
    pub receipt: PopReceipt,
    /// From now on.
    pub visibility: VisibilityTimeout,
    /// `None` keeps the text.
    pub text: Option<MessageText>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Updated {
    pub receipt: PopReceipt,
    pub next_visible: Timestamp,
}

/// Neither the count of gets nor the expiry changes.
pub fn update(txn: &mut Txn<'_>, queue: u32, update: &Update, stamp: Stamp) -> Result<Updated, MessageError> {
    let held = held(txn, queue, update.id, update.receipt, stamp.now)?;
    let next_visible = update.visibility.ends(stamp.now);
    if let Some(expires) = held.row.expires.filter(|at| *at < next_visible) {
        let seconds_left = expires.abs_diff(stamp.now).as_secs();
        return Err(MessageError::VisibilityAfterExpiry { seconds_left });
    }
    let mut text_bytes = held.row.text_bytes;
    if let Some(text) = &update.text {
        put_text(txn, held.messages, update.id, text)?;
        text_bytes = text.as_bytes().len() as u32;
        let mut growth = Growth::default();
        growth.replace(held.row.text_bytes, text_bytes);
        growth.add_to(txn, held.messages);
    }
    let from = update.receipt.position;
    txn.delete(MESSAGES, Row::Visibility(held.messages, from).key());
    let row = Visibility { nonce: held.row.nonce.next(stamp), text_bytes, ..held.row };
    let to = Position { visible_at: next_visible, ..from };
    Ok(Updated { receipt: put_visibility(txn, held.messages, to, &row), next_visible })
}

fn put_text(txn: &mut Txn<'_>, messages: Messages, id: MessageId, text: &MessageText) -> Result<(), Error> {
    let body = body_of(txn, messages, id.ordinal())?;
    let body = body.ok_or_else(|| Error::Corrupt("a message has no body".into()))?;
    let body = Body { text: text.clone(), ..body };
    txn.put(MESSAGES, Row::Body(messages, id.ordinal()).key(), body.write());
    Ok(())
}
