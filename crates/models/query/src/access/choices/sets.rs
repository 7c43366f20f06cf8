//! Sets by single paths: the entries of a value, what several have in common, and what any of them has.

use crate::access::choose::{Choice, Question};
use crate::access::cost::{Priced, intersection};
use crate::access::indexes::Path;
use crate::access::way::Access;
use crate::error::QueryError;

pub(super) fn offer(question: &Question<'_>) -> Result<Vec<Choice>, QueryError> {
    let sets: Vec<Priced> = question.weighed.iter().filter_map(|weighed| weighed.set.clone()).collect();
    Ok(intersection(sets, question.scales.documents).map(|set| question.postings(set)).into_iter().collect())
}

impl Question<'_> {
    /// A set's documents, in the order of their numbers.
    pub(super) fn postings(&self, priced: Priced) -> Choice {
        let constants = priced.set.constants();
        let is_known = |path: &Path| constants.iter().any(|(known, _)| known == path);
        let covered = self.reads.as_ref().is_some_and(|reads| reads.iter().all(is_known));
        let cost = priced.cost(self.share(), covered);
        Choice { access: Access::Postings { set: priced.set, covered }, cost }
    }
}
