//! Keys of out-of-line values: the LSN of the commit, and the value's number in it.
//!
//! A value is written once and never changed, and new keys are larger than all existing ones. So
//! new files do not overlap old ones, and the engine moves them down its levels without copying.

use crate::{Error, KeyRange, Order, Read, Space};
use bytes::Bytes;
use orrery_core::Lsn;

pub fn overflow_key(lsn: Lsn, number: u32) -> Bytes {
    let mut key = [0; 12];
    key[..8].copy_from_slice(&lsn.0.to_be_bytes());
    key[8..].copy_from_slice(&number.to_be_bytes());
    Bytes::copy_from_slice(&key)
}

/// The newest commit with an out-of-line value in a space; 0 if there is none.
pub(crate) fn newest(state: &dyn Read, space: Space) -> Result<Lsn, Error> {
    let last = state.range(space, &KeyRange::all(), Order::Descending).next().transpose()?;
    let lsn = last.and_then(|(key, _)| key.first_chunk().map(|lsn| u64::from_be_bytes(*lsn)));
    Ok(Lsn(lsn.unwrap_or(0)))
}
