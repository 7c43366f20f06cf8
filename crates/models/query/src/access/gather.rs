//! Reading the numbers of entries that are not in their order: they are sorted afterwards.

use super::indexes::{IndexOf, Indexes, Interval, Known, Path, Span};
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
            if let Known::Exactly(value) = entries.value(0)
                && !interval.holds(&value)
            {
                numbers.push(entry.ordinal);
            }
        }
    }
    Ok(Some(sorted(numbers)))
}

pub(super) fn sorted(mut numbers: Vec<u64>) -> Vec<u64> {
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
