//! The cost model: costs in units of one index entry read, and cardinalities.
//!
//! ```text
//! an entry            ~0.15 µs   1    the next key of an index scan
//! an existence check  ~0.15 µs   1    whether a document exists, without reading it
//! a seek              ~2 µs     15    the first key of an index scan
//! a fetched document  ~3 µs     20    its row, and its locator before it, unless cached
//! a scanned document  ~0.6 µs    4    of about 1 KB, read in key order
//! ```
//!
//! Only comparisons matter, so the numbers are small and round. A streaming page pays only until it is full:
//! matches are assumed to be evenly distributed.

use super::access_path::PostingSet;
use crate::limits;

pub(crate) const ENTRY: u64 = 1;
pub(crate) const EXISTS_CHECK: u64 = 1;
pub(crate) const SEEK: u64 = 15;
pub(crate) const FETCHED: u64 = 20;
pub(crate) const SCANNED: u64 = 4;

/// An additional set is intersected if it costs at most this fraction of the documents it may save.
const TRY_FRACTION: u64 = 8;

/// A posting set with its cardinality and the cost of iterating it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CostedSet {
    pub set: PostingSet,
    pub documents: u64,
    pub seeks: u64,
    /// Entries read before the first document is returned.
    pub gathered: u64,
    /// Entries read during iteration, if it runs to the end.
    pub walked: u64,
}

/// The fraction of the work done until a page is full.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageFraction {
    /// Matches wanted, and matches in total.
    pub wanted: u64,
    pub matches: u64,
}

impl PageFraction {
    pub const ALL: Self = Self { wanted: u64::MAX, matches: 0 };

    pub fn of(self, all: u64) -> u64 {
        if self.wanted >= self.matches {
            return all;
        }
        let part = u128::from(all) * u128::from(self.wanted) / u128::from(self.matches.max(1));
        u64::try_from(part).map_or(all, |part| part.saturating_add(1).min(all))
    }
}

/// `documents` scaled by `part / whole`.
pub(crate) fn proportion(documents: u64, part: u64, whole: u64) -> u64 {
    if part >= whole {
        return documents;
    }
    let share = (u128::from(documents) * u128::from(part)).div_ceil(u128::from(whole.max(1)));
    u64::try_from(share).unwrap_or(documents)
}

pub(crate) fn scan(documents: u64, share: PageFraction) -> u64 {
    share.of(documents).saturating_mul(SCANNED)
}

/// The cost of a document reached through an index.
pub(crate) fn document(covered: bool) -> u64 {
    if covered { EXISTS_CHECK } else { FETCHED }
}

impl CostedSet {
    /// The cost of iterating until the page is full, including documents.
    pub fn cost(&self, share: PageFraction, covered: bool) -> u64 {
        let documents = share.of(self.documents).saturating_mul(document(covered));
        self.entry_cost(share.of(self.walked)).saturating_add(documents)
    }

    /// The cost of reading all its ordinals, without documents.
    pub fn cost_of_numbers(&self) -> u64 {
        self.entry_cost(self.walked)
    }

    fn entry_cost(&self, walked: u64) -> u64 {
        let seeks = self.seeks.saturating_mul(SEEK);
        seeks.saturating_add(self.gathered.saturating_add(walked).saturating_mul(ENTRY))
    }
}

/// The intersection of the sets, leaving out those that cost more than they save; `of` documents in all.
pub(crate) fn intersection(mut sets: Vec<CostedSet>, of: u64) -> Option<CostedSet> {
    sets.sort_by_key(|set| (set.set.is_complement(), set.documents));
    let mut sets = sets.into_iter();
    let first = sets.next().filter(|first| !first.set.is_complement())?;
    let (mut documents, most) = (first.documents, first.documents);
    let mut kept = vec![first];
    for set in sets {
        let left = proportion(documents, set.documents, of);
        let saved = documents.saturating_sub(left).saturating_mul(FETCHED);
        // The sets are assumed to be independent; if they are not, more documents remain, and this set
        // saves all that it does not contain.
        let perhaps = most.min(of.saturating_sub(set.documents)).saturating_mul(FETCHED);
        let saved = saved.max(perhaps / TRY_FRACTION);
        // Either seek each ordinal, or read the whole set.
        let walked = set.walked.min(documents.saturating_mul(SEEK));
        let set = CostedSet { walked, ..set };
        if set.cost_of_numbers() < saved {
            documents = left;
            kept.push(set);
        }
    }
    Some(combined(kept, documents, PostingSet::Intersection))
}

/// The intersection of all sets, each of which is iterated; `of` documents in all.
pub(crate) fn all_of(mut sets: Vec<CostedSet>, of: u64) -> Option<CostedSet> {
    sets.sort_by_key(|set| (set.set.is_complement(), set.documents));
    let documents = sets.iter().fold(of, |documents, set| proportion(documents, set.documents, of));
    let is_walk = sets.first().is_some_and(|first| !first.set.is_complement());
    is_walk.then(|| combined(sets, documents, PostingSet::Intersection))
}

/// The union of the sets; `of` documents in all.
pub(crate) fn union(sets: Vec<CostedSet>, of: u64) -> Option<CostedSet> {
    if sets.iter().any(|set| set.set.is_complement()) {
        return None;
    }
    let is_merged = sets.len() <= limits::POSTINGS_MERGED_MAX;
    let documents = sets.iter().map(|set| set.documents).fold(0, u64::saturating_add).min(of);
    let any = (!sets.is_empty()).then(|| combined(sets, documents, PostingSet::Union))?;
    Some(if is_merged {
        any
    } else {
        CostedSet { gathered: any.gathered.saturating_add(any.walked), walked: 0, ..any }
    })
}

fn combined(sets: Vec<CostedSet>, documents: u64, make: fn(Vec<PostingSet>) -> PostingSet) -> CostedSet {
    let sum = |of: fn(&CostedSet) -> u64| sets.iter().map(of).fold(0, u64::saturating_add);
    let (seeks, gathered, walked) = (sum(|set| set.seeks), sum(|set| set.gathered), sum(|set| set.walked));
    let mut sets: Vec<PostingSet> = sets.into_iter().map(|set| set.set).collect();
    let set = if sets.len() == 1 { sets.remove(0) } else { make(sets) };
    CostedSet { set, documents, seeks, gathered, walked }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(documents: u64) -> CostedSet {
        let set = PostingSet::Ordinals(vec![documents]);
        CostedSet { set, documents, seeks: 1, gathered: 0, walked: documents }
    }

    fn kept(set: &PostingSet) -> Vec<u64> {
        match set {
            PostingSet::Ordinals(numbers) => numbers.clone(),
            PostingSet::Intersection(sets) | PostingSet::Union(sets) => sets.iter().flat_map(kept).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn a_page_pays_for_its_share_and_never_for_more_than_all() {
        let share = |wanted, matches, all| PageFraction { wanted, matches }.of(all);
        assert_eq!(share(10, 100, 10_000), 1_001);
        assert_eq!(share(100, 100, 10_000), 10_000);
        assert_eq!(share(10, 0, 10_000), 10_000);
        assert_eq!(share(u64::MAX, u64::MAX, 5), 5);
        assert_eq!(share(1, u64::MAX, u64::MAX), 2);
        assert_eq!(PageFraction::ALL.of(7), 7);
    }

    #[test]
    fn a_set_is_intersected_with_only_if_it_saves_documents() {
        let check = |sets: &[u64], expected: &[u64], documents: u64| {
            let both = intersection(sets.iter().map(|count| set(*count)).collect(), 10_000).unwrap();
            assert_eq!((kept(&both.set).as_slice(), both.documents), (expected, documents), "{sets:?}");
        };
        check(&[2_000, 100], &[100, 2_000], 20);
        check(&[2_400, 100], &[100, 2_400], 24);
        check(&[2_500, 100], &[100], 100);
        check(&[1, 9_000], &[1], 1);
        check(&[9_999, 100], &[100], 100);
        check(&[100, 100, 100], &[100, 100, 100], 1);
        assert_eq!(intersection(Vec::new(), 10), None);
    }

    fn remainder(documents: u64, others: u64) -> CostedSet {
        let set = PostingSet::AllExcept(vec![others]);
        CostedSet { set, documents, seeks: 2, gathered: others, walked: 0 }
    }

    #[test]
    fn a_complement_needs_another_set() {
        assert_eq!(intersection(vec![remainder(9_000, 1_000)], 10_000), None);
        assert_eq!(union(vec![set(10), remainder(9_000, 1_000)], 10_000), None);
        // 2,000 and 3,000 share perhaps 2,000, and it costs little to learn that 1,900 of them do not
        // match.
        let all = intersection(vec![remainder(98_100, 1_900), set(3_000), set(2_000)], 100_000).unwrap();
        let PostingSet::Intersection(sets) = all.set else { panic!("an intersection") };
        assert!(sets.len() == 3 && sets[2].is_complement() && !sets[0].is_complement());
        let few = intersection(vec![remainder(98_100, 1_900), set(20)], 100_000).unwrap();
        assert!(!matches!(few.set, PostingSet::Intersection(_)));
    }

    #[test]
    fn a_union_has_at_most_all_documents_and_many_parts_are_materialised() {
        let few = union(vec![set(60), set(60)], 100).unwrap();
        assert_eq!((few.documents, few.gathered, few.walked, few.seeks), (100, 0, 120, 2));
        let many = union(vec![set(1); limits::POSTINGS_MERGED_MAX + 1], 100).unwrap();
        assert_eq!((many.gathered, many.walked), (limits::POSTINGS_MERGED_MAX as u64 + 1, 0));
    }
}
