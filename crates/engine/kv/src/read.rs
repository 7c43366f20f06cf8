//! Reads: point gets and ordered ranges, the same on an engine's view, a snapshot or a transaction.

use crate::{Error, LogRecord, Space};
use bytes::Bytes;

/// A key and its value.
pub type Row = (Bytes, Bytes);
/// Rows in order, read lazily.
pub type Rows<'a> = Box<dyn Iterator<Item = Result<Row, Error>> + 'a>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Ascending,
    Descending,
}

/// Keys from `start` up to, but not including, `end`; without an `end`, up to the end of the space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    pub start: Vec<u8>,
    pub end: Option<Vec<u8>>,
}

impl KeyRange {
    pub fn new(start: Vec<u8>, end: Vec<u8>) -> Self {
        Self { start, end: Some(end) }
    }

    pub fn all() -> Self {
        Self { start: Vec::new(), end: None }
    }

    /// Every key that begins with `prefix`.
    pub fn prefix(prefix: &[u8]) -> Self {
        Self { start: prefix.to_vec(), end: orrery_keys::prefix_end(prefix) }
    }

    pub fn contains(&self, key: &[u8]) -> bool {
        key >= self.start.as_slice() && self.end.as_deref().is_none_or(|end| key < end)
    }

    pub fn is_empty(&self) -> bool {
        self.end.as_deref().is_some_and(|end| self.start.as_slice() >= end)
    }
}

pub trait Read {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, Error>;
    fn range(&self, space: Space, range: &KeyRange, order: Order) -> Rows<'_>;

    /// The streams that a log has entries of, in order.
    fn streams(&self, log: Space) -> Result<Vec<u64>, Error> {
        LogRecord::streams(|range| self.range(log, range, Order::Ascending).next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_covers_exactly_its_keys() {
        let range = KeyRange::prefix(&[1, 0xff]);
        assert!(range.contains(&[1, 0xff]) && range.contains(&[1, 0xff, 0xff, 7]));
        assert!(!range.contains(&[1, 0xfe, 0xff]) && !range.contains(&[2]));
        assert_eq!(KeyRange::prefix(&[0xff, 0xff]).end, None);
        assert_eq!(KeyRange::prefix(&[]), KeyRange::all());
    }
}
