//! Delete: the holder of a message is done with it.

use super::held::held;
use super::{Growth, remove};
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
    let mut growth = Growth::default();
    remove(txn, held.messages, receipt.position, &held.row, &mut growth);
    growth.add_to(txn, held.messages);
    txn.frees();
    Ok(())
}
