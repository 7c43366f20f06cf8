//! Sets by a composite index: the filter names values for its first parts, one or several for each, and perhaps an
//! interval for the next.

use crate::access::choose::{Choice, Question};
use crate::access::conditions::Narrowed;
use crate::access::cost::{Priced, intersection, union};
use crate::access::indexes::IndexOf;
use crate::error::QueryError;

pub(super) fn offer(question: &Question<'_>) -> Result<Vec<Choice>, QueryError> {
    let mut choices = Vec::new();
    for parts in question.scales.indexes.composites() {
        let narrowed = question.conditions.narrow(parts);
        // With one condition, an index over that path alone does as well.
        if narrowed.conditions.len() < 2 {
            continue;
        }
        let index = IndexOf::Composite(parts.clone());
        let others = question.sets_but_for(&narrowed.conditions);
        let set = question.stretches(&index, narrowed)?.into_iter().chain(others).collect();
        choices.extend(intersection(set, question.scales.documents).map(|set| question.postings(set)));
    }
    Ok(choices)
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
