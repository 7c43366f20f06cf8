//! Cached entry counts of index spans: the planner counts them to choose an access path, and
//! repeated queries count the same spans.
//!
//! A count serves while so few commits came after it that it cannot be far off. It only tells which way is cheaper: one
//! that is wrong makes a query slower, and never its answer another.

use super::layout::Layout;
use super::scope::IndexScope;
use orrery_core::Lsn;
use orrery_query::access::Span;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Of all containers of a store: a fixed number of counts, each in the one slot that its stretch leads to.
#[derive(Default)]
pub struct IndexStatistics {
    salt: RandomState,
    slots: OnceLock<Box<[Mutex<Counted>]>>,
}

/// What is remembered, for a query that sees the store as it was after a commit.
#[derive(Clone, Copy)]
pub struct StatisticsView<'a> {
    pub(super) counts: &'a IndexStatistics,
    pub(super) at: Lsn,
}

/// What is counted, as a number that hardly another one has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SpanHash(u64);

#[derive(Clone, Copy, Default)]
struct Counted {
    span_hash: SpanHash,
    at: Lsn,
    entries: u64,
}

const SLOTS: usize = 1 << 12;
/// One commit for so many entries leaves a count as good as new.
const ENTRIES_PER_COMMIT: u64 = 8;

impl IndexStatistics {
    pub fn at(&self, at: Lsn) -> StatisticsView<'_> {
        StatisticsView { counts: self, at }
    }

    /// Entries of a container are counted up to `max`.
    pub(super) fn span_hash(
        &self,
        container: u32,
        scope: &IndexScope,
        layout: &Layout,
        span: &Span,
        max: u64,
    ) -> SpanHash {
        let terms = layout.range(&[], span);
        SpanHash(self.salt.hash_one((container, scope, terms.start, terms.end, max)))
    }

    pub(super) fn get(&self, span_hash: SpanHash, now: Lsn) -> Option<u64> {
        let counted = *self.slot(span_hash).lock().unwrap_or_else(PoisonError::into_inner);
        let commits = now.0.abs_diff(counted.at.0);
        let serves = counted.span_hash == span_hash && commits <= counted.entries / ENTRIES_PER_COMMIT;
        serves.then_some(counted.entries)
    }

    pub(super) fn put(&self, span_hash: SpanHash, at: Lsn, entries: u64) {
        let mut slot = self.slot(span_hash).lock().unwrap_or_else(PoisonError::into_inner);
        *slot = Counted { span_hash, at, entries };
    }

    fn slot(&self, span_hash: SpanHash) -> &Mutex<Counted> {
        let slots = self.slots.get_or_init(|| (0..SLOTS).map(|_| Mutex::default()).collect());
        &slots[span_hash.0 as usize % SLOTS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_query::access::{IndexOf, Interval, Step};
    use orrery_value::Value;

    #[test]
    fn a_count_serves_until_commits_may_have_changed_it_much() {
        let (counts, span_hash) = (IndexStatistics::default(), SpanHash(7));
        counts.put(span_hash, Lsn(100), 80);
        assert_eq!([100, 110, 90].map(|now| counts.get(span_hash, Lsn(now))), [Some(80); 3]);
        assert_eq!([111, 89, 0].map(|now| counts.get(span_hash, Lsn(now))), [None; 3]);
        counts.put(span_hash, Lsn(200), 7);
        assert_eq!([200, 201].map(|now| counts.get(span_hash, Lsn(now))), [Some(7), None]);
        assert_eq!(counts.get(SpanHash(7 + SLOTS as u64), Lsn(200)), None, "of another in the same slot");
    }

    #[test]
    fn a_stretch_is_of_a_container_a_reach_an_index_and_values() {
        let counts = IndexStatistics::default();
        let layout = |name: &str| Layout::of(&IndexOf::Path([Step::Member(name.to_owned())].into()));
        let partition = |epk: u8, items| IndexScope::Partitions { epks: vec![vec![epk]], items };
        let one = Span { prefix: vec![Value::Bool(true)], next: Interval::All };
        let other = Span { prefix: vec![Value::Bool(false)], next: Interval::All };
        let of = |container, scope: &IndexScope, layout: &Layout, span: &Span, max| {
            counts.span_hash(container, scope, layout, span, max)
        };
        let first = of(1, &partition(1, 70), &layout("a"), &one, 128);
        assert_eq!(first, of(1, &partition(1, 71), &layout("a"), &one, 128), "however many items there are");
        let others = [
            of(2, &partition(1, 70), &layout("a"), &one, 128),
            of(1, &partition(2, 70), &layout("a"), &one, 128),
            of(1, &IndexScope::Ranges(vec![(vec![1], vec![2])]), &layout("a"), &one, 128),
            of(1, &partition(1, 70), &layout("b"), &one, 128),
            of(1, &partition(1, 70), &layout("a"), &other, 128),
            of(1, &partition(1, 70), &layout("a"), &one, 64),
        ];
        assert!(others.iter().all(|other| *other != first));
    }
}
