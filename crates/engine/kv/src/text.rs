//! Where a text lies: the LSN of the commit that brought it, and its number there.
//!
//! A text is written once and never changed, and every new one lies behind all others. So the engine's files of new texts
//! do not overlap, and it moves them down its levels as they are, without copying.

use crate::{Error, KeyRange, Order, Read, Space};
use bytes::Bytes;
use orrery_core::Lsn;

pub fn text_key(lsn: Lsn, number: u32) -> Bytes {
    let mut key = [0; 12];
    key[..8].copy_from_slice(&lsn.0.to_be_bytes());
    key[8..].copy_from_slice(&number.to_be_bytes());
    Bytes::copy_from_slice(&key)
}

/// The newest commit that has a text; 0 if none has.
pub(crate) fn newest(state: &dyn Read) -> Result<Lsn, Error> {
    let last = state.range(Space::Texts, &KeyRange::all(), Order::Descending).next().transpose()?;
    let lsn = last.and_then(|(key, _)| key.first_chunk().map(|lsn| u64::from_be_bytes(*lsn)));
    Ok(Lsn(lsn.unwrap_or(0)))
}
