//! Posting sets from single-path indexes: the postings of a value, intersections and unions.

use crate::access::access_path::Access;
use crate::access::choose::{Alternative, PlanInput};
use crate::access::conditions::IndexSpans;
use crate::access::cost::{CostedSet, all_of, intersection, union};
use crate::access::indexes::{IndexOf, Interval, Path, Span};
use crate::access::predicate::IndexPredicate;
use crate::error::QueryError;

pub(super) fn single(input: &PlanInput<'_>) -> Result<Vec<Alternative>, QueryError> {
    let sets: Vec<CostedSet> = input.estimates.iter().filter_map(|estimates| estimates.set.clone()).collect();
    let smaller_sets = if sets.len() > 1 { input.smaller_sets()? } else { Vec::new() };
    let covering_sets = [input.covering_sets(&smaller_sets), input.covering_sets(&sets)];
    let few = [
        intersection(smaller_sets, input.estimator.documents),
        intersection(sets, input.estimator.documents),
    ];
    Ok(few.into_iter().chain(covering_sets).flatten().map(|set| input.postings(set)).collect())
}

impl PlanInput<'_> {
    /// The posting set of each condition that has one, or its complement where that is smaller.
    fn smaller_sets(&self) -> Result<Vec<CostedSet>, QueryError> {
        let sets = self.conditions.all.iter().zip(&self.estimates);
        let sets = sets.filter_map(|(condition, estimates)| Some((condition, estimates.set.as_ref()?)));
        let smaller_sets = |(condition, set): (&&IndexPredicate, &CostedSet)| match condition {
            IndexPredicate::Term { path, interval } => {
                let others = self.estimator.complement(path, interval, set.documents)?;
                Ok(others.unwrap_or_else(|| set.clone()))
            }
            _ => Ok(set.clone()),
        };
        sets.map(smaller_sets).collect()
    }

    /// The documents of a set, in ordinal order.
    pub(super) fn postings(&self, priced: CostedSet) -> Alternative {
        let constants = priced.set.constants();
        let known = |path: &Path| {
            let of_set = constants.iter().find(|(known, _)| known == path).map(|(_, value)| *value);
            Some((path.clone(), of_set.or_else(|| self.given(path))?.clone()))
        };
        let covered = self.reads.as_ref().and_then(|reads| reads.iter().map(known).collect());
        let cost = priced.cost(self.share(), covered.is_some());
        Alternative { access: Access::Postings { set: priced.set, covered }, cost }
    }

    /// The intersection of sets that together cover the query. Each alone may exclude no document, but
    /// with all of them no document is read.
    fn covering_sets(&self, sets: &[CostedSet]) -> Option<CostedSet> {
        let mut wanted: Vec<&Path> = self.reads.as_ref()?.iter().collect();
        wanted.retain(|path| self.given(path).is_none());
        let mut chosen: Vec<CostedSet> = Vec::new();
        for set in sets {
            let told: Vec<Path> = set.set.constants().into_iter().map(|(path, _)| path).collect();
            if wanted.iter().any(|path| told.contains(path)) {
                wanted.retain(|path| !told.contains(path));
                chosen.push(set.clone());
            }
        }
        if wanted.is_empty() && chosen.len() > 1 { all_of(chosen, self.estimator.documents) } else { None }
    }
}

// Posting sets from a composite index: the filter fixes one or several values for its first parts
// and perhaps an interval for the next. If it also fixes a value for the part after that, and the
// interval holds few distinct values, each value gets its own span (a skip scan): seven days of one
// agent are seven short spans.

pub(super) fn composite(input: &PlanInput<'_>) -> Result<Vec<Alternative>, QueryError> {
    let mut alternatives = Vec::new();
    for parts in input.estimator.indexes.composites() {
        let narrowed = input.conditions.spans(parts);
        let index = IndexOf::Composite(parts.clone());
        let skip_scan = skip_scan(input, &index, parts, &narrowed)?;
        for narrowed in [Some(narrowed), skip_scan].into_iter().flatten() {
            // For a single condition, an index over that path alone is as good.
            if narrowed.conditions.len() < 2 {
                continue;
            }
            let others = input.other_sets(&narrowed.conditions);
            let set = input.span_sets(&index, narrowed)?.into_iter().chain(others).collect();
            alternatives.extend(intersection(set, input.estimator.documents).map(|set| input.postings(set)));
        }
    }
    Ok(alternatives)
}

/// One span for each distinct value in the interval that ends the prefix.
fn skip_scan(
    input: &PlanInput<'_>,
    index: &IndexOf,
    parts: &[(Path, bool)],
    narrowed: &IndexSpans,
) -> Result<Option<IndexSpans>, QueryError> {
    let [Span { prefix, next: next @ Interval::Between(..) }] = &narrowed.spans[..] else { return Ok(None) };
    let part = prefix.len();
    let follows = parts.get(part + 1).is_some_and(|(path, _)| input.conditions.constant(path).is_some());
    if !follows {
        return Ok(None);
    }
    let Some(values) = input.estimator.distinct_values(index, prefix, next)? else { return Ok(None) };
    Ok(Some(input.conditions.spans_with(parts, Some((part, &values)))))
}

impl PlanInput<'_> {
    /// The posting sets of the other conditions.
    pub(super) fn other_sets(&self, conditions: &[usize]) -> Vec<CostedSet> {
        let others = self.estimates.iter().enumerate().filter(|(at, _)| !conditions.contains(at));
        others.filter_map(|(_, estimates)| estimates.set.clone()).collect()
    }

    fn span_sets(&self, index: &IndexOf, narrowed: IndexSpans) -> Result<Option<CostedSet>, QueryError> {
        let stretch = |span| self.estimator.span(index.clone(), span);
        let sets = narrowed.spans.into_iter().map(stretch).collect::<Result<Vec<_>, QueryError>>()?;
        Ok(union(sets, self.estimator.documents))
    }
}
