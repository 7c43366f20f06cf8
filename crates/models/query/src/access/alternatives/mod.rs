//! The access paths a query could take, one rule per file. Rules are independent of each other.

mod index_scan;
mod index_sets;
pub(super) mod min_max;
mod order_by;

use super::choose::{Alternative, PlanInput};
use super::cost::{self, PageFraction};
use crate::access::access_path::Access;
use crate::error::QueryError;

type Rule = fn(&PlanInput<'_>) -> Result<Vec<Alternative>, QueryError>;

/// On equal cost the first alternative wins.
const RULES: &[Rule] = &[scan, order_by::offer, index_sets::single, index_sets::composite, index_scan::offer];

pub(super) fn all(input: &PlanInput<'_>) -> Result<Vec<Alternative>, QueryError> {
    let mut alternatives = Vec::new();
    for rule in RULES {
        alternatives.extend(rule(input)?);
    }
    Ok(alternatives)
}

/// Reads all documents.
fn scan(input: &PlanInput<'_>) -> Result<Vec<Alternative>, QueryError> {
    let cost = cost::scan(input.estimator.documents, input.share());
    Ok(vec![Alternative { access: Access::Scan, cost }])
}

/// Whether the collection is so small that a scan is cheaper than probing an index.
pub(super) fn is_small(documents: u64) -> bool {
    cost::scan(documents, PageFraction::ALL) <= 2 * cost::SEEK
}

impl PlanInput<'_> {
    /// The fraction of documents that is read when they arrive in an order the query did not ask
    /// for.
    fn share(&self) -> PageFraction {
        if self.block.is_streaming() {
            PageFraction { wanted: self.request.rows, matches: self.matches }
        } else {
            PageFraction::ALL
        }
    }
}
