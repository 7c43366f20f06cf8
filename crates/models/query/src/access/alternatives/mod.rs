//! What can be done for a query, one rule a file. A rule knows nothing of the others.

mod index_scan;
mod index_sets;
pub(super) mod min_max;
mod order_by;

use super::choose::{Alternative, PlanInput};
use super::cost::{self, PageFraction};
use crate::access::access_path::Access;
use crate::error::QueryError;

type Rule = fn(&PlanInput<'_>) -> Result<Vec<Alternative>, QueryError>;

/// Of ways that cost the same, the first is taken.
const RULES: &[Rule] = &[scan, order_by::offer, index_sets::single, index_sets::composite, index_scan::offer];

pub(super) fn all(input: &PlanInput<'_>) -> Result<Vec<Alternative>, QueryError> {
    let mut alternatives = Vec::new();
    for rule in RULES {
        alternatives.extend(rule(input)?);
    }
    Ok(alternatives)
}

/// Reading all documents.
fn scan(input: &PlanInput<'_>) -> Result<Vec<Alternative>, QueryError> {
    let cost = cost::scan(input.estimator.documents, input.share());
    Ok(vec![Alternative { access: Access::Scan, cost }])
}

/// Whether so few documents are read before an index is asked what it has.
pub(super) fn is_small(documents: u64) -> bool {
    cost::scan(documents, PageFraction::ALL) <= 2 * cost::SEEK
}

impl PlanInput<'_> {
    /// How far documents are walked that come in no order of the query's.
    fn share(&self) -> PageFraction {
        if self.block.is_streaming() {
            PageFraction { wanted: self.request.rows, matches: self.matches }
        } else {
            PageFraction::ALL
        }
    }
}
