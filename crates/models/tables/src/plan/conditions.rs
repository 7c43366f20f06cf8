//! What a filter says of keys, and what else it says.

use super::cut::{Cut, Interval, Intervals, Side};
use super::region::{Band, Region};
use super::scan_range::ScanRange;
use crate::edm::Value;
use crate::entity::{PARTITION_KEY, ROW_KEY};
use crate::filter::{Comparison, Expr, Filter, Operand, holds};
use crate::limits;

/// The ranges of keys that a filter can want, and what is to be evaluated for the entities in them.
pub(super) fn plan(filter: &Filter) -> (Vec<ScanRange>, Option<Expr>) {
    let keys = Keys { names: filter.names() };
    let (region, residual) = match filter.root() {
        Expr::And(parts) => keys.conjunction(parts),
        root => {
            let Found { region, is_exact } = keys.find(root, Sense::Plain);
            (region, (!is_exact).then(|| root.clone()))
        }
    };
    let (ranges, is_exact) = ranges(&region);
    let residual = if is_exact { residual } else { Some(filter.root().clone()) };
    (ranges, residual)
}

/// A region, and whether it says all that the condition says.
struct Found {
    region: Region,
    is_exact: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sense {
    Plain,
    Negated,
}

#[derive(Clone, Copy)]
enum Key {
    Partition,
    Row,
}

struct Keys<'a> {
    names: &'a [String],
}

impl Keys<'_> {
    /// The parts of it that say no more than what is in the region need not be evaluated.
    fn conjunction(&self, parts: &[Expr]) -> (Region, Option<Expr>) {
        let (mut regions, mut left) = (Vec::new(), Vec::new());
        for part in parts {
            let Found { region, is_exact } = self.find(part, Sense::Plain);
            regions.push(region);
            if !is_exact {
                left.push(part.clone());
            }
        }
        let residual = match left.len() {
            0 => None,
            1 => left.pop(),
            _ => Some(Expr::And(left)),
        };
        (balanced(regions, &Region::intersection), residual)
    }

    fn find(&self, expr: &Expr, sense: Sense) -> Found {
        match (expr, sense) {
            (Expr::Not(part), Sense::Plain) => self.find(part, Sense::Negated),
            (Expr::Not(part), Sense::Negated) => self.find(part, Sense::Plain),
            (Expr::And(parts), Sense::Plain) | (Expr::Or(parts), Sense::Negated) => {
                self.all_of(parts, sense, &Region::intersection)
            }
            (Expr::Or(parts), Sense::Plain) | (Expr::And(parts), Sense::Negated) => {
                self.all_of(parts, sense, &Region::union)
            }
            (Expr::Compare(comparison, left, right), _) => self.compared(*comparison, left, right, sense),
            (Expr::Truth(operand), _) => match operand {
                Operand::Literal(value) => constant(*value == Value::Boolean(true), sense),
                Operand::Null => constant(false, sense),
                // Keys are texts, and none is true.
                Operand::Property(index) if self.key(*index).is_some() => constant(false, sense),
                Operand::Property(_) => unknown(),
            },
        }
    }

    fn all_of(&self, parts: &[Expr], sense: Sense, combine: &dyn Fn(&Region, &Region) -> Region) -> Found {
        let found: Vec<Found> = parts.iter().map(|part| self.find(part, sense)).collect();
        let is_exact = found.iter().all(|found| found.is_exact);
        let region = balanced(found.into_iter().map(|found| found.region).collect(), combine);
        Found { is_exact: is_exact && !region.is_coarse, region }
    }

    fn compared(&self, comparison: Comparison, left: &Operand, right: &Operand, sense: Sense) -> Found {
        match (left, right) {
            (Operand::Property(index), Operand::Literal(_) | Operand::Null) => {
                match self.key(*index) {
                    Some(key) => key_compared(key, comparison, right, sense),
                    // Nothing equals null, nor differs from it.
                    None if *right == Operand::Null => constant(false, sense),
                    None => unknown(),
                }
            }
            (Operand::Literal(_) | Operand::Null, Operand::Property(_)) => {
                self.compared(comparison.swapped(), right, left, sense)
            }
            (Operand::Property(_), Operand::Property(_)) => unknown(),
            (Operand::Literal(left), Operand::Literal(right)) => {
                constant(holds(comparison, left.as_ref(), right.as_ref()), sense)
            }
            _ => constant(false, sense),
        }
    }

    fn key(&self, index: usize) -> Option<Key> {
        match self.names[index].as_str() {
            PARTITION_KEY => Some(Key::Partition),
            ROW_KEY => Some(Key::Row),
            _ => None,
        }
    }
}

fn unknown() -> Found {
    Found { region: Region::all(), is_exact: false }
}

fn constant(holds: bool, sense: Sense) -> Found {
    let is_all = holds == (sense == Sense::Plain);
    Found { region: if is_all { Region::all() } else { Region::default() }, is_exact: true }
}

/// Every entity has both keys and both are texts, so that what does not hold is exactly the opposite.
fn key_compared(key: Key, comparison: Comparison, with: &Operand, sense: Sense) -> Found {
    let Operand::Literal(Value::String(text)) = with else { return constant(false, sense) };
    let comparison = if sense == Sense::Plain { comparison } else { comparison.negated() };
    let values = values(comparison, text);
    let region = match key {
        Key::Partition => Region::of(values, Intervals::all()),
        Key::Row => Region::of(Intervals::all(), values),
    };
    Found { region, is_exact: true }
}

/// The texts for which a comparison holds.
fn values(comparison: Comparison, text: &str) -> Intervals {
    let (start, before, after) = (Cut::start(), Cut::before(text), Cut::after(text));
    let between = Interval::between;
    match comparison {
        Comparison::Equal => Intervals::of([between(before, after)]),
        Comparison::NotEqual => Intervals::of([between(start, before), between(after, Cut::End)]),
        Comparison::Greater => Intervals::of([between(after, Cut::End)]),
        Comparison::GreaterOrEqual => Intervals::of([between(before, Cut::End)]),
        Comparison::Less => Intervals::of([between(start, before)]),
        Comparison::LessOrEqual => Intervals::of([between(start, after)]),
    }
}

/// Two by two, so that a long chain does not go through what it has found once for each of its parts.
fn balanced(mut regions: Vec<Region>, combine: &dyn Fn(&Region, &Region) -> Region) -> Region {
    while regions.len() > 1 {
        regions = regions
            .chunks(2)
            .map(|pair| match pair {
                [one, two] => combine(one, two),
                _ => pair[0].clone(),
            })
            .collect();
    }
    regions.pop().unwrap_or_else(Region::all)
}

/// The region in the order of the rows, and whether it is still the same. A range over many partitions has all rows of
/// those inside of it; only of the first and the last it can have a part.
fn ranges(region: &Region) -> (Vec<ScanRange>, bool) {
    let mut is_exact = !region.is_coarse;
    let mut ranges: Vec<ScanRange> = Vec::new();
    for band in &region.bands {
        is_exact &= band.rows.is_all() || band.partitions.single().is_some();
        for range in band_ranges(band) {
            match ranges.last_mut() {
                Some(last) if last.touches(&range) => last.extend_to(&range),
                _ => ranges.push(range),
            }
        }
    }
    while ranges.len() > limits::SCAN_RANGES_MAX {
        is_exact = false;
        let pairs = ranges.chunks(2).map(|pair| {
            let mut merged = pair[0].clone();
            merged.extend_to(&pair[pair.len() - 1]);
            merged
        });
        ranges = pairs.collect();
    }
    (ranges, is_exact)
}

fn band_ranges(band: &Band) -> Vec<ScanRange> {
    let Band { partitions, rows } = band;
    let rows_of = |partition| rows.0.iter().map(move |rows| ScanRange::rows(partition, rows));
    if rows.is_all() {
        return vec![ScanRange::partitions(partitions)];
    }
    if let Some(partition) = partitions.single() {
        return rows_of(partition).collect();
    }
    // Of the first partition and the last, if they are in it, just the rows; all rows of those between. The partition with
    // the empty key is rarely there, and gets no range of its own.
    let (mut inner, mut ranges) = (partitions.clone(), Vec::new());
    if let Cut::At(first, Side::Before) = &partitions.from
        && !first.is_empty()
    {
        ranges.extend(rows_of(first));
        inner.from = Cut::At(first.clone(), Side::After);
    }
    let mut last_rows = Vec::new();
    if let Cut::At(last, Side::After) = &partitions.to {
        last_rows.extend(rows_of(last));
        inner.to = Cut::At(last.clone(), Side::Before);
    }
    ranges.push(ScanRange::partitions(&inner));
    ranges.extend(last_rows);
    ranges
}
