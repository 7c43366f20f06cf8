//! Key layout of an index: translates a span of values to a range of keys.

use orrery_catalog::indexing::number::{composite_number, path_number};
use orrery_keys::{Direction, KeyBuf, prefix_end};
use orrery_kv::KeyRange;
use orrery_query::access::{IndexOf, Interval, SeekKey, Span, is_stored_whole};
use orrery_value::Value;
use std::ops::Bound;

/// How the terms of an index are written.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub number: u64,
    /// One for each part.
    pub directions: Vec<Direction>,
}

impl Layout {
    pub fn of(index: &IndexOf) -> Self {
        match index {
            IndexOf::Path(path) => Self { number: path_number(path), directions: vec![Direction::Ascending] },
            IndexOf::Composite(parts) => {
                let directions = parts.iter().map(|(_, descends)| direction(*descends)).collect();
                Self { number: composite_number(parts), directions }
            }
        }
    }

    fn direction(&self, part: usize) -> Direction {
        self.directions.get(part).copied().unwrap_or(Direction::Ascending)
    }

    fn with(&self, key: KeyBuf, from: usize, values: &[Value]) -> KeyBuf {
        let parts = values.iter().enumerate();
        parts.fold(key, |key, (at, value)| key.index_value(value, self.direction(from + at)))
    }

    /// The terms of a span, as keys that begin with `base`.
    pub fn range(&self, base: &[u8], span: &Span) -> KeyRange {
        let key = KeyBuf::new().raw(base).u64(self.number);
        let fixed = self.with(key, 0, &span.prefix);
        let direction = self.direction(span.prefix.len());
        match &span.next {
            Interval::All => KeyRange::prefix(fixed.as_bytes()),
            Interval::StartsWith(text) => {
                KeyRange::prefix(fixed.open_index_string(text, direction).as_bytes())
            }
            Interval::Between(low, high) => between(&fixed, low, high, direction),
        }
    }

    /// The part of a range that does not come before `begin`.
    pub fn range_from(&self, base: &[u8], span: &Span, begin: &SeekKey, reverse: bool) -> KeyRange {
        let mut range = self.range(base, span);
        let key = KeyBuf::new().raw(base).u64(self.number);
        let key = self.with(self.with(key, 0, &span.prefix), span.prefix.len(), &begin.values);
        // What is not all in its term stands with others that may come before it or after.
        let is_exact = span.prefix.iter().chain(&begin.values).all(is_stored_whole);
        let is_whole = span.prefix.len() + begin.values.len() == self.directions.len();
        let key = match begin.ordinal {
            Some(ordinal) if is_exact && is_whole => key.u64(ordinal),
            _ => key,
        };
        if reverse {
            let end = prefix_end(key.as_bytes());
            range.end = match (range.end, end) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
        } else {
            range.start = range.start.max(key.finish());
        }
        range
    }
}

fn direction(descends: bool) -> Direction {
    if descends { Direction::Descending } else { Direction::Ascending }
}

fn between(fixed: &KeyBuf, low: &Bound<Value>, high: &Bound<Value>, direction: Direction) -> KeyRange {
    let edge = |value: &Value| fixed.clone().index_value(value, direction).finish();
    // An open end lies at the end of the other end's type.
    let kind = |other: &Bound<Value>, is_low: bool| {
        let of = match other {
            Bound::Included(Value::Bool(_)) | Bound::Excluded(Value::Bool(_)) => Value::Bool(!is_low),
            Bound::Included(value) | Bound::Excluded(value) => value.clone(),
            Bound::Unbounded => Value::Undefined,
        };
        fixed.clone().kind(&of, direction).finish()
    };
    let (low, high) = (
        match low {
            Bound::Unbounded => (kind(high, true), true),
            Bound::Included(value) => (edge(value), true),
            Bound::Excluded(value) => (edge(value), !is_stored_whole(value)),
        },
        match high {
            Bound::Unbounded => (kind(low, false), true),
            Bound::Included(value) => (edge(value), true),
            Bound::Excluded(value) => (edge(value), !is_stored_whole(value)),
        },
    );
    let ((first, takes_first), (last, takes_last)) = match direction {
        Direction::Ascending => (low, high),
        Direction::Descending => (high, low),
    };
    let start = if takes_first { first } else { prefix_end(&first).unwrap_or(first) };
    let end = if takes_last { prefix_end(&last) } else { Some(last) };
    KeyRange { start, end }
}
