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
    // Equal rows of a DISTINCT may come from anywhere in the index.
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
            alternatives.extend(along(input, &index, fit, Stretches { spans, conditions, merged: false })?);
        }
        if let Some((fit, stretches)) = merged(input, &parts, plain.as_ref()) {
            alternatives.extend(along(input, &index, &fit, stretches)?);
        }
    }
    Ok(alternatives)
}

/// The spans of an index that are scanned.
struct Stretches {
    spans: Vec<Span>,
    /// The conditions that guarantee that every match is in these spans.
    conditions: Vec<usize>,
    merged: bool,
}

/// Several values for the first parts: each has its own span, sorted by the next part, and the
/// spans are merged.
fn merged(input: &PlanInput<'_>, parts: &[(Path, bool)], plain: Option<&Fit>) -> Option<(Fit, Stretches)> {
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
    fits.then_some((fit, Stretches { spans, conditions, merged: true }))
}

/// The number of leading parts for which `is_so` holds.
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

fn along(
    input: &PlanInput<'_>,
    index: &IndexOf,
    fit: &Fit,
    stretches: Stretches,
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
    let Stretches { spans, conditions, merged } = stretches;
    let along = IndexScan {
        covered: input.covered(&parts),
        sorted: Some(SortedPrefix { keys: fit.keys.clone(), ties, is_complete }),
        index: index.clone(),
        spans,
        merged,
        reverse: fit.reverse,
        among: None,
    };
    let walk = Walked::of(input, &along, &conditions)?;
    let others = intersection(input.sets_but_for(&conditions), input.estimator.documents);
    let among = others.map(|others| walk.among(input, along.clone(), others));
    Ok([walk.alone(along)].into_iter().chain(among).collect())
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

/// The spans in which the matches are, as they are scanned, and the conditions that say so.
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

/// The cost of the scan itself, without its documents, and how far it goes.
struct Walked {
    entries: u64,
    /// How much of them is scanned until the page is full; and what it takes to be sure of it, if
    /// only the first keys are sorted: the rest of those that agree in them.
    share: PageFraction,
    run: u64,
    cost: u64,
}

/// Of so many documents, one agrees with another in the keys that an index has.
const RUN_GUESS: u64 = 20;

impl Walked {
    fn of(input: &PlanInput<'_>, along: &IndexScan, conditions: &[usize]) -> Result<Self, QueryError> {
        let entries = entries(input, along, conditions)?;
        // How many documents it takes to have so many rows that differ, nothing tells.
        let share = match input.block.distinct {
            true => PageFraction::ALL,
            false => PageFraction { wanted: input.request.rows, matches: input.matches.min(entries) },
        };
        let is_sorted = |sorted: &SortedPrefix| sorted.keys.len() == input.block.order.len();
        let run = if along.sorted.as_ref().is_some_and(is_sorted) { 0 } else { entries / RUN_GUESS };
        let walked = Self { entries, share, run, cost: 0 };
        let seeks = SEEK.saturating_mul(along.spans.len() as u64);
        let cost = seeks.saturating_add(walked.part_of(entries).saturating_mul(ENTRY));
        Ok(Self { cost: cost.saturating_add(rest(input, along, entries)), ..walked })
    }

    /// How many of so many documents among the entries are met.
    fn part_of(&self, documents: u64) -> u64 {
        let run = proportion(documents, self.run, self.entries);
        self.share.of(documents).saturating_add(run).min(documents)
    }

    /// Every document that the scan reaches is read.
    fn alone(&self, along: IndexScan) -> Alternative {
        let documents = self.part_of(self.entries).saturating_mul(cost::document(along.covered.is_some()));
        Alternative { access: Access::IndexScan(along), cost: self.cost.saturating_add(documents) }
    }

    /// Only documents that other indexes also return are read.
    fn among(&self, input: &PlanInput<'_>, along: IndexScan, others: CostedSet) -> Alternative {
        let met = proportion(self.entries, others.documents, input.estimator.documents);
        let documents = self.part_of(met).saturating_mul(cost::document(along.covered.is_some()));
        let cost = self.cost.saturating_add(others.cost_of_numbers()).saturating_add(documents);
        Alternative { access: Access::IndexScan(IndexScan { among: Some(others.set), ..along }), cost }
    }
}

/// About how many entries the spans have. Those that are merged are not counted one by one: what was counted of each
/// condition tells enough.
fn entries(input: &PlanInput<'_>, along: &IndexScan, conditions: &[usize]) -> Result<u64, QueryError> {
    let all = input.estimator.documents;
    if along.merged {
        let estimates = conditions.iter().filter_map(|at| input.estimates.get(*at));
        return Ok(estimates.fold(all, |entries, condition| proportion(entries, condition.matches, all)));
    }
    let mut spans = along.spans.iter();
    spans.try_fold(0u64, |sum, span| Ok(sum.saturating_add(input.estimator.count(&along.index, span)?)))
}

/// Documents that are not in the index are read if the scan did not fill the page.
fn rest(input: &PlanInput<'_>, along: &IndexScan, entries: u64) -> u64 {
    let documents = input.estimator.documents;
    let is_complete = along.sorted.as_ref().is_none_or(|sorted| sorted.is_complete);
    let met = proportion(input.matches, entries, documents);
    if is_complete || met >= input.request.rows { 0 } else { cost::scan(documents, PageFraction::ALL) }
}
