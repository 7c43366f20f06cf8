//! An index scan for queries that accept documents in any order. Nothing is materialised first, and
//! if the index covers the query no document is read.

use crate::access::access_path::{Access, IndexScan, passes_array};
use crate::access::choose::{Alternative, PlanInput, needed_path};
use crate::access::cost::{self, ENTRY, SEEK};
use crate::access::indexes::{IndexOf, Path, Step};
use crate::access::predicate::IndexPredicate;
use crate::error::QueryError;

pub(super) fn offer(input: &PlanInput<'_>) -> Result<Vec<Alternative>, QueryError> {
    if input.block.is_streaming() {
        return Ok(Vec::new());
    }
    let mut alternatives = Vec::new();
    for index in indexes(input) {
        alternatives.extend(alternative(input, index)?);
    }
    Ok(alternatives)
}

/// Indexes that the filter restricts, and indexes that may cover the query.
fn indexes(input: &PlanInput<'_>) -> Vec<IndexOf> {
    let conditions = input.conditions.all.iter().filter_map(|need| path_of(need)).cloned();
    let covering = match input.reads.as_deref() {
        // The query only counts documents, and every document has an id.
        Some([]) => Some(Path::from([Step::Member("id".to_owned())])),
        Some([path]) => Some(path.clone()),
        _ => None,
    };
    let mut paths: Vec<Path> = conditions.chain(covering).collect();
    let narrows = |path: &Path| !passes_array(path) && input.given(path).is_none();
    paths.retain(|path| narrows(path) && input.estimator.indexes.has(path));
    paths.sort();
    paths.dedup();
    let composites = input.estimator.indexes.composites().iter().cloned().map(IndexOf::Composite);
    paths.into_iter().map(IndexOf::Path).chain(composites).collect()
}

/// The single path that a condition concerns.
fn path_of(need: &IndexPredicate) -> Option<&Path> {
    match need {
        IndexPredicate::Term { path, .. } => Some(path),
        IndexPredicate::Or(parts) => parts.first().and_then(path_of),
        _ => None,
    }
}

fn alternative(input: &PlanInput<'_>, index: IndexOf) -> Result<Option<Alternative>, QueryError> {
    let parts = index.parts();
    let narrowed = input.conditions.spans(&parts);
    let covered = input.covered(&parts);
    let is_useful = covered.is_some() || !narrowed.conditions.is_empty();
    if !is_useful || !input.is_complete(&index)? {
        return Ok(None);
    }
    let mut cost = 0u64;
    for span in &narrowed.spans {
        let entries = input.estimator.count(&index, span)?;
        cost = cost.saturating_add(SEEK + entries.saturating_mul(ENTRY + cost::document(covered.is_some())));
    }
    let spans = narrowed.spans;
    let scan =
        IndexScan { index, spans, merged: false, reverse: false, restrict_to: None, covered, sorted: None };
    Ok(Some(Alternative { access: Access::IndexScan(scan), cost }))
}

impl PlanInput<'_> {
    /// Whether every document that can pass the filter and give a relevant row has an entry.
    pub(super) fn is_complete(&self, index: &IndexOf) -> Result<bool, QueryError> {
        let parts = index.parts();
        if parts.iter().any(|(path, _)| self.conditions.define(path))
            || self.estimator.indexes.documents_indexed(index)? >= self.estimator.documents
        {
            return Ok(true);
        }
        Ok(needed_path(self.block).is_some_and(|needed| parts.iter().any(|(path, _)| *path == needed)))
    }
}
