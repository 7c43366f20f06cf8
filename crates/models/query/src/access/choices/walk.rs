//! A walk along an index for queries that take documents in any order: nothing is gathered first, and where the
//! query reads only what the index has, no document is read.

use crate::access::choose::{Choice, Question, needed_path};
use crate::access::cost::{self, ENTRY, SEEK};
use crate::access::indexes::{IndexOf, Path, Step};
use crate::access::need::IndexPredicate;
use crate::access::way::{Access, IndexScan, passes_array};
use crate::error::QueryError;

pub(super) fn offer(question: &Question<'_>) -> Result<Vec<Choice>, QueryError> {
    if question.block.is_streaming() {
        return Ok(Vec::new());
    }
    let mut choices = Vec::new();
    for index in indexes(question) {
        choices.extend(along(question, index)?);
    }
    Ok(choices)
}

/// Those that the filter narrows, and those that may have all that is read.
fn indexes(question: &Question<'_>) -> Vec<IndexOf> {
    let conditions = question.conditions.all.iter().filter_map(|need| path_of(need)).cloned();
    let covering = match question.reads.as_deref() {
        // Only how many there are: every document has an id.
        Some([]) => Some(Path::from([Step::Member("id".to_owned())])),
        Some([path]) => Some(path.clone()),
        _ => None,
    };
    let mut paths: Vec<Path> = conditions.chain(covering).collect();
    let narrows = |path: &Path| !passes_array(path) && question.given(path).is_none();
    paths.retain(|path| narrows(path) && question.scales.indexes.has(path));
    paths.sort();
    paths.dedup();
    let composites = question.scales.indexes.composites().iter().cloned().map(IndexOf::Composite);
    paths.into_iter().map(IndexOf::Path).chain(composites).collect()
}

/// The one path that a condition is about.
fn path_of(need: &IndexPredicate) -> Option<&Path> {
    match need {
        IndexPredicate::Term { path, .. } => Some(path),
        IndexPredicate::Or(parts) => parts.first().and_then(path_of),
        _ => None,
    }
}

fn along(question: &Question<'_>, index: IndexOf) -> Result<Option<Choice>, QueryError> {
    let parts = index.parts();
    let narrowed = question.conditions.narrow(&parts);
    let covered = question.covered(&parts);
    let is_useful = covered.is_some() || !narrowed.conditions.is_empty();
    if !is_useful || !question.is_complete(&index)? {
        return Ok(None);
    }
    let mut cost = 0u64;
    for span in &narrowed.spans {
        let entries = question.scales.count(&index, span)?;
        cost = cost.saturating_add(SEEK + entries.saturating_mul(ENTRY + cost::shown(covered.is_some())));
    }
    let spans = narrowed.spans;
    let along = IndexScan { index, spans, merged: false, reverse: false, among: None, covered, sorted: None };
    Ok(Some(Choice { access: Access::IndexScan(along), cost }))
}

impl Question<'_> {
    /// Whether every document has an entry that can pass the filter and give a row that counts.
    pub(super) fn is_complete(&self, index: &IndexOf) -> Result<bool, QueryError> {
        let parts = index.parts();
        if parts.iter().any(|(path, _)| self.conditions.define(path))
            || self.scales.indexes.documents_indexed(index)? >= self.scales.documents
        {
            return Ok(true);
        }
        Ok(needed_path(self.block).is_some_and(|needed| parts.iter().any(|(path, _)| *path == needed)))
    }
}
