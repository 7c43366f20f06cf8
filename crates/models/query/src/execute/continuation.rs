//! The resumable state of a query, as stored in a continuation token.
//!
//! ```text
//! version u8, kind u8, rows still to skip, rows still wanted (0 = no limit, else one more)
//! stream      place, by key
//! aggregate   place, the accumulators
//! keyed       the last row's keys, ordinal, number in its document
//! ranked      how many rows are behind
//! numbered    place, by number
//! place       length, position (a key, or an ordinal of eight bytes), number in the document
//! value       length, JSON (undefined is empty)
//! ```
//!
//! Numbers are varints. Nothing depends on page sizes or on concurrent writes: a position is a key or an
//! ordinal, and a sort key is a value.

use super::accumulator::Accumulator;
use super::scan::ScanPosition;
use crate::access::ScanOrder;
use crate::error::QueryError;
use orrery_value::Value;

const VERSION: u8 = 1;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QueryState {
    pub skip: u64,
    pub left: Option<u64>,
    pub kind: StateKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum StateKind {
    Stream(ScanPosition),
    Aggregate(ScanPosition, Vec<Accumulator>),
    Keyed(ResumeKey),
    Ranked(u64),
}

/// The sort key of the last row of the previous page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ResumeKey {
    pub keys: Vec<Value>,
    pub ordinal: u64,
    pub inner: u64,
}

impl QueryState {
    pub fn write(&self) -> Vec<u8> {
        let mut out = vec![VERSION, 0];
        number(&mut out, self.skip);
        number(&mut out, self.left.map_or(0, |left| left.saturating_add(1)));
        out[1] = match &self.kind {
            StateKind::Stream(place) => {
                write_place(&mut out, place);
                match place.order_of_scan {
                    ScanOrder::Key => 0,
                    ScanOrder::Ordinal => 4,
                }
            }
            StateKind::Aggregate(place, accumulators) => {
                write_place(&mut out, place);
                number(&mut out, accumulators.len() as u64);
                accumulators.iter().for_each(|accumulator| value(&mut out, &accumulator.to_value()));
                1
            }
            StateKind::Keyed(after) => {
                number(&mut out, after.keys.len() as u64);
                after.keys.iter().for_each(|key| value(&mut out, key));
                number(&mut out, after.ordinal);
                number(&mut out, after.inner);
                2
            }
            StateKind::Ranked(behind) => {
                number(&mut out, *behind);
                3
            }
        };
        out
    }

    pub fn read(bytes: &[u8]) -> Result<Self, QueryError> {
        let refused =
            || QueryError::Refused("Invalid Continuation Token: it is not of this query.".to_owned());
        let mut reader = Reader(bytes);
        reader.state().filter(|_| reader.0.is_empty()).ok_or_else(refused)
    }
}

fn number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn value(out: &mut Vec<u8>, value: &Value) {
    bytes(out, value.to_json().as_bytes());
}

fn write_place(out: &mut Vec<u8>, place: &ScanPosition) {
    bytes(out, &place.position);
    number(out, place.inner);
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn state(&mut self) -> Option<QueryState> {
        if self.byte()? != VERSION {
            return None;
        }
        let kind = self.byte()?;
        let skip = self.number()?;
        let left = self.number()?.checked_sub(1);
        let kind = match kind {
            0 => StateKind::Stream(self.place(ScanOrder::Key)?),
            1 => {
                let place = self.place(ScanOrder::Key)?;
                let count = self.number()?;
                let accumulators = (0..count).map(|_| Accumulator::from_value(&self.value()?));
                StateKind::Aggregate(place, accumulators.collect::<Option<_>>()?)
            }
            2 => {
                let count = self.number()?;
                let keys = (0..count).map(|_| self.value()).collect::<Option<_>>()?;
                StateKind::Keyed(ResumeKey { keys, ordinal: self.number()?, inner: self.number()? })
            }
            3 => StateKind::Ranked(self.number()?),
            4 => StateKind::Stream(self.place(ScanOrder::Ordinal).filter(|place| place.ordinal().is_some())?),
            _ => return None,
        };
        Some(QueryState { skip, left, kind })
    }

    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..70).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn value(&mut self) -> Option<Value> {
        let text = std::str::from_utf8(self.bytes()?).ok()?;
        // Written by us and sealed, so it may be deeper than client input.
        Some(Value::read(text))
    }

    fn place(&mut self, order_of_scan: ScanOrder) -> Option<ScanPosition> {
        Some(ScanPosition { order_of_scan, position: self.bytes()?.to_vec(), inner: self.number()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_survive_a_round_trip() {
        let place = |order_of_scan, position: &[u8]| ScanPosition {
            order_of_scan,
            position: position.to_vec(),
            inner: 300,
        };
        let after =
            ResumeKey { keys: vec![Value::Undefined, Value::from("é")], ordinal: u64::MAX, inner: 1 };
        let kinds = [
            StateKind::Stream(place(ScanOrder::Key, b"key")),
            StateKind::Stream(place(ScanOrder::Ordinal, &7u64.to_be_bytes())),
            StateKind::Aggregate(place(ScanOrder::Key, b""), vec![Accumulator::Count(5)]),
            StateKind::Keyed(after),
            StateKind::Ranked(9),
        ];
        for kind in kinds {
            for left in [None, Some(0), Some(1 << 40)] {
                let state = QueryState { skip: 129, left, kind: kind.clone() };
                assert_eq!(QueryState::read(&state.write()), Ok(state));
            }
        }
    }

    #[test]
    fn malformed_states_are_refused() {
        let numbered = ScanPosition { order_of_scan: ScanOrder::Ordinal, position: vec![1, 2, 3], inner: 0 };
        let short = QueryState { skip: 0, left: None, kind: StateKind::Stream(numbered) }.write();
        for bytes in [&b""[..], &[1], &[2, 3, 0, 0, 0], &[1, 9, 0, 0, 0], &[1, 3, 0, 0, 0, 0], &short] {
            assert!(QueryState::read(bytes).is_err(), "{bytes:?}");
        }
    }
}
