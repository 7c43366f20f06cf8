//! Selectivity: the estimated cardinality of each condition, and its posting set if an index has one.
//!
//! Indexes are probed with a bounded number of bounded counts; the rest is guessed. A wrong guess
//! makes a query slower, never wrong. A guess is refined by a longer count if another condition
//! already bounds the cost: for a hundred failed events, reading a hundred entries to learn how
//! many are due pays off.

use super::access_path::{PostingSet, passes_array};
use super::cost::{CostedSet, PageFraction, intersection, proportion, union};
use super::indexes::{EntryValue, IndexOf, Indexes, Interval, Path, Rectangle, Span};
use super::materialize::{self, Side};
use super::predicate::IndexPredicate;
use crate::datum::{Datum, Kind};
use crate::error::QueryError;
use crate::execute::ExecContext;
use crate::limits;
use orrery_value::Value;
use std::cell::{Cell, RefCell};
use std::ops::Bound;

pub(crate) struct Estimator<'a> {
    pub indexes: &'a dyn Indexes,
    /// The number of documents.
    pub documents: u64,
    ctx: &'a ExecContext<'a>,
    probes_left: Cell<u32>,
    /// Counts made so far; several alternatives count the same span.
    cardinality: RefCell<Vec<(IndexOf, Span, Count)>>,
}

/// What is known of a condition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Estimate {
    /// The estimated number of matching documents.
    pub matches: u64,
    /// The documents that may match; `None` if no index can tell.
    pub set: Option<CostedSet>,
    /// Whether it is a default guess, neither counted nor derived from counts.
    pub is_guess: bool,
}

impl Estimate {
    fn known(set: CostedSet) -> Self {
        Self { matches: set.documents, set: Some(set), is_guess: false }
    }
}

/// An approximate count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Count {
    entries: u64,
    is_guess: bool,
}

/// Default selectivities: one in `EQUAL_GUESS` documents has a given value, one in `WITHIN_GUESS`
/// lies in an interval.
const EQUAL_GUESS: u64 = 10;
const WITHIN_GUESS: u64 = 3;
/// Parts of a long OR that are counted; the others are assumed to be similar.
const PARTS_COUNTED: usize = 16;
/// At most this fraction of a query's cost is spent on refining estimates.
const SPENT_ON_COUNTING: u64 = 8;

impl<'a> Estimator<'a> {
    pub fn new(indexes: &'a dyn Indexes, ctx: &'a ExecContext<'a>) -> Result<Self, QueryError> {
        let documents = indexes.documents()?;
        let probes_left = Cell::new(limits::PROBES_MAX);
        Ok(Self { indexes, documents, ctx, probes_left, cardinality: RefCell::default() })
    }

    fn estimate(&self, need: &IndexPredicate) -> Result<Estimate, QueryError> {
        let known = |matches| Estimate { matches, set: None, is_guess: false };
        match need {
            IndexPredicate::True => Ok(known(self.documents)),
            IndexPredicate::False => Ok(known(0)),
            IndexPredicate::Term { path, interval } => self.term(path, interval),
            IndexPredicate::Shape { path, rectangle } => self.shape(path, rectangle),
            IndexPredicate::And(parts) => {
                let parts: Vec<&IndexPredicate> = parts.iter().collect();
                let estimates = self.estimate_all(&parts, &[])?;
                let matches = self.conjunction(&estimates);
                let is_guess = estimates.iter().any(|part| part.is_guess);
                let sets = estimates.into_iter().filter_map(|part| part.set).collect();
                Ok(Estimate { matches, set: intersection(sets, self.documents), is_guess })
            }
            IndexPredicate::Or(parts) => self.disjunction(parts),
        }
    }

    /// Estimates conjuncts. The cheapest counted one bounds the effort spent on refining the others. A
    /// condition on a path with the same value in all documents restricts nothing.
    pub fn estimate_all(
        &self,
        conditions: &[&IndexPredicate],
        given: &[Path],
    ) -> Result<Vec<Estimate>, QueryError> {
        let estimates = conditions.iter().map(|condition| match condition {
            IndexPredicate::Term { path, interval } if given.contains(path) && interval.only().is_some() => {
                Ok(Estimate { matches: self.documents, set: None, is_guess: false })
            }
            condition => self.estimate(condition),
        });
        let mut estimates = estimates.collect::<Result<Vec<_>, QueryError>>()?;
        let best = estimates.iter().filter(|part| !part.is_guess).filter_map(|part| part.set.as_ref());
        let Some(best) = best.map(|set| set.cost(PageFraction::ALL, false)).min() else {
            return Ok(estimates);
        };
        let max = (best / SPENT_ON_COUNTING).min(limits::PROBE_ENTRIES_FURTHER_MAX);
        for (condition, part) in conditions.iter().zip(&mut estimates) {
            if let IndexPredicate::Term { path, interval } = condition
                && part.is_guess
                && interval.only().is_none()
                && part.set.is_some()
                && max > limits::PROBE_ENTRIES_MAX
            {
                *part = self.refine(path, interval, max)?;
            }
        }
        Ok(estimates)
    }

    /// Estimates an interval with many entries: either its entries are read or those outside it,
    /// whichever are fewer.
    fn refine(&self, path: &Path, interval: &Interval, max: u64) -> Result<Estimate, QueryError> {
        let (index, span) = (IndexOf::Path(path.clone()), Span::within(interval.clone()));
        let probed = || {
            self.ctx.count_probe(1);
            Ok(())
        };
        let known = self.indexes.documents_indexed(&index)?;
        let side = match passes_array(path) {
            // An element outside the interval says nothing about the others.
            true => {
                materialize::within(self.indexes, &index, &span, max as usize, &probed)?.map(Side::Inside)
            }
            false => materialize::smaller_side(self.indexes, path, interval, max as usize, &probed)?,
        };
        Ok(match side {
            Some(Side::Inside(numbers)) => {
                let set = costed(index, span, numbers.len() as u64);
                self.ctx.cache_ordinals(set.set.clone(), numbers);
                Estimate::known(set)
            }
            Some(Side::Outside(others)) => {
                let set = PostingSet::NotOutside { path: path.clone(), interval: interval.clone() };
                let (documents, gathered) = (known.saturating_sub(others.len() as u64), others.len() as u64);
                self.ctx.cache_ordinals(set.clone(), others);
                Estimate::known(CostedSet { set, documents, seeks: 2, gathered, walked: 0 })
            }
            None => {
                let documents = known.div_ceil(WITHIN_GUESS).max(max);
                let set = Some(costed(index, span, documents));
                Estimate { matches: documents, set, is_guess: true }
            }
        })
    }

    /// The set of a boolean condition that most documents satisfy, as the complement of those that do
    /// not. All documents must have a boolean at the path.
    pub fn complement(
        &self,
        path: &Path,
        interval: &Interval,
        documents: u64,
    ) -> Result<Option<CostedSet>, QueryError> {
        let Some(Value::Bool(_)) = interval.only() else { return Ok(None) };
        let index = IndexOf::Path(path.clone());
        let is_most =
            documents > self.documents / 2 && self.indexes.documents_indexed(&index)? >= self.documents;
        if !is_most || passes_array(path) {
            return Ok(None);
        }
        // Values are sorted by type, so the first and last decide for all.
        for reverse in [false, true] {
            self.ctx.count_probe(1);
            let mut entries = self.indexes.entries(&index, &Span::all(), reverse, None)?;
            let is_flag = |value| matches!(value, EntryValue::Exact(Value::Bool(_)));
            if entries.next()?.is_some() && !is_flag(entries.value(0)) {
                return Ok(None);
            }
        }
        let set = PostingSet::NotOutside { path: path.clone(), interval: interval.clone() };
        let gathered = self.documents.saturating_sub(documents);
        Ok(Some(CostedSet { set, documents, seeks: 1, gathered, walked: 0 }))
    }

    /// The number of documents that satisfy all conditions, assumed independent.
    pub fn conjunction(&self, conditions: &[Estimate]) -> u64 {
        let both = |documents, part: &Estimate| proportion(documents, part.matches, self.documents);
        conditions.iter().fold(self.documents, both)
    }

    fn disjunction(&self, parts: &[IndexPredicate]) -> Result<Estimate, QueryError> {
        let (cardinality, rest) = parts.split_at(parts.len().min(PARTS_COUNTED));
        let mut estimates =
            cardinality.iter().map(|part| self.estimate(part)).collect::<Result<Vec<_>, QueryError>>()?;
        let sum: u64 = estimates.iter().map(|part| part.matches).fold(0, u64::saturating_add);
        let mean = sum / cardinality.len().max(1) as u64;
        // Without counting, only to obtain the sets.
        let probes = self.probes_left.replace(0);
        for part in rest {
            let mut part = self.estimate(part)?;
            part.matches = part.matches.min(mean);
            if let Some(set) = &mut part.set {
                set.documents = set.documents.min(mean);
                set.walked = set.walked.min(mean);
                set.gathered = set.gathered.min(mean);
            }
            estimates.push(part);
        }
        self.probes_left.set(probes);
        let matches = estimates.iter().map(|part| part.matches).fold(0, u64::saturating_add);
        let is_guess = estimates.iter().any(|part| part.is_guess);
        let sets = estimates.into_iter().map(|part| part.set).collect::<Option<Vec<_>>>();
        let set = sets.and_then(|sets| union(sets, self.documents));
        Ok(Estimate { matches: matches.min(self.documents), set, is_guess })
    }

    fn term(&self, path: &Path, interval: &Interval) -> Result<Estimate, QueryError> {
        if !self.indexes.has(path) || !has_entries(path, interval) {
            let guess = if interval.only().is_some() { EQUAL_GUESS } else { WITHIN_GUESS };
            let matches = self.documents.div_ceil(guess);
            return Ok(Estimate { matches, set: None, is_guess: true });
        }
        let index = IndexOf::Path(path.clone());
        let span = match interval.only() {
            Some(value) => Span::of(value.clone()),
            None => Span::within(interval.clone()),
        };
        let count = self.cardinality(&index, &span)?;
        let set = costed(index, span, count.entries);
        Ok(Estimate { is_guess: count.is_guess, ..Estimate::known(set) })
    }

    /// The documents of a span of an index.
    pub fn span(&self, index: IndexOf, span: Span) -> Result<CostedSet, QueryError> {
        let documents = self.count(&index, &span)?;
        Ok(costed(index, span, documents))
    }

    fn shape(&self, path: &Path, rectangle: &Rectangle) -> Result<Estimate, QueryError> {
        let guess = self.documents.div_ceil(WITHIN_GUESS);
        if !self.indexes.has_spatial(path) {
            return Ok(Estimate { matches: guess, set: None, is_guess: true });
        }
        let near = match self.may_probe() {
            true => self.indexes.spatial_candidates(path, rectangle, limits::PROBE_ENTRIES_MAX)?,
            false => None,
        };
        let is_guess = near.is_none();
        let documents = near.map_or(guess, |near| near.len() as u64);
        self.ctx.count_probe(documents.min(limits::PROBE_ENTRIES_MAX));
        let set = PostingSet::Spatial { path: path.clone(), rectangle: *rectangle };
        let set = CostedSet { set, documents, seeks: 1, gathered: documents, walked: 0 };
        Ok(Estimate { is_guess, ..Estimate::known(set) })
    }

    /// The approximate number of entries in a span.
    pub fn count(&self, index: &IndexOf, span: &Span) -> Result<u64, QueryError> {
        Ok(self.cardinality(index, span)?.entries)
    }

    fn cardinality(&self, index: &IndexOf, span: &Span) -> Result<Count, QueryError> {
        let is_same = |known: &&(IndexOf, Span, Count)| known.0 == *index && known.1 == *span;
        if let Some((_, _, count)) = self.cardinality.borrow().iter().find(is_same) {
            return Ok(*count);
        }
        // Guessed now because the probes are spent; a later call may count it.
        let may_count = self.probes_left.get() > 0;
        let count = self.count_now(index, span)?;
        if may_count {
            self.cardinality.borrow_mut().push((index.clone(), span.clone(), count));
        }
        Ok(count)
    }

    fn count_now(&self, index: &IndexOf, span: &Span) -> Result<Count, QueryError> {
        let known = self.indexes.documents_indexed(index)?;
        if *span == Span::all() && known > 0 {
            return Ok(Count { entries: known, is_guess: false });
        }
        // Beyond a fraction, the number need not be distinguished from all documents.
        let max = limits::PROBE_ENTRIES_MAX.min(self.documents / 4 + 16);
        let cardinality = if self.may_probe() { Some(self.indexes.count(index, span, max)?) } else { None };
        self.ctx.count_probe(cardinality.map_or(0, |cardinality| cardinality.min(max)));
        if let Some(cardinality) = cardinality.filter(|cardinality| *cardinality != max) {
            return Ok(Count { entries: cardinality, is_guess: false });
        }
        // A count of zero may be missing entries.
        let all = if known > 0 { known } else { self.documents };
        let guess = match (span.prefix.is_empty(), &span.next) {
            (true, Interval::All) => all,
            (false, Interval::All) => all.div_ceil(EQUAL_GUESS),
            (true, _) => all.div_ceil(WITHIN_GUESS),
            (false, _) => all.div_ceil(EQUAL_GUESS * WITHIN_GUESS),
        };
        Ok(Count { entries: guess.max(cardinality.unwrap_or(0)), is_guess: true })
    }

    /// The distinct values of the part after the prefix, if they are few and stored exactly.
    pub fn distinct_values(
        &self,
        index: &IndexOf,
        prefix: &[Value],
        interval: &Interval,
    ) -> Result<Option<Vec<Value>>, QueryError> {
        let (part, mut next, mut values) = (prefix.len(), Some(interval.clone()), Vec::new());
        while let Some(interval) = next {
            self.ctx.count_probe(1);
            let span = Span { prefix: prefix.to_vec(), next: interval.clone() };
            let mut entries = self.indexes.entries(index, &span, false, None)?;
            if entries.next()?.is_none() {
                return Ok(Some(values));
            }
            let EntryValue::Exact(value) = entries.value(part) else { return Ok(None) };
            if values.len() == limits::INDEX_SKIPS_MAX || values.last() == Some(&value) {
                return Ok(None);
            }
            next = interval.without(&value, index.parts()[part].1);
            values.push(value);
        }
        Ok(Some(values))
    }

    fn may_probe(&self) -> bool {
        let left = self.probes_left.get();
        self.probes_left.set(left.saturating_sub(1));
        left > 0
    }
}

/// The cost of a span with this many documents.
fn costed(index: IndexOf, span: Span, documents: u64) -> CostedSet {
    let parts = if let IndexOf::Composite(parts) = &index { parts.len() } else { 1 };
    if span.prefix.len() == parts {
        let set = PostingSet::Equal { index, values: span.prefix };
        CostedSet { set, documents, seeks: 1, gathered: 0, walked: documents }
    } else {
        CostedSet {
            set: PostingSet::Range { index, span },
            documents,
            seeks: 1,
            gathered: documents,
            walked: 0,
        }
    }
}

/// Whether every value in the interval has an entry. Arrays and objects have one, a marker, only at paths
/// that pass no array.
fn has_entries(path: &Path, interval: &Interval) -> bool {
    let is_scalar = |end: &Bound<Value>| match end {
        Bound::Included(value) | Bound::Excluded(value) => Some(Datum::of(value).kind() < Kind::Array),
        Bound::Unbounded => None,
    };
    !passes_array(path)
        || match interval {
            Interval::All => false,
            Interval::StartsWith(_) => true,
            Interval::Between(low, high) => is_scalar(low).or(is_scalar(high)).unwrap_or(false),
        }
}
