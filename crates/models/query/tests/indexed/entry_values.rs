//! A value as an index keeps it: in order, and not always all of it.

use orrery_core::limits;
use orrery_query::access::{EntryValue, Interval};
use orrery_query::{Datum, Kind};
use orrery_value::Value;
use std::cmp::Ordering;
use std::ops::Bound;

const CUT_BYTES: usize = limits::INDEX_STRING_BYTES_MAX;
const EXACT_NUMBERS_END: f64 = 9_007_199_254_740_992.0;

#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Simple(Value),
    /// Its first bytes, and whether there were more.
    Text(Vec<u8>, bool),
    Array,
    Object,
}

impl Cell {
    pub fn of(value: &Value) -> Self {
        match value {
            Value::String(text) if text.len() > CUT_BYTES => {
                Self::Text(text.as_bytes()[..CUT_BYTES].to_vec(), true)
            }
            Value::String(text) => Self::Text(text.as_bytes().to_vec(), false),
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
            simple => Self::Simple(simple.clone()),
        }
    }

    pub fn known(&self) -> EntryValue {
        match self {
            Self::Simple(Value::Number(number)) => {
                let number = number.as_f64();
                // As it is kept: a double, whatever it was.
                if number.abs() < EXACT_NUMBERS_END {
                    EntryValue::Exact(number.into())
                } else {
                    EntryValue::Partial
                }
            }
            Self::Simple(value) => EntryValue::Exact(value.clone()),
            Self::Text(bytes, false) => {
                EntryValue::Exact(String::from_utf8(bytes.clone()).expect("a whole string").into())
            }
            Self::Text(_, true) | Self::Array | Self::Object => EntryValue::Partial,
        }
    }

    pub fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Simple(a), Self::Simple(b)) => a.cmp_total(b),
            (Self::Text(a, a_cut), Self::Text(b, b_cut)) => (a, a_cut).cmp(&(b, b_cut)),
            _ => self.kind().cmp(&other.kind()),
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Self::Simple(value) => Datum::of(value).kind(),
            Self::Text(..) => Kind::String,
            Self::Array => Kind::Array,
            Self::Object => Kind::Object,
        }
    }

    pub fn is_in(&self, interval: &Interval) -> bool {
        match interval {
            Interval::All => true,
            Interval::StartsWith(prefix) => {
                let prefix = &prefix.as_bytes()[..prefix.len().min(CUT_BYTES)];
                matches!(self, Self::Text(text, _) if text.starts_with(prefix))
            }
            Interval::Between(low, high) => {
                self.is_inside(low, Ordering::is_gt) && self.is_inside(high, Ordering::is_lt)
            }
        }
    }

    fn is_inside(&self, end: &Bound<Value>, is_beyond: fn(Ordering) -> bool) -> bool {
        let value = match end {
            Bound::Included(value) | Bound::Excluded(value) => value,
            Bound::Unbounded => return true,
        };
        let cell = Self::of(value);
        let order = self.cmp(&cell);
        // What is not all there may be on either side.
        let may_be_equal = matches!(end, Bound::Included(_)) || !is_exact(value);
        self.kind() == cell.kind() && (is_beyond(order) || order.is_eq() && may_be_equal)
    }
}

/// Whether no other value has the same cell.
pub fn is_exact(value: &Value) -> bool {
    matches!(Cell::of(value), Cell::Simple(_) | Cell::Text(_, false))
}
