//! ORDER BY through an index: documents arrive sorted, and the scan ends when the page is full.
//!
//! An index serves if the filter names a value for each of its first parts, and the parts after
//! them are the keys of ORDER BY, all in their directions or all in the opposite ones. A key that
//! the filter leaves one value is sorted whatever the index. If only the first keys are found, rows
//! that agree in them are sorted by the executor. Where the filter names a few values for a first
//! part, the spans behind them are merged.

use crate::access::access_path::{Access, IndexScan, KeySource, SortedPrefix, TieOrder};
use crate::access::choose::{Alternative, PlanInput};
use crate::access::conditions::{Constraint, IndexSpans};
use crate::access::cost::{self, CostedSet, ENTRY, PageFraction, SEEK, intersection, proportion};
use crate::access::indexes::{IndexOf, Interval, Path, Span};
use crate::error::QueryError;
use crate::limits;
use orrery_value::Value;

pub(super) fn offer(input: &PlanInput<'_>) -> Result<Vec<Alternative>, QueryError> {
    let block = input.block;
    // DISTINCT: equal rows may come from anywhere in the index.
    if block.order.is_empty() || block.distinct && !block.is_row_its_keys() {
        return Ok(Vec::new());
    }
    let mut alternatives = Vec::new();
    for index in indexes(input) {
        let parts = index.parts();
        let named = leading(&parts, |path| input.conditions.constant(path).is_some());
        let plain = fit(input, &parts, named);
        if let Some(fit) = &plain {
            let (spans, conditions) = spans(input, &parts, fit);
            alternatives.extend(by_index(
                input,
                &index,
                fit,
                SortedSpans { spans, conditions, merged: false },
            )?);
        }
        if let Some((fit, sorted_spans)) = merged(input, &parts, plain.as_ref()) {
            alternatives.extend(by_index(input, &index, &fit, sorted_spans)?);
        }
    }
    Ok(alternatives)
}

/// The spans of an index that are scanned.
struct SortedSpans {
    spans: Vec<Span>,
    /// The conditions that guarantee that every match is in these spans.
    conditions: Vec<usize>,
    merged: bool,
}

/// Several values for the first parts: each has its own span, sorted by the next part, and the scan merges
/// the spans.
fn merged(input: &PlanInput<'_>, parts: &[(Path, bool)], plain: Option<&Fit>) -> Option<(Fit, SortedSpans)> {
    let named = leading(parts, |path| input.conditions.is_one_of_some(path));
    if plain.is_some_and(|plain| plain.named == named) {
        return None;
    }
    let fit = fit(input, parts, named)?;
    let is_better = plain.is_none_or(|plain| plain.keys.len() < fit.keys.len());
    let first = parts.get(..=named).filter(|_| is_better)?;
    let IndexSpans { spans, conditions } = input.conditions.spans(first);
    let is_whole = spans.iter().all(|span| span.prefix.len() == named);
    let fits = (2..=limits::POSTINGS_MERGED_MAX).contains(&spans.len()) && is_whole;
    fits.then_some((fit, SortedSpans { spans, conditions, merged: true }))
}

/// The number of leading parts that satisfy `is_so`.
fn leading(parts: &[(Path, bool)], is_so: impl Fn(&Path) -> bool) -> usize {
    parts.iter().take_while(|(path, _)| is_so(path)).count()
}

fn indexes(input: &PlanInput<'_>) -> Vec<IndexOf> {
    let mut keys = input.order.iter().map(Option::as_ref);
    let first = keys.find(|path| path.is_none_or(|path| input.conditions.constant(path).is_none()));
    let first = first.flatten().filter(|path| input.estimator.indexes.has(path));
    let composites = input.estimator.indexes.composites().iter().cloned().map(IndexOf::Composite);
    first.cloned().map(IndexOf::Path).into_iter().chain(composites).collect()
}

fn by_index(
    input: &PlanInput<'_>,
    index: &IndexOf,
    fit: &Fit,
    sorted_spans: SortedSpans,
) -> Result<Vec<Alternative>, QueryError> {
    let (parts, is_complete) = (index.parts(), input.is_complete(index)?);
    // Undefined sorts first, so documents missing from the index would have to come first.
    if !is_complete && !fit.descends {
        return Ok(Vec::new());
    }
    let ties = match fit.is_whole && fit.reverse == input.block.order[0].descending {
        _ if input.block.distinct => TieOrder::Irrelevant,
        true => TieOrder::Sorted,
        false => TieOrder::Unsorted,
    };
    let SortedSpans { spans, conditions, merged } = sorted_spans;
    let scan = IndexScan {
        covered: input.covered(&parts),
        sorted: Some(SortedPrefix { keys: fit.keys.clone(), ties, is_complete }),
        index: index.clone(),
        spans,
        merged,
        reverse: fit.reverse,
        restrict_to: None,
    };
    let scan_cost = ScanCost::of(input, &scan, &conditions)?;
    let others = intersection(input.other_sets(&conditions), input.estimator.documents);
    let restricted = others.map(|others| scan_cost.intersected(input, scan.clone(), others));
    Ok([scan_cost.fetching_all(scan)].into_iter().chain(restricted).collect())
}

/// How well an index matches the keys of ORDER BY.
struct Fit {
    /// The number of leading parts that the filter fixes.
    named: usize,
    keys: Vec<KeySource>,
    reverse: bool,
    /// Whether the first key that is not constant descends.
    descends: bool,
    /// Whether the fixed parts and the sort keys cover the whole index.
    is_whole: bool,
}

fn fit(input: &PlanInput<'_>, parts: &[(Path, bool)], named: usize) -> Option<Fit> {
    let constant = |path: &Path| input.conditions.constant(path);
    let (mut keys, mut next, mut reverse, mut descends) = (Vec::new(), named, None, false);
    for (key, path) in input.block.order.iter().zip(&input.order) {
        let Some(path) = path else { break };
        if let Some(value) = constant(path) {
            keys.push(KeySource::Constant(value.clone()));
            continue;
        }
        let Some((_, part)) = parts.get(next).filter(|(part, _)| part == path) else { break };
        let turned = *part != key.descending;
        if *reverse.get_or_insert(turned) != turned {
            break;
        }
        if next == named {
            descends = key.descending;
        }
        keys.push(KeySource::Part(next));
        next += 1;
    }
    Some(Fit { named, keys, reverse: reverse?, descends, is_whole: next == parts.len() })
}

/// The spans to scan, and the conditions that guarantee that they contain every match.
fn spans(input: &PlanInput<'_>, parts: &[(Path, bool)], fit: &Fit) -> (Vec<Span>, Vec<usize>) {
    let conditions = &input.conditions;
    let named = parts.iter().take(fit.named).filter_map(|(path, _)| match conditions.about(path) {
        Some((at, Constraint::Equal(value))) => Some((value.clone(), at)),
        _ => None,
    });
    let (prefix, mut used): (Vec<Value>, Vec<usize>) = named.unzip();
    let longer = |value: &&Value| {
        let prefix = prefix.iter().chain([*value]).cloned().collect();
        Span { prefix, next: Interval::All }
    };
    let next = parts.get(fit.named).and_then(|(path, _)| conditions.about(path));
    used.extend(next.iter().map(|(at, _)| *at));
    let spans = match next {
        Some((_, Constraint::Within(interval))) => vec![Span { prefix, next: interval.clone() }],
        Some((_, Constraint::OneOf(values))) if fit.descends => values.iter().rev().map(longer).collect(),
        Some((_, Constraint::OneOf(values))) => values.iter().map(longer).collect(),
        _ => vec![Span { prefix, next: Interval::All }],
    };
    (spans, used)
}

/// The cost of the index scan itself, without fetching documents, and its extent.
struct ScanCost {
    entries: u64,
    /// The fraction scanned until the page is full. If only the first keys are sorted, the scan must
    /// also finish the run of equal keys.
    share: PageFraction,
    run: u64,
    cost: u64,
}

/// Guess: of this many documents, one has the same index keys as another.
const RUN_GUESS: u64 = 20;

impl ScanCost {
    fn of(input: &PlanInput<'_>, scan: &IndexScan, conditions: &[usize]) -> Result<Self, QueryError> {
        let entries = entries(input, scan, conditions)?;
        // Nothing tells how many documents give a page of distinct rows.
        let share = match input.block.distinct {
            true => PageFraction::ALL,
            false => PageFraction { wanted: input.request.rows, matches: input.matches.min(entries) },
        };
        let is_sorted = |sorted: &SortedPrefix| sorted.keys.len() == input.block.order.len();
        let run = if scan.sorted.as_ref().is_some_and(is_sorted) { 0 } else { entries / RUN_GUESS };
        let cost_of_scan = Self { entries, share, run, cost: 0 };
        let seeks = SEEK.saturating_mul(scan.spans.len() as u64);
        let cost = seeks.saturating_add(cost_of_scan.part_of(entries).saturating_mul(ENTRY));
        Ok(Self { cost: cost.saturating_add(cost_of_missing(input, scan, entries)), ..cost_of_scan })
    }

    /// How many of the documents among the entries the scan meets.
    fn part_of(&self, documents: u64) -> u64 {
        let run = proportion(documents, self.run, self.entries);
        self.share.of(documents).saturating_add(run).min(documents)
    }

    /// Fetches every document that the scan meets.
    fn fetching_all(&self, scan: IndexScan) -> Alternative {
        let documents = self.part_of(self.entries).saturating_mul(cost::document(scan.covered.is_some()));
        Alternative { access: Access::IndexScan(scan), cost: self.cost.saturating_add(documents) }
    }

    /// Fetches only documents that the other indexes also return.
    fn intersected(&self, input: &PlanInput<'_>, scan: IndexScan, others: CostedSet) -> Alternative {
        let met = proportion(self.entries, others.documents, input.estimator.documents);
        let documents = self.part_of(met).saturating_mul(cost::document(scan.covered.is_some()));
        let cost = self.cost.saturating_add(others.cost_of_numbers()).saturating_add(documents);
        Alternative { access: Access::IndexScan(IndexScan { restrict_to: Some(others.set), ..scan }), cost }
    }
}

/// The approximate number of entries in the spans. Merged spans are not counted individually: the estimates
/// of the conditions suffice.
fn entries(input: &PlanInput<'_>, scan: &IndexScan, conditions: &[usize]) -> Result<u64, QueryError> {
    let all = input.estimator.documents;
    if scan.merged {
        let estimates = conditions.iter().filter_map(|at| input.estimates.get(*at));
        return Ok(estimates.fold(all, |entries, condition| proportion(entries, condition.matches, all)));
    }
    let mut spans = scan.spans.iter();
    spans.try_fold(0u64, |sum, span| Ok(sum.saturating_add(input.estimator.count(&scan.index, span)?)))
}

/// Documents missing from the index are read only if the scan did not fill the page.
fn cost_of_missing(input: &PlanInput<'_>, scan: &IndexScan, entries: u64) -> u64 {
    let documents = input.estimator.documents;
    let is_complete = scan.sorted.as_ref().is_none_or(|sorted| sorted.is_complete);
    let met = proportion(input.matches, entries, documents);
    if is_complete || met >= input.request.rows { 0 } else { cost::scan(documents, PageFraction::ALL) }
}
