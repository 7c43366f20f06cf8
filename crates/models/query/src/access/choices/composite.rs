//! Sets by a composite index: the filter names values for its first parts, one or several for each, and perhaps an
//! interval for the next. If it names a value for the part after that too, and the index has few values in the
//! interval, each of them is taken in turn: seven days of one agent are seven short stretches.

use crate::access::choose::{Choice, Question};
use crate::access::conditions::Narrowed;
use crate::access::cost::{Priced, intersection, union};
use crate::access::indexes::{IndexOf, Interval, Path, Span};
use crate::error::QueryError;

pub(super) fn offer(question: &Question<'_>) -> Result<Vec<Choice>, QueryError> {
    let mut choices = Vec::new();
    for parts in question.scales.indexes.composites() {
        let narrowed = question.conditions.narrow(parts);
        let index = IndexOf::Composite(parts.clone());
        let skipping = skipping(question, &index, parts, &narrowed)?;
        for narrowed in [Some(narrowed), skipping].into_iter().flatten() {
            // With one condition, an index over that path alone does as well.
            if narrowed.conditions.len() < 2 {
                continue;
            }
            let others = question.sets_but_for(&narrowed.conditions);
            let set = question.stretches(&index, narrowed)?.into_iter().chain(others).collect();
            choices.extend(intersection(set, question.scales.documents).map(|set| question.postings(set)));
        }
    }
    Ok(choices)
}

/// The stretches behind each value that the index has in the interval at which the others end.
fn skipping(
    question: &Question<'_>,
    index: &IndexOf,
    parts: &[(Path, bool)],
    narrowed: &Narrowed,
) -> Result<Option<Narrowed>, QueryError> {
    let [Span { prefix, next: next @ Interval::Between(..) }] = &narrowed.spans[..] else { return Ok(None) };
    let part = prefix.len();
    let follows = parts.get(part + 1).is_some_and(|(path, _)| question.conditions.constant(path).is_some());
    if !follows {
        return Ok(None);
    }
    let Some(values) = question.scales.values(index, prefix, next)? else { return Ok(None) };
    Ok(Some(question.conditions.narrow_by(parts, Some((part, &values)))))
}

impl Question<'_> {
    /// The sets of the other conditions.
    pub(super) fn sets_but_for(&self, conditions: &[usize]) -> Vec<Priced> {
        let others = self.weighed.iter().enumerate().filter(|(at, _)| !conditions.contains(at));
        others.filter_map(|(_, weighed)| weighed.set.clone()).collect()
    }

    fn stretches(&self, index: &IndexOf, narrowed: Narrowed) -> Result<Option<Priced>, QueryError> {
        let stretch = |span| self.scales.stretch(index.clone(), span);
        let sets = narrowed.spans.into_iter().map(stretch).collect::<Result<Vec<_>, QueryError>>()?;
        Ok(union(sets, self.scales.documents))
    }
}
