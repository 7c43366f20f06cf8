//! The pages of all ranges: merged by sort key, or concatenated range by range.

use super::super::info::Direction;
use super::{elements, not_understood};
use crate::error::QueryError;
use orrery_value::Value;
use std::cmp::Ordering;
use std::collections::VecDeque;

pub(super) struct Sources {
    ranges: Vec<Source>,
    /// Empty for concatenation.
    order: Vec<Direction>,
    /// Whether rows with equal keys come in descending order of their resource ids.
    ties_descend: bool,
}

/// The state of one range.
struct Source {
    rows: VecDeque<Value>,
    more: More,
}

enum More {
    First,
    After(String),
    Nothing,
}

pub(super) enum Pulled {
    Fetch { range: usize, continuation: Option<String> },
    Row(Value),
    End,
}

impl Source {
    fn is_waiting(&self) -> bool {
        self.rows.is_empty() && !matches!(self.more, More::Nothing)
    }

    fn fetch(&self, range: usize) -> Pulled {
        let continuation = if let More::After(token) = &self.more { Some(token.clone()) } else { None };
        Pulled::Fetch { range, continuation }
    }
}

impl Sources {
    pub(super) fn new(ranges: usize, order: &[Direction], ties_descend: bool) -> Self {
        let source = |_| Source { rows: VecDeque::new(), more: More::First };
        Self { ranges: (0..ranges).map(source).collect(), order: order.to_vec(), ties_descend }
    }

    pub(super) fn accept(&mut self, range: usize, rows: Vec<Value>, continuation: Option<String>) {
        if let Some(source) = self.ranges.get_mut(range) {
            source.rows.extend(rows);
            source.more = continuation.map_or(More::Nothing, More::After);
        }
    }

    pub(super) fn pull(&mut self) -> Result<Pulled, QueryError> {
        if self.order.is_empty() { Ok(self.pull_concatenated()) } else { self.pull_least() }
    }

    fn pull_concatenated(&mut self) -> Pulled {
        for (range, source) in self.ranges.iter_mut().enumerate() {
            if let Some(row) = source.rows.pop_front() {
                return Pulled::Row(row);
            }
            if source.is_waiting() {
                return source.fetch(range);
            }
        }
        Pulled::End
    }

    /// The least of the ranges' first rows; known once every range has a row or has ended.
    fn pull_least(&mut self) -> Result<Pulled, QueryError> {
        if let Some(range) = self.ranges.iter().position(Source::is_waiting) {
            return Ok(self.ranges[range].fetch(range));
        }
        let mut least: Option<(usize, &Value)> = None;
        for (range, source) in self.ranges.iter().enumerate() {
            let Some(row) = source.rows.front() else { continue };
            self.check(row)?;
            if least.is_none_or(|(_, known)| self.compare(row, known).is_lt()) {
                least = Some((range, row));
            }
        }
        let range = least.map(|(range, _)| range);
        let row = range.and_then(|range| self.ranges[range].rows.pop_front());
        Ok(row.map_or(Pulled::End, Pulled::Row))
    }

    fn check(&self, row: &Value) -> Result<(), QueryError> {
        let keys = keys(row).len();
        let is_whole = !row.member("_rid").is_undefined() && !row.member("payload").is_undefined();
        if keys == self.order.len() && is_whole { Ok(()) } else { Err(not_understood(row)) }
    }

    fn compare(&self, a: &Value, b: &Value) -> Ordering {
        let by_rid = a.member("_rid").cmp(b.member("_rid"));
        compare(a, b, &self.order).then(if self.ties_descend { by_rid.reverse() } else { by_rid })
    }
}

/// Compares two rows by their sort keys.
pub(super) fn compare(a: &Value, b: &Value, order: &[Direction]) -> Ordering {
    let each = keys(a).iter().zip(keys(b)).zip(order);
    each.fold(Ordering::Equal, |order, ((a, b), direction)| {
        let own = a.member("item").cmp(b.member("item"));
        order.then(if *direction == Direction::Descending { own.reverse() } else { own })
    })
}

fn keys(row: &Value) -> &[Value] {
    elements(row.member("orderByItems"))
}
