//! The entries of several runs in one order.

use super::run::{Entry, Run};
use orrery_kv::{KeyRange, Order};
use std::ops::Range;
use std::sync::Arc;

/// The entries of a range, each key once, as the newest run that has it says.
pub struct Entries<'a> {
    /// Of each run that has any left, the newest first.
    left: Vec<Left<'a>>,
    /// Which of them has the next key.
    next: usize,
    order: Order,
}

/// What is left of a run.
struct Left<'a> {
    run: &'a Run,
    rows: Range<usize>,
    /// Of the row that is next.
    key: &'a [u8],
}

impl<'a> Left<'a> {
    /// Nothing if there is none.
    fn new(run: &'a Run, rows: Range<usize>, order: Order) -> Option<Self> {
        let key = run.key(first(&rows, order)?);
        Some(Self { run, rows, key })
    }

    /// Goes on to the next row, if there is one.
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

impl<'a> Entries<'a> {
    /// Of runs that are in the order of their age, the oldest first.
    pub fn new(runs: &'a [Arc<Run>], range: &KeyRange, order: Order) -> Self {
        let left = runs.iter().rev().filter_map(|run| Left::new(run, run.within(range), order));
        let mut entries = Self { left: left.collect(), next: 0, order };
        entries.choose();
        entries
    }

    fn peek(&self) -> Option<Entry<'a>> {
        let next = self.left.get(self.next)?;
        first(&next.rows, self.order).map(|at| next.run.entry(at))
    }

    fn choose(&mut self) {
        // Of equal ones the first is taken, which is the newest.
        let left = self.left.iter().enumerate();
        let next = match self.order {
            Order::Ascending => left.min_by(|(_, a), (_, b)| a.key.cmp(b.key)),
            Order::Descending => left.min_by(|(_, a), (_, b)| b.key.cmp(a.key)),
        };
        self.next = next.map_or(0, |(at, _)| at);
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        let entry = self.peek()?;
        let order = self.order;
        self.left.retain_mut(|left| left.key != entry.0 || left.advance(order));
        self.choose();
        Some(entry)
    }
}
