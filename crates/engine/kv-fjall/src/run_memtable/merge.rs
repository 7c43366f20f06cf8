//! A merging cursor over several runs.

use super::run::{Entry, Run};
use orrery_kv::{KeyRange, Order};
use std::ops::Range;
use std::sync::Arc;

/// The entries of a range, each key once, as in the newest run that has it.
pub struct MergeCursor<'a> {
    /// A cursor per run that has entries left, the newest run first.
    left: Vec<RunCursor<'a>>,
    /// Which of them has the next key.
    next: usize,
    order: Order,
}

/// The rest of one run.
struct RunCursor<'a> {
    run: &'a Run,
    rows: Range<usize>,
    /// Key of the next row.
    key: &'a [u8],
}

impl<'a> RunCursor<'a> {
    /// `None` if there are no rows.
    fn new(run: &'a Run, rows: Range<usize>, order: Order) -> Option<Self> {
        let key = run.key(first(&rows, order)?);
        Some(Self { run, rows, key })
    }

    /// Moves to the next row; false at the end.
    fn advance(&mut self, order: Order) -> bool {
        match order {
            Order::Ascending => self.rows.start += 1,
            Order::Descending => self.rows.end -= 1,
        }
        let next = first(&self.rows, order);
        next.into_iter().for_each(|at| self.key = self.run.key(at));
        next.is_some()
    }
}

fn first(rows: &Range<usize>, order: Order) -> Option<usize> {
    let at = match order {
        Order::Ascending => rows.start,
        Order::Descending => rows.end.wrapping_sub(1),
    };
    (!rows.is_empty()).then_some(at)
}

impl<'a> MergeCursor<'a> {
    /// Over runs ordered from the oldest to the newest.
    pub fn new(runs: &'a [Arc<Run>], range: &KeyRange, order: Order) -> Self {
        let left = runs.iter().rev().filter_map(|run| RunCursor::new(run, run.within(range), order));
        let mut entries = Self { left: left.collect(), next: 0, order };
        entries.choose();
        entries
    }

    fn peek(&self) -> Option<Entry<'a>> {
        let next = self.left.get(self.next)?;
        first(&next.rows, self.order).map(|at| next.run.entry(at))
    }

    fn choose(&mut self) {
        // Of equal keys the first is taken, which is in the newest run.
        let left = self.left.iter().enumerate();
        let next = match self.order {
            Order::Ascending => left.min_by(|(_, a), (_, b)| a.key.cmp(b.key)),
            Order::Descending => left.min_by(|(_, a), (_, b)| b.key.cmp(a.key)),
        };
        self.next = next.map_or(0, |(at, _)| at);
    }
}

impl<'a> Iterator for MergeCursor<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        let entry = self.peek()?;
        let order = self.order;
        self.left.retain_mut(|left| left.key != entry.0 || left.advance(order));
        self.choose();
        Some(entry)
    }
}
