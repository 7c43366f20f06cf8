//! Iterating a set of documents in ordinal order.
//!
//! A single operation suffices: find the first ordinal that is not below a given one. Intersected sets apply
//! it to each other until they agree; a union returns the least result. The requested ordinals never descend.

use super::access_path::PostingSet;
use super::indexes::{EntryCursor, EntryValue, Indexes, Interval, Span};
use crate::error::QueryError;
use crate::execute::ExecContext;

pub(crate) enum PostingCursor<'a> {
    PostingList(PostingList<'a>),
    /// Sorted ordinals; those before the position have been passed.
    Numbers(&'a [u64]),
    /// Every ordinal except these sorted ones.
    AllBut(&'a [u64]),
    All(Vec<PostingCursor<'a>>),
    OneOf(Vec<PostingCursor<'a>>),
}

/// The posting list of one value.
pub(crate) struct PostingList<'a> {
    entries: Box<dyn EntryCursor + 'a>,
    parts: usize,
    head: Head,
    /// Whether the entries hold their values exactly.
    is_exact: bool,
    ctx: &'a ExecContext<'a>,
}

#[derive(Clone, Copy)]
enum Head {
    Unread,
    At(u64),
    Ended,
}

impl<'a> PostingCursor<'a> {
    /// Opens a cursor over a materialised set; sets that are not materialised yet are empty here.
    pub fn open(
        set: &'a PostingSet,
        indexes: &'a dyn Indexes,
        ctx: &'a ExecContext<'a>,
    ) -> Result<Self, QueryError> {
        let each = |sets: &'a [PostingSet]| {
            let opened = sets.iter().map(|set| Self::open(set, indexes, ctx));
            opened.collect::<Result<Vec<_>, QueryError>>()
        };
        Ok(match set {
            PostingSet::Equal { index, values } => {
                ctx.count_seek()?;
                let span = Span { prefix: values.clone(), next: Interval::All };
                let entries = indexes.entries(index, &span, false, None)?;
                let (head, parts) = (Head::Unread, values.len());
                Self::PostingList(PostingList { entries, parts, head, is_exact: true, ctx })
            }
            PostingSet::Ordinals(numbers) => Self::Numbers(numbers),
            PostingSet::AllExcept(numbers) => Self::AllBut(numbers),
            PostingSet::Range { .. } | PostingSet::Spatial { .. } | PostingSet::NotOutside { .. } => {
                Self::Numbers(&[])
            }
            PostingSet::Intersection(sets) => Self::All(each(sets)?),
            PostingSet::Union(sets) => Self::OneOf(each(sets)?),
        })
    }

    /// The first member that is at least this ordinal.
    pub fn advance_to(&mut self, least: u64) -> Result<Option<u64>, QueryError> {
        match self {
            Self::PostingList(list) => list.advance_to(least),
            Self::Numbers(numbers) => {
                let behind = numbers.partition_point(|number| *number < least);
                *numbers = &numbers[behind..];
                Ok(numbers.first().copied())
            }
            Self::AllBut(numbers) => Ok(next_outside(numbers, least)),
            Self::All(sets) => next_in_all(sets, least),
            Self::OneOf(sets) => next_in_any(sets, least),
        }
    }

    /// Whether the posting lists read so far hold their values exactly.
    pub fn is_exact(&self) -> bool {
        match self {
            Self::PostingList(list) => list.is_exact,
            Self::All(sets) => sets.iter().all(Self::is_exact),
            Self::Numbers(_) | Self::AllBut(_) | Self::OneOf(_) => true,
        }
    }
}

/// The first ordinal from `least` on that is not among the others; those passed are dropped.
fn next_outside(others: &mut &[u64], least: u64) -> Option<u64> {
    let behind = others.partition_point(|number| *number < least);
    *others = &others[behind..];
    let run = (least..).zip(others.iter()).take_while(|(wanted, other)| wanted == *other).count();
    least.checked_add(run as u64)
}

fn next_in_all(sets: &mut [PostingCursor<'_>], least: u64) -> Result<Option<u64>, QueryError> {
    let mut candidate = least;
    loop {
        let asked = candidate;
        for set in &mut *sets {
            match set.advance_to(candidate)? {
                Some(number) => candidate = number,
                None => return Ok(None),
            }
        }
        // Each round ends at a greater ordinal, or at one that all sets contain.
        if candidate == asked {
            return Ok(Some(candidate));
        }
    }
}

fn next_in_any(sets: &mut [PostingCursor<'_>], least: u64) -> Result<Option<u64>, QueryError> {
    let mut first: Option<u64> = None;
    for set in sets {
        if let Some(number) = set.advance_to(least)? {
            first = Some(first.map_or(number, |first| first.min(number)));
        }
    }
    Ok(first)
}

impl PostingList<'_> {
    fn advance_to(&mut self, least: u64) -> Result<Option<u64>, QueryError> {
        match self.head {
            Head::Ended => return Ok(None),
            Head::At(number) if number >= least => return Ok(Some(number)),
            Head::Unread if least == 0 => return self.step(),
            // The next entry is often close enough, which saves a seek.
            Head::At(_) => match self.step()? {
                Some(number) if number < least => {}
                found => return Ok(found),
            },
            Head::Unread => {}
        }
        self.ctx.count_seek()?;
        self.entries.seek(least)?;
        self.step()
    }

    fn step(&mut self) -> Result<Option<u64>, QueryError> {
        let next = self.entries.next()?.map(|entry| entry.ordinal);
        if next.is_some() {
            self.ctx.count_entry()?;
        }
        if let (Head::Unread, Some(_)) = (self.head, next) {
            // All entries have the same value, so the first one decides.
            self.is_exact =
                (0..self.parts).all(|part| matches!(self.entries.value(part), EntryValue::Exact(_)));
        }
        self.head = next.map_or(Head::Ended, Head::At);
        Ok(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::indexes::IndexOf;
    use crate::access::test_support::{FixedHost, Multiples, multiples};
    use orrery_value::Value;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn set() -> impl Strategy<Value = PostingSet> {
        let index = || IndexOf::Path([].into());
        let equal =
            (1i64..6).prop_map(move |of| PostingSet::Equal { index: index(), values: vec![of.into()] });
        let numbers = prop::collection::btree_set(0u64..20, 0..8);
        let leaf = prop_oneof![
            equal,
            numbers.prop_map(|numbers| PostingSet::Ordinals(numbers.into_iter().collect()))
        ];
        leaf.prop_recursive(3, 12, 4, |inner| {
            let sets = prop::collection::vec(inner, 1..4);
            let others = prop::collection::btree_set(0u64..20, 0..8);
            let but = (sets.clone(), others).prop_map(|(mut sets, others)| {
                sets.push(PostingSet::AllExcept(others.into_iter().collect()));
                PostingSet::Intersection(sets)
            });
            prop_oneof![
                sets.clone().prop_map(PostingSet::Intersection),
                sets.prop_map(PostingSet::Union),
                but
            ]
        })
    }

    fn members(set: &PostingSet) -> BTreeSet<u64> {
        let of = |value: &Value| crate::Datum::of(value).as_i64().unwrap_or(1) as u64;
        match set {
            PostingSet::Equal { values, .. } => multiples(of(&values[0])).into_iter().collect(),
            PostingSet::Ordinals(numbers) => numbers.iter().copied().collect(),
            PostingSet::Intersection(sets) => {
                let all = sets.iter().map(members).reduce(|all, other| &all & &other);
                all.unwrap_or_default()
            }
            PostingSet::Union(sets) => sets.iter().flat_map(members).collect(),
            PostingSet::AllExcept(numbers) => (0..20).filter(|number| !numbers.contains(number)).collect(),
            PostingSet::Range { .. } | PostingSet::Spatial { .. } | PostingSet::NotOutside { .. } => {
                BTreeSet::new()
            }
        }
    }

    proptest! {
        /// In steps of any size: the next ordinal, or one further on.
        #[test]
        fn a_cursor_returns_the_members_of_its_set(set in set(), steps in prop::collection::vec(1u64..5, 30)) {
            let ctx = ExecContext::new(&FixedHost);
            let mut cursor = PostingCursor::open(&set, &Multiples, &ctx).unwrap();
            let (members, mut least) = (members(&set), 0);
            for step in steps {
                let found = cursor.advance_to(least).unwrap();
                prop_assert_eq!(found, members.range(least..).next().copied());
                prop_assert_eq!(cursor.advance_to(least).unwrap(), found, "asked twice");
                let Some(number) = found else { break };
                least = number + step;
            }
        }
    }

    #[test]
    fn distant_ordinals_are_reached_by_a_seek() {
        let ctx = ExecContext::new(&FixedHost);
        let of = |of: i64| PostingSet::Equal { index: IndexOf::Path([].into()), values: vec![of.into()] };
        let both = PostingSet::Intersection(vec![PostingSet::Ordinals(vec![0, 19]), of(1)]);
        let mut cursor = PostingCursor::open(&both, &Multiples, &ctx).unwrap();
        assert_eq!((cursor.advance_to(0), cursor.advance_to(1)), (Ok(Some(0)), Ok(Some(19))));
        // The first entry, the next one, which was not far enough, and the one found by a seek.
        assert_eq!((ctx.metrics().entries_read, ctx.metrics().seeks), (3, 2));
        assert!(!cursor.is_exact());
    }
}
