//! The message that a pop receipt opens.

use super::{body_of, current};
use crate::error::MessageError;
use crate::record::Visibility;
use crate::row::{Messages, Row};
use crate::spaces::MESSAGES;
use crate::{MessageId, PopReceipt};
use orrery_core::Timestamp;
use orrery_kv::{Error, Read, Txn};

pub(super) struct Held {
    pub messages: Messages,
    pub row: Visibility,
}

/// A receipt is good until the message is got or updated again, deleted or expired; that the message has become
/// visible does not matter.
pub(super) fn held(
    txn: &mut Txn<'_>,
    queue: u32,
    id: MessageId,
    receipt: PopReceipt,
    now: Timestamp,
) -> Result<Held, MessageError> {
    let messages = current(txn, queue)?;
    if let Some(row) = opened(txn, messages, id, receipt)? {
        return if row.is_expired(now) { Err(MessageError::NotFound) } else { Ok(Held { messages, row }) };
    }
    let body = body_of(txn, messages, id.ordinal())?;
    let exists = body.is_some_and(|body| body.id_salt == id.salt() && !body.is_expired(now));
    Err(if exists { MessageError::PopReceiptMismatch } else { MessageError::NotFound })
}

fn opened(
    state: &dyn Read,
    messages: Messages,
    id: MessageId,
    receipt: PopReceipt,
) -> Result<Option<Visibility>, Error> {
    if receipt.position.ordinal != id.ordinal() {
        return Ok(None);
    }
    let stored = state.get(MESSAGES, &Row::Visibility(messages, receipt.position).key())?;
    let row = stored.map(|bytes| Visibility::read(&bytes)).transpose()?;
    Ok(row.filter(|row| row.nonce == receipt.nonce && row.id_salt == id.salt()))
}
