//! Sets by single paths: the entries of a value, what several have in common, and what any of them has.

use crate::access::choose::{Choice, Question};
use crate::access::cost::{Priced, all_of, intersection};
use crate::access::indexes::Path;
use crate::access::need::IndexPredicate;
use crate::access::way::Access;
use crate::error::QueryError;

pub(super) fn offer(question: &Question<'_>) -> Result<Vec<Choice>, QueryError> {
    let sets: Vec<Priced> = question.weighed.iter().filter_map(|weighed| weighed.set.clone()).collect();
    let lean = if sets.len() > 1 { question.lean()? } else { Vec::new() };
    let telling = [question.telling(&lean), question.telling(&sets)];
    let few = [intersection(lean, question.scales.documents), intersection(sets, question.scales.documents)];
    Ok(few.into_iter().chain(telling).flatten().map(|set| question.postings(set)).collect())
}

impl Question<'_> {
    /// The set of each condition that has one, by those that do not meet it where they are fewer.
    fn lean(&self) -> Result<Vec<Priced>, QueryError> {
        let sets = self.conditions.all.iter().zip(&self.weighed);
        let sets = sets.filter_map(|(condition, weighed)| Some((condition, weighed.set.as_ref()?)));
        let lean = |(condition, set): (&&IndexPredicate, &Priced)| match condition {
            IndexPredicate::Term { path, interval } => {
                let others = self.scales.others(path, interval, set.documents)?;
                Ok(others.unwrap_or_else(|| set.clone()))
            }
            _ => Ok(set.clone()),
        };
        sets.map(lean).collect()
    }

    /// A set's documents, in the order of their numbers.
    pub(super) fn postings(&self, priced: Priced) -> Choice {
        let constants = priced.set.constants();
        let known = |path: &Path| {
            let of_set = constants.iter().find(|(known, _)| known == path).map(|(_, value)| *value);
            Some((path.clone(), of_set.or_else(|| self.given(path))?.clone()))
        };
        let covered = self.reads.as_ref().and_then(|reads| reads.iter().map(known).collect());
        let cost = priced.cost(self.share(), covered.is_some());
        Choice { access: Access::Postings { set: priced.set, covered }, cost }
    }

    /// What the sets have in common that together tell all that is read: none of them may save a document, and yet
    /// with all of them no document is needed.
    fn telling(&self, sets: &[Priced]) -> Option<Priced> {
        let mut wanted: Vec<&Path> = self.reads.as_ref()?.iter().collect();
        wanted.retain(|path| self.given(path).is_none());
        let mut chosen: Vec<Priced> = Vec::new();
        for set in sets {
            let told: Vec<Path> = set.set.constants().into_iter().map(|(path, _)| path).collect();
            if wanted.iter().any(|path| told.contains(path)) {
                wanted.retain(|path| !told.contains(path));
                chosen.push(set.clone());
            }
        }
        if wanted.is_empty() && chosen.len() > 1 { all_of(chosen, self.scales.documents) } else { None }
    }
}
