//! Choosing an access path: each rule of `alternatives/` offers candidates with their cost, and the
//! cheapest wins.

use super::access_path::{Access, Covering, passes_array};
use super::alternatives;
use super::conditions::Conditions;
use super::document_path::{SlotPaths, path_of, paths_read};
use super::indexes::{Indexes, Path};
use super::predicate::IndexPredicate;
use super::selectivity::{Estimate, Estimator};
use crate::bind::bound::{Block, SourceOf};
use crate::error::QueryError;
use crate::execute::{Collection, ExecContext};
use orrery_value::Value;

/// Which of the possible access paths to take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AccessPreference {
    #[default]
    Cheapest,
    /// Scan, whatever indexes exist.
    Scan,
    /// The n-th alternative regardless of cost, or the last one; lets a test run all of them.
    Nth(usize),
}

/// The order in which documents come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScanOrder {
    #[default]
    Key,
    Ordinal,
}

/// The requirements of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageRequest {
    /// Rows until the page is full, including skipped ones.
    pub rows: u64,
    /// The scan order of the previous page.
    pub order_of_scan: Option<ScanOrder>,
    pub prefer: AccessPreference,
}

/// An access path and its cost.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Alternative {
    pub access: Access,
    pub cost: u64,
}

/// The input of the rules.
pub(crate) struct PlanInput<'a> {
    pub block: &'a Block,
    pub conditions: Conditions<'a>,
    /// The estimate of each condition.
    pub estimates: Vec<Estimate>,
    /// Values that every document of the collection shares.
    pub given: Vec<(Path, Value)>,
    /// The estimated number of documents that pass the filter.
    pub matches: u64,
    pub estimator: Estimator<'a>,
    /// The path of each ORDER BY key, where the key is a path that passes no array.
    pub order: Vec<Option<Path>>,
    /// The paths that the query reads; `None` if it needs whole documents.
    pub reads: Option<Vec<Path>>,
    pub request: PageRequest,
}

/// Chooses the access path of a block. It is a scan where indexes do not help or do not apply: subqueries in
/// FROM read rows, not documents, and rankings need all documents.
pub(crate) fn choose(
    block: &Block,
    need: &IndexPredicate,
    indexes: Option<&dyn Indexes>,
    request: PageRequest,
    ctx: &ExecContext<'_>,
) -> Result<Access, QueryError> {
    orrery_core::tour_step!();
    if request.prefer == AccessPreference::Scan || block.rank.is_some() || !is_over_collection(block) {
        return Ok(Access::Scan);
    }
    if *need == IndexPredicate::False {
        return Ok(Access::Nothing);
    }
    let Some(indexes) = indexes.filter(|_| request.order_of_scan != Some(ScanOrder::Key)) else {
        return Ok(Access::Scan);
    };
    let estimator = Estimator::new(indexes, ctx)?;
    if request.prefer == AccessPreference::Cheapest
        && alternatives::is_small(estimator.documents)
        && request.order_of_scan.is_none()
    {
        return Ok(Access::Scan);
    }
    let min_max = alternatives::min_max::path(block, need, indexes)?;
    if let (AccessPreference::Cheapest, Some(min_max)) = (request.prefer, &min_max) {
        return Ok(min_max.clone());
    }
    let input = PlanInput::new(block, need, estimator, request)?;
    let mut alternatives_found = alternatives::all(&input)?;
    alternatives_found.extend(min_max.map(|access| Alternative { access, cost: 0 }));
    alternatives_found.retain(|alternative| can_resume(&alternative.access, request.order_of_scan));
    let chosen = match request.prefer {
        AccessPreference::Nth(at) => alternatives_found.into_iter().take(at.saturating_add(1)).next_back(),
        _ => alternatives_found.into_iter().min_by_key(|alternative| alternative.cost),
    };
    Ok(chosen.map_or(Access::Scan, |alternative| alternative.access))
}

/// A streaming scan runs in ordinal order where that is cheap, so that clients see items in creation order.
/// Later pages keep the order of the first.
pub(crate) fn in_order(
    access: Access,
    block: &Block,
    request: PageRequest,
    collection: &dyn Collection,
) -> Result<Access, QueryError> {
    let is_wanted = access == Access::Scan
        && request.prefer == AccessPreference::Cheapest
        && request.order_of_scan != Some(ScanOrder::Key)
        && block.is_streaming()
        && is_over_collection(block);
    let begun = request.order_of_scan == Some(ScanOrder::Ordinal);
    let is_there = is_wanted && collection.ordinal_scan(begun)?.is_some();
    Ok(if is_there { Access::OrdinalScan } else { access })
}

fn is_over_collection(block: &Block) -> bool {
    matches!(block.from.first().map(|source| &source.of), Some(SourceOf::Collection))
}

/// Whether the access path continues in the order of the previous page.
fn can_resume(access: &Access, order_of_scan: Option<ScanOrder>) -> bool {
    match order_of_scan {
        None => true,
        Some(ScanOrder::Key) => *access == Access::Scan,
        Some(ScanOrder::Ordinal) => matches!(access, Access::Postings { .. }),
    }
}

impl<'a> PlanInput<'a> {
    fn new(
        block: &'a Block,
        need: &'a IndexPredicate,
        estimator: Estimator<'a>,
        request: PageRequest,
    ) -> Result<Self, QueryError> {
        let conditions = Conditions::of(need);
        let given = estimator.indexes.constant_paths(&|path| conditions.constant(path).cloned());
        let estimates = estimator.estimate_all(&conditions.all, &given)?;
        let value = |path: Path| conditions.constant(&path).cloned().map(|value| (path, value));
        let given = given.into_iter().filter_map(value).collect();
        let matches = estimator.conjunction(&estimates);
        let (order, reads) = (order_paths(block), paths_read(block));
        Ok(Self { block, conditions, estimates, given, matches, estimator, order, reads, request })
    }

    /// The covering read, if the index parts and the shared values supply everything that the query
    /// reads.
    pub fn covered(&self, parts: &[(Path, bool)]) -> Option<Covering> {
        let mut covered = Covering { parts: Vec::new(), given: Vec::new() };
        for path in self.reads.as_ref()? {
            match parts.iter().position(|(part, _)| part == path) {
                Some(part) => covered.parts.push(part),
                None => covered.given.push((path.clone(), self.given(path)?.clone())),
            }
        }
        Some(covered)
    }

    /// The value that every document has at a path.
    pub fn given(&self, path: &Path) -> Option<&Value> {
        self.given.iter().find(|(known, _)| known == path).map(|(_, value)| value)
    }
}

/// A path without which a document gives no row, or a row that changes nothing: the path is the whole SELECT,
/// or the argument of all aggregates without GROUP BY. It passes no array.
pub(crate) fn needed_path(block: &Block) -> Option<Path> {
    let slots = SlotPaths::of(block);
    let path = match &block.grouping {
        None => path_of(&block.select, &slots)?,
        Some(grouping) if !grouping.keys.is_empty() => return None,
        Some(grouping) => {
            let mut paths = grouping.aggregates.iter().map(|one| path_of(&one.arg, &slots));
            let first = paths.next()??;
            paths.all(|path| path.as_ref() == Some(&first)).then_some(first)?
        }
    };
    (!passes_array(&path)).then_some(path)
}

/// The path of each ORDER BY key, where it is a path that passes no array.
pub(crate) fn order_paths(block: &Block) -> Vec<Option<Path>> {
    let slots = SlotPaths::of(block);
    let paths = block.order.iter().map(|key| path_of(&key.expr, &slots));
    paths.map(|path| path.filter(|path| !passes_array(path))).collect()
}
