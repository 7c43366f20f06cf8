//! Reading the numbers of entries that are not in their order: they are sorted afterwards.

use super::indexes::{EntryValue, IndexOf, Indexes, Interval, Path, Span};
use crate::error::QueryError;

/// Called with each entry that is read.
pub(super) type Each<'a> = &'a dyn Fn() -> Result<(), QueryError>;

/// The numbers of a span's entries; nothing if there are more than `max`.
pub(super) fn within(
    indexes: &dyn Indexes,
    index: &IndexOf,
    span: &Span,
    max: usize,
    each: Each<'_>,
) -> Result<Option<Vec<u64>>, QueryError> {
    let mut entries = indexes.entries(index, span, false, None)?;
    let mut numbers = Vec::new();
    while let Some(entry) = entries.next()? {
        each()?;
        if numbers.len() == max {
            return Ok(None);
        }
        numbers.push(entry.ordinal);
    }
    Ok(Some(sorted(numbers)))
}

/// The numbers of documents whose value the index knows, and knows to be outside the interval; nothing if there are
/// more than `max`.
pub(super) fn outside(
    indexes: &dyn Indexes,
    path: &Path,
    interval: &Interval,
    max: usize,
    each: Each<'_>,
) -> Result<Option<Vec<u64>>, QueryError> {
    let index = IndexOf::Path(path.clone());
    let mut numbers = Vec::new();
    for rest in interval.outside() {
        let mut entries = indexes.entries(&index, &Span::within(rest), false, None)?;
        while let Some(entry) = entries.next()? {
            each()?;
            if numbers.len() == max {
                return Ok(None);
            }
            if let EntryValue::Exact(value) = entries.value(0)
                && !interval.holds(&value)
            {
                numbers.push(entry.ordinal);
            }
        }
    }
    Ok(Some(sorted(numbers)))
}

/// The numbers of a path's entries on one side of an interval.
pub(super) enum Side {
    Inside(Vec<u64>),
    /// Those of values that are known to be outside.
    Outside(Vec<u64>),
}

/// Entries that are read on one side before it is the other's turn.
const TURN: usize = 256;

/// The side that ends first: both are read in turn, so that it costs twice the smaller one. Nothing if neither ends
/// within `max`.
pub(super) fn either(
    indexes: &dyn Indexes,
    path: &Path,
    interval: &Interval,
    max: usize,
    each: Each<'_>,
) -> Result<Option<Side>, QueryError> {
    let index = IndexOf::Path(path.clone());
    let span = |interval: Interval| indexes.entries(&index, &Span::within(interval), false, None);
    let mut inside = span(interval.clone())?;
    let mut outside = interval.outside().into_iter().map(span).collect::<Result<Vec<_>, _>>()?;
    let (mut within, mut beyond, mut read) = (Vec::new(), Vec::new(), 0);
    while read < max {
        for _ in 0..TURN {
            let Some(entry) = inside.next()? else { return Ok(Some(Side::Inside(sorted(within)))) };
            each()?;
            within.push(entry.ordinal);
        }
        for _ in 0..TURN {
            let Some(rest) = outside.last_mut() else { return Ok(Some(Side::Outside(sorted(beyond)))) };
            let Some(entry) = rest.next()? else {
                outside.pop();
                continue;
            };
            each()?;
            if let EntryValue::Exact(value) = rest.value(0)
                && !interval.holds(&value)
            {
                beyond.push(entry.ordinal);
            }
        }
        read += TURN;
    }
    Ok(None)
}

pub(super) fn sorted(mut numbers: Vec<u64>) -> Vec<u64> {
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
