//! MIN and MAX over all rows from the ends of an index, and COUNT beside them where the collection
//! knows its document count. SDKs ask each range for both.
//!
//! An end serves if the query reads only the path, the conditions on it, and paths fixed to one value. Every
//! alternative would read these entries too, so no estimate is needed to choose it.

use crate::access::access_path::{Access, Covering, EndProbe, IndexEnd, IndexEnds, IndexScan, passes_array};
use crate::access::conditions::{Conditions, Constraint};
use crate::access::document_path::{SlotPaths, path_of, paths_read};
use crate::access::indexes::{IndexOf, Indexes, Interval, Path};
use crate::access::interval::kind_of;
use crate::access::predicate::IndexPredicate;
use crate::bind::bound::{Aggregate, AggregateFunction, Block, Expr};
use crate::datum::Kind;
use crate::error::QueryError;
use orrery_value::Value;

/// The access path without a scan, if the aggregates allow it. Other queries pay nothing for this
/// check.
pub(crate) fn path(
    block: &Block,
    need: &IndexPredicate,
    indexes: &dyn Indexes,
) -> Result<Option<Access>, QueryError> {
    let grouping =
        block.grouping.as_ref().filter(|grouping| grouping.keys.is_empty() && block.from.len() == 1);
    let Some(inputs) = grouping.and_then(|grouping| AggregateInputs::of(&grouping.aggregates, block)) else {
        return Ok(None);
    };
    // COUNT alone uses a scan, so that a page's cost reflects the documents it counts.
    let Some(path) = inputs.path.as_ref().filter(|_| inputs.least || inputs.greatest) else {
        return Ok(None);
    };
    let documents = match inputs.counts {
        Counts::Nothing => None,
        _ => match counted(block, &inputs, indexes)? {
            None => return Ok(None),
            known => known,
        },
    };
    let ends = ends(block, need, indexes, path, &inputs);
    Ok(ends.map(|ends| Access::IndexMinMax { documents, ends }))
}

/// The inputs of a query's aggregates.
struct AggregateInputs {
    /// Their common path, unless they only count rows.
    path: Option<Path>,
    least: bool,
    greatest: bool,
    counts: Counts,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Counts {
    Nothing,
    Rows,
    /// Documents with a value at the path.
    Values,
}

impl AggregateInputs {
    /// `None` if there is another kind of aggregate, or if the aggregates use several paths.
    fn of(aggregates: &[Aggregate], block: &Block) -> Option<Self> {
        use AggregateFunction::{Count, Max, Min};
        if aggregates.is_empty() || !aggregates.iter().all(|one| matches!(one.function, Count | Max | Min)) {
            return None;
        }
        let slots = SlotPaths::of(block);
        let mut inputs = Self { path: None, least: false, greatest: false, counts: Counts::Nothing };
        for Aggregate { function, arg, .. } in aggregates {
            let is_row = matches!(arg, Expr::Constant(value) if !value.is_undefined());
            if *function == Count && is_row {
                inputs.counts = inputs.counts.max(Counts::Rows);
                continue;
            }
            let path = path_of(arg, &slots).filter(|path| !passes_array(path))?;
            if *inputs.path.get_or_insert_with(|| path.clone()) != path {
                return None;
            }
            match function {
                Count => inputs.counts = Counts::Values,
                Min => inputs.least = true,
                _ => inputs.greatest = true,
            }
        }
        Some(inputs)
    }
}

/// The number of rows, if every document gives exactly one and the count is already known.
fn counted(
    block: &Block,
    inputs: &AggregateInputs,
    indexes: &dyn Indexes,
) -> Result<Option<u64>, QueryError> {
    if block.filter.is_some() {
        return Ok(None);
    }
    if let (Counts::Values, Some(path)) = (inputs.counts, &inputs.path) {
        let is_everywhere = indexes.has(path)
            && indexes.documents_indexed(&IndexOf::Path(path.clone()))? >= indexes.documents()?;
        if !is_everywhere {
            return Ok(None);
        }
    }
    indexes.documents_exact()
}

fn ends(
    block: &Block,
    need: &IndexPredicate,
    indexes: &dyn Indexes,
    path: &Path,
    inputs: &AggregateInputs,
) -> Option<IndexEnds> {
    let reads = paths_read(block)?;
    let conditions = Conditions::of(need);
    let given = indexes.constant_paths(&|path| conditions.constant(path).cloned());
    let value = |path: Path| conditions.constant(&path).cloned().map(|value| (path, value));
    let given: Vec<(Path, Value)> = given.into_iter().filter_map(value).collect();
    let single = indexes.has(path).then(|| IndexOf::Path(path.clone()));
    let composites = indexes.composites().iter().cloned().map(IndexOf::Composite);
    let (index, part, covered) = single.into_iter().chain(composites).find_map(|index| {
        let parts = index.parts();
        let part = parts.iter().position(|(known, _)| known == path)?;
        let is_named = parts[..part].iter().all(|(path, _)| conditions.is_one_of_some(path));
        let covered = covered(&reads, &parts[..=part], &given).filter(|_| is_named)?;
        Some((index, part, covered))
    })?;
    let parts = index.parts();
    let spans = conditions.spans(&parts[..=part]).spans;
    // The product of the values of several parts may be too large.
    if spans.iter().any(|span| span.prefix.len() < part) {
        return None;
    }
    let (least, greatest) =
        if parts[part].1 { (IndexEnd::Last, IndexEnd::First) } else { (IndexEnd::First, IndexEnd::Last) };
    let mut ends = Vec::new();
    if inputs.greatest || may_be_large(&conditions, path) {
        ends.push((greatest, if inputs.greatest { EndProbe::Value } else { EndProbe::Kind }));
    }
    if inputs.least {
        ends.push((least, EndProbe::Value));
    }
    let scan = IndexScan {
        index,
        spans,
        merged: false,
        reverse: false,
        restrict_to: None,
        covered: Some(covered),
        sorted: None,
    };
    Some(IndexEnds { scan, part, ends })
}

/// The covering read, if the first parts of an index and constant values supply everything.
fn covered(reads: &[Path], parts: &[(Path, bool)], given: &[(Path, Value)]) -> Option<Covering> {
    let mut covered = Covering { parts: Vec::new(), given: Vec::new() };
    for path in reads {
        match parts.iter().position(|(part, _)| part == path) {
            Some(part) => covered.parts.push(part),
            None => covered.given.push(given.iter().find(|(known, _)| known == path)?.clone()),
        }
    }
    Some(covered)
}

/// Whether a match may have an array or object at the path. Such a value sorts last and leaves the minimum
/// and maximum undefined.
fn may_be_large(conditions: &Conditions<'_>, path: &Path) -> bool {
    let is_large = |value: &Value| kind_of(value) >= Kind::Array;
    match conditions.about(path) {
        None => true,
        Some((_, Constraint::Equal(value))) => is_large(value),
        Some((_, Constraint::OneOf(values))) => values.into_iter().any(is_large),
        Some((_, Constraint::Within(Interval::All))) => true,
        Some((_, Constraint::Within(interval))) => interval.kind().is_none_or(|kind| kind >= Kind::Array),
    }
}
