//! Gathering: entries that are not in the order of numbers are read and sorted before a walk begins.
//!
//! How many there are is known only now. What is too much is left out where something else remains that holds every
//! match, and a way that has nothing else becomes a scan.

use super::gather::{self, sorted};
use super::indexes::{IndexOf, Indexes, Interval, Path, Rectangle, Span, is_stored_whole};
use super::postings::Postings;
use super::way::{Access, IndexScan, PostingSet};
use crate::error::QueryError;
use crate::execute::ExecContext;
use orrery_core::limits;
use orrery_value::Value;

/// The way that is taken in the end.
pub(crate) fn settle(
    access: Access,
    indexes: Option<&dyn Indexes>,
    ctx: &ExecContext<'_>,
) -> Result<Settled, QueryError> {
    settle_within(limits::POSTINGS_GATHERED_MAX, access, indexes, ctx)
}

#[derive(Debug, Default)]
pub(crate) struct Settled {
    pub access: Access,
    /// What is known of every document that it leads to, if none of them is read.
    pub known: Vec<(Path, Value)>,
}

fn settle_within(
    max: usize,
    access: Access,
    indexes: Option<&dyn Indexes>,
    ctx: &ExecContext<'_>,
) -> Result<Settled, QueryError> {
    let Some(indexes) = indexes else { return Ok(access.into()) };
    let mut gather = Gather { indexes, ctx, left: max, is_whole: true };
    let access = match access {
        Access::Postings { set, covered } => {
            let Some(set) = gather.settle(set)? else { return Ok(Access::Scan.into()) };
            // Without a part of it, the set leads to documents that have other values.
            return Ok(match gather.is_whole {
                true => {
                    let known =
                        covered.clone().filter(|it| it.iter().all(|(_, value)| is_stored_whole(value)));
                    Settled { access: Access::Postings { set, covered }, known: known.unwrap_or_default() }
                }
                false => Access::Postings { set, covered: None }.into(),
            });
        }
        Access::IndexScan(along) => {
            let among = along.among.as_ref().map(|set| gather.numbers(set)).transpose()?.flatten();
            Access::IndexScan(IndexScan { among: among.map(PostingSet::Ordinals), ..along })
        }
        other => other,
    };
    Ok(access.into())
}

impl From<Access> for Settled {
    fn from(access: Access) -> Self {
        Self { access, known: Vec::new() }
    }
}

struct Gather<'a> {
    indexes: &'a dyn Indexes,
    ctx: &'a ExecContext<'a>,
    /// How many numbers more there is room for.
    left: usize,
    /// Whether nothing was left out so far.
    is_whole: bool,
}

impl Gather<'_> {
    /// A set that can be walked as it is; nothing if it is too large.
    fn settle(&mut self, set: PostingSet) -> Result<Option<PostingSet>, QueryError> {
        match set {
            PostingSet::Equal { .. } | PostingSet::Ordinals(_) | PostingSet::AllExcept(_) => Ok(Some(set)),
            PostingSet::NotOutside { path, interval } => {
                Ok(self.outside(path, interval)?.map(PostingSet::AllExcept))
            }
            PostingSet::Range { index, span } => Ok(self.within(index, span)?.map(PostingSet::Ordinals)),
            PostingSet::Spatial { path, rectangle } => {
                Ok(self.near(&path, &rectangle)?.map(PostingSet::Ordinals))
            }
            PostingSet::Intersection(sets) => self.all(sets),
            PostingSet::Union(sets) if sets.len() > limits::POSTINGS_MERGED_MAX => {
                Ok(self.any(&sets)?.map(PostingSet::Ordinals))
            }
            PostingSet::Union(sets) => {
                let sets = sets.into_iter().map(|set| self.settle(set));
                Ok(sets.collect::<Result<Option<Vec<_>>, QueryError>>()?.map(PostingSet::Union))
            }
        }
    }

    fn all(&mut self, sets: Vec<PostingSet>) -> Result<Option<PostingSet>, QueryError> {
        let mut kept = Vec::new();
        for set in sets {
            let settled = self.settle(set)?;
            self.is_whole &= settled.is_some();
            kept.extend(settled);
        }
        if kept.iter().all(PostingSet::is_remainder) {
            return Ok(None);
        }
        Ok(if kept.len() > 1 { Some(PostingSet::Intersection(kept)) } else { kept.pop() })
    }

    /// The numbers of a set, sorted.
    fn numbers(&mut self, set: &PostingSet) -> Result<Option<Vec<u64>>, QueryError> {
        let Some(set) = self.settle(set.clone())? else { return Ok(None) };
        if let PostingSet::Ordinals(numbers) = set {
            return Ok(Some(numbers));
        }
        let mut walk = Postings::open(&set, self.indexes, self.ctx)?;
        let (mut numbers, mut next) = (Vec::new(), Some(0));
        while let Some(from) = next
            && let Some(number) = walk.at_least(from)?
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
        self.gathered(&set, |gather, max, each| gather::within(gather.indexes, &index, &span, max, each))
    }

    fn outside(&mut self, path: Path, interval: Interval) -> Result<Option<Vec<u64>>, QueryError> {
        self.ctx.count_seek()?;
        let set = PostingSet::NotOutside { path: path.clone(), interval: interval.clone() };
        self.gathered(&set, |gather, max, each| gather::outside(gather.indexes, &path, &interval, max, each))
    }

    /// The numbers of a set: as they were read when it was weighed, or read now.
    fn gathered(
        &mut self,
        set: &PostingSet,
        read: impl FnOnce(&Self, usize, gather::Each<'_>) -> Result<Option<Vec<u64>>, QueryError>,
    ) -> Result<Option<Vec<u64>>, QueryError> {
        let numbers = match self.ctx.take_cached_ordinals(set) {
            Some(numbers) => {
                numbers.iter().try_for_each(|_| self.ctx.count_entry())?;
                Some(numbers)
            }
            None => read(self, self.left, &|| self.ctx.count_entry())?,
        };
        // What was too much stays spent, so that all of it together has a bound.
        self.left = numbers.as_ref().map_or(0, |numbers| self.left.saturating_sub(numbers.len()));
        Ok(numbers)
    }

    fn near(&mut self, path: &Path, rectangle: &Rectangle) -> Result<Option<Vec<u64>>, QueryError> {
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

    /// What was too much stays spent, so that all of it together has a bound.
    fn has_room(&mut self) -> bool {
        let has_room = self.left > 0;
        self.left = self.left.saturating_sub(1);
        has_room
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::indexes::Step;
    use crate::access::multiples::{Multiples, Still};

    /// A set that tells all that is read: by the entries of one value, and by those that are not of another.
    fn settled(max: usize) -> Settled {
        let path = |name: &str| Path::from([Step::Member(name.to_owned())]);
        let equal = PostingSet::Equal { index: IndexOf::Path(path("a")), values: vec![Value::from(3i64)] };
        let flag = PostingSet::NotOutside { path: path("b"), interval: Interval::equal(Value::Bool(false)) };
        let covered = Some(vec![(path("b"), Value::Bool(false))]);
        let ctx = ExecContext::new(&Still);
        let access = Access::Postings { set: PostingSet::Intersection(vec![equal, flag]), covered };
        settle_within(max, access, Some(&Multiples), &ctx).unwrap()
    }

    #[test]
    fn what_a_set_tells_is_known_of_its_documents() {
        let Settled { access, known } = settled(limits::POSTINGS_GATHERED_MAX);
        assert!(matches!(access, Access::Postings { covered: Some(_), .. }), "{access:?}");
        assert_eq!(known.len(), 1);
    }

    #[test]
    fn a_set_that_lost_a_part_does_not_tell_what_that_part_told() {
        let Settled { access, known } = settled(1);
        assert!(
            matches!(access, Access::Postings { set: PostingSet::Equal { .. }, covered: None }),
            "{access:?}"
        );
        assert_eq!(known, Vec::new());
    }
}
