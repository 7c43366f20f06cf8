//! Delete: the holder of a message is done with it.

use super::held::held;
use super::{count, remove};
use crate::error::MessageError;
use crate::{MessageId, PopReceipt};
use orrery_core::Timestamp;
use orrery_kv::Txn;

pub fn delete(
    txn: &mut Txn<'_>,
    queue: u32,
    id: MessageId,
    receipt: PopReceipt,
    now: Timestamp,
) -> Result<(), MessageError> {
    let held = held(txn, queue, id, receipt, now)?;
    remove(txn, held.messages, receipt.position);
    count(txn, held.messages, -1);
    txn.frees();
    Ok(())
}
