//! What can be done for a query, one rule a file. A rule knows nothing of the others.

mod composite;
mod ordered;
mod scan;
mod sets;
pub(super) mod told;
mod walk;

use super::choose::{Choice, Question};
use super::cost::{self, Share};
use crate::error::QueryError;

type Rule = fn(&Question<'_>) -> Result<Vec<Choice>, QueryError>;

/// Of ways that cost the same, the first is taken.
const RULES: &[Rule] = &[scan::offer, ordered::offer, sets::offer, composite::offer, walk::offer];

pub(super) fn all(question: &Question<'_>) -> Result<Vec<Choice>, QueryError> {
    let mut choices = Vec::new();
    for rule in RULES {
        choices.extend(rule(question)?);
    }
    Ok(choices)
}

/// Whether so few documents are read before an index is asked what it has.
pub(super) fn is_small(documents: u64) -> bool {
    cost::scan(documents, Share::ALL) <= 2 * cost::SEEK
}

impl Question<'_> {
    /// How far documents are walked that come in no order of the query's.
    fn share(&self) -> Share {
        if self.block.is_streaming() {
            Share { wanted: self.task.rows, matches: self.matches }
        } else {
            Share::ALL
        }
    }
}
