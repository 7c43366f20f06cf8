//! Materialising posting sets: entries that are not in ordinal order are read and sorted before
//! iteration begins.
//!
//! The actual size is known only now. A set that is too large is dropped if the remaining sets still contain
//! every match; otherwise the access path becomes a scan.

use super::access_path::{Access, IndexScan, PostingSet};
use super::indexes::{EntryValue, IndexOf, Indexes, Interval, Path, Rectangle, Span, is_stored_whole};
use super::posting_cursor::PostingCursor;
use crate::error::QueryError;
use crate::execute::ExecContext;
use crate::limits;
use orrery_value::Value;

/// Materialises the sets of a chosen access path.
pub(crate) fn materialize(
    access: Access,
    indexes: Option<&dyn Indexes>,
    ctx: &ExecContext<'_>,
) -> Result<Materialized, QueryError> {
    materialize_within(limits::POSTINGS_MATERIALIZED_MAX, access, indexes, ctx)
}

#[derive(Debug, Default)]
pub(crate) struct Materialized {
    pub access: Access,
    /// Values that hold for every document returned, if no document is read.
    pub known: Vec<(Path, Value)>,
}

fn materialize_within(
    max: usize,
    access: Access,
    indexes: Option<&dyn Indexes>,
    ctx: &ExecContext<'_>,
) -> Result<Materialized, QueryError> {
    let Some(indexes) = indexes else { return Ok(access.into()) };
    let mut materializer = Materializer { indexes, ctx, left: max, is_whole: true };
    let access = match access {
        Access::Postings { set, covered } => {
            let Some(set) = materializer.materialize(set)? else { return Ok(Access::Scan.into()) };
            // A set that lost a part returns documents with other values too.
            return Ok(match materializer.is_whole {
                true => {
                    let known =
                        covered.clone().filter(|it| it.iter().all(|(_, value)| is_stored_whole(value)));
                    Materialized {
                        access: Access::Postings { set, covered },
                        known: known.unwrap_or_default(),
                    }
                }
                false => Access::Postings { set, covered: None }.into(),
            });
        }
        Access::IndexScan(scan) => {
            let restricted =
                scan.restrict_to.as_ref().map(|set| materializer.numbers(set)).transpose()?.flatten();
            Access::IndexScan(IndexScan { restrict_to: restricted.map(PostingSet::Ordinals), ..scan })
        }
        other => other,
    };
    Ok(access.into())
}

impl From<Access> for Materialized {
    fn from(access: Access) -> Self {
        Self { access, known: Vec::new() }
    }
}

struct Materializer<'a> {
    indexes: &'a dyn Indexes,
    ctx: &'a ExecContext<'a>,
    /// Ordinals that still fit.
    left: usize,
    /// Whether no part has been dropped.
    is_whole: bool,
}

impl Materializer<'_> {
    /// A set that can be iterated; `None` if it is too large.
    fn materialize(&mut self, set: PostingSet) -> Result<Option<PostingSet>, QueryError> {
        match set {
            PostingSet::Equal { .. } | PostingSet::Ordinals(_) | PostingSet::AllExcept(_) => Ok(Some(set)),
            PostingSet::NotOutside { path, interval } => {
                Ok(self.outside(path, interval)?.map(PostingSet::AllExcept))
            }
            PostingSet::Range { index, span } => Ok(self.within(index, span)?.map(PostingSet::Ordinals)),
            PostingSet::Spatial { path, rectangle } => {
                Ok(self.spatial(&path, &rectangle)?.map(PostingSet::Ordinals))
            }
            PostingSet::Intersection(sets) => self.all(sets),
            PostingSet::Union(sets) if sets.len() > limits::POSTINGS_MERGED_MAX => {
                Ok(self.any(&sets)?.map(PostingSet::Ordinals))
            }
            PostingSet::Union(sets) => {
                let sets = sets.into_iter().map(|set| self.materialize(set));
                Ok(sets.collect::<Result<Option<Vec<_>>, QueryError>>()?.map(PostingSet::Union))
            }
        }
    }

    fn all(&mut self, sets: Vec<PostingSet>) -> Result<Option<PostingSet>, QueryError> {
        let mut kept = Vec::new();
        for set in sets {
            let materialized = self.materialize(set)?;
            self.is_whole &= materialized.is_some();
            kept.extend(materialized);
        }
        if kept.iter().all(PostingSet::is_complement) {
            return Ok(None);
        }
        Ok(if kept.len() > 1 { Some(PostingSet::Intersection(kept)) } else { kept.pop() })
    }

    /// The ordinals of a set, sorted.
    fn numbers(&mut self, set: &PostingSet) -> Result<Option<Vec<u64>>, QueryError> {
        let Some(set) = self.materialize(set.clone())? else { return Ok(None) };
        if let PostingSet::Ordinals(numbers) = set {
            return Ok(Some(numbers));
        }
        let mut cursor = PostingCursor::open(&set, self.indexes, self.ctx)?;
        let (mut numbers, mut next) = (Vec::new(), Some(0));
        while let Some(from) = next
            && let Some(number) = cursor.advance_to(from)?
        {
            if !self.has_room() {
                return Ok(None);
            }
            numbers.push(number);
            next = number.checked_add(1);
        }
        Ok(Some(numbers))
    }

    fn any(&mut self, sets: &[PostingSet]) -> Result<Option<Vec<u64>>, QueryError> {
        let mut all = Vec::new();
        for set in sets {
            let Some(numbers) = self.numbers(set)? else { return Ok(None) };
            all.extend(numbers);
        }
        Ok(Some(sorted(all)))
    }

    fn within(&mut self, index: IndexOf, span: Span) -> Result<Option<Vec<u64>>, QueryError> {
        self.ctx.count_seek()?;
        let set = PostingSet::Range { index: index.clone(), span: span.clone() };
        self.cached_or_read(&set, |materializer, max, each| {
            within(materializer.indexes, &index, &span, max, each)
        })
    }

    fn outside(&mut self, path: Path, interval: Interval) -> Result<Option<Vec<u64>>, QueryError> {
        self.ctx.count_seek()?;
        let set = PostingSet::NotOutside { path: path.clone(), interval: interval.clone() };
        self.cached_or_read(&set, |materializer, max, each| {
            outside(materializer.indexes, &path, &interval, max, each)
        })
    }

    /// The ordinals of a set, cached while planning or read now.
    fn cached_or_read(
        &mut self,
        set: &PostingSet,
        read: impl FnOnce(&Self, usize, Each<'_>) -> Result<Option<Vec<u64>>, QueryError>,
    ) -> Result<Option<Vec<u64>>, QueryError> {
        let numbers = match self.ctx.take_cached_ordinals(set) {
            Some(numbers) => {
                numbers.iter().try_for_each(|_| self.ctx.count_entry())?;
                Some(numbers)
            }
            None => read(self, self.left, &|| self.ctx.count_entry())?,
        };
        // An oversized read stays charged, so that all reads together are bounded.
        self.left = numbers.as_ref().map_or(0, |numbers| self.left.saturating_sub(numbers.len()));
        Ok(numbers)
    }

    fn spatial(&mut self, path: &Path, rectangle: &Rectangle) -> Result<Option<Vec<u64>>, QueryError> {
        self.ctx.count_seek()?;
        let Some(numbers) = self.indexes.spatial_candidates(path, rectangle, self.left as u64)? else {
            self.left = 0;
            return Ok(None);
        };
        for _ in &numbers {
            self.ctx.count_entry()?;
        }
        self.left = self.left.saturating_sub(numbers.len());
        Ok(Some(numbers))
    }

    /// An oversized read stays charged, so that all reads together are bounded.
    fn has_room(&mut self) -> bool {
        let has_room = self.left > 0;
        self.left = self.left.saturating_sub(1);
        has_room
    }
}

// Collecting ordinals of entries that are not in ordinal order; they are sorted afterwards.

/// Called for each entry read.
pub(super) type Each<'a> = &'a dyn Fn() -> Result<(), QueryError>;

/// The ordinals of a span's entries; `None` if there are more than `max`.
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

/// The ordinals of documents whose value is known to be outside the interval; `None` if there are more than
/// `max`.
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

/// The ordinals of a path's entries on one side of an interval.
pub(super) enum Side {
    Inside(Vec<u64>),
    /// Only values that are known to be outside.
    Outside(Vec<u64>),
}

/// Entries read on one side before switching to the other.
const ENTRIES_PER_TURN: usize = 256;

/// The side that ends first. Alternating between the two costs twice the smaller one. `None` if neither ends
/// within `max`.
pub(super) fn smaller_side(
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
        for _ in 0..ENTRIES_PER_TURN {
            let Some(entry) = inside.next()? else { return Ok(Some(Side::Inside(sorted(within)))) };
            each()?;
            within.push(entry.ordinal);
        }
        for _ in 0..ENTRIES_PER_TURN {
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
        read += ENTRIES_PER_TURN;
    }
    Ok(None)
}

pub(super) fn sorted(mut numbers: Vec<u64>) -> Vec<u64> {
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::indexes::Step;
    use crate::access::test_support::{FixedHost, Multiples};

    /// A covering set, once from the entries of a value and once from those of all other values.
    fn materialized(max: usize) -> Materialized {
        let path = |name: &str| Path::from([Step::Member(name.to_owned())]);
        let equal = PostingSet::Equal { index: IndexOf::Path(path("a")), values: vec![Value::from(3i64)] };
        let flag = PostingSet::NotOutside { path: path("b"), interval: Interval::equal(Value::Bool(false)) };
        let covered = Some(vec![(path("b"), Value::Bool(false))]);
        let ctx = ExecContext::new(&FixedHost);
        let access = Access::Postings { set: PostingSet::Intersection(vec![equal, flag]), covered };
        materialize_within(max, access, Some(&Multiples), &ctx).unwrap()
    }

    #[test]
    fn a_covering_set_supplies_its_documents_values() {
        let Materialized { access, known } = materialized(limits::POSTINGS_MATERIALIZED_MAX);
        assert!(matches!(access, Access::Postings { covered: Some(_), .. }), "{access:?}");
        assert_eq!(known.len(), 1);
    }

    #[test]
    fn a_set_that_lost_a_part_no_longer_covers_its_values() {
        let Materialized { access, known } = materialized(1);
        assert!(
            matches!(access, Access::Postings { set: PostingSet::Equal { .. }, covered: None }),
            "{access:?}"
        );
        assert_eq!(known, Vec::new());
    }
}
