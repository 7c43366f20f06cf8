//! The entries of several runs in one order, and rows with them laid over.

use super::run::{Entry, Run};
use bytes::Bytes;
use orrery_kv::{Error, KeyRange, Order, Row, Rows};
use std::iter::Peekable;
use std::ops::Range;
use std::sync::Arc;

/// The entries of a range, each key once, as the newest run that has it says.
pub struct Entries<'a> {
    /// Of each run that has any left, the newest first.
    left: Vec<(&'a Run, Range<usize>)>,
    /// Which of them has the next key.
    next: usize,
    order: Order,
}

impl<'a> Entries<'a> {
    /// Of runs that are in the order of their age, the oldest first.
    pub fn new(runs: &'a [Arc<Run>], range: &KeyRange, order: Order) -> Self {
        let left = runs.iter().rev().map(|run| (&**run, run.within(range)));
        let mut entries = Self { left: left.filter(|(_, rows)| !rows.is_empty()).collect(), next: 0, order };
        entries.choose();
        entries
    }

    pub fn peek(&self) -> Option<Entry<'a>> {
        self.left.get(self.next).map(|(run, rows)| run.entry(first(rows, self.order)))
    }

    fn choose(&mut self) {
        let key = |at: usize| {
            let (run, rows) = &self.left[at];
            run.key(first(rows, self.order))
        };
        // Of equal ones the first is taken, which is the newest.
        let all = 0..self.left.len();
        let next = match self.order {
            Order::Ascending => all.min_by(|a, b| key(*a).cmp(key(*b))),
            Order::Descending => all.min_by(|a, b| key(*b).cmp(key(*a))),
        };
        self.next = next.unwrap_or(0);
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        let entry = self.peek()?;
        for (run, rows) in &mut self.left {
            if run.key(first(rows, self.order)) == entry.0 {
                match self.order {
                    Order::Ascending => rows.start += 1,
                    Order::Descending => rows.end -= 1,
                }
            }
        }
        self.left.retain(|(_, rows)| !rows.is_empty());
        self.choose();
        Some(entry)
    }
}

fn first(rows: &Range<usize>, order: Order) -> usize {
    match order {
        Order::Ascending => rows.start,
        Order::Descending => rows.end - 1,
    }
}

/// Rows as they look under the entries of some runs.
pub struct Covered<'a> {
    under: Peekable<Rows<'a>>,
    over: Entries<'a>,
}

/// Which of the two has the next key.
enum Next {
    Under,
    Over,
    Both,
}

impl<'a> Covered<'a> {
    pub fn rows(under: Rows<'a>, over: Entries<'a>) -> Rows<'a> {
        match over.peek() {
            None => under,
            Some(_) => Box::new(Self { under: under.peekable(), over }),
        }
    }

    fn next_of(&mut self) -> Option<Next> {
        let Some((over, _)) = self.over.peek() else {
            return self.under.peek().map(|_| Next::Under);
        };
        let order = match self.under.peek() {
            None => return Some(Next::Over),
            // What cannot be read is told at once.
            Some(Err(_)) => return Some(Next::Under),
            Some(Ok((under, _))) => under.as_ref().cmp(over),
        };
        let order = if self.over.order == Order::Descending { order.reverse() } else { order };
        Some(match order {
            std::cmp::Ordering::Less => Next::Under,
            std::cmp::Ordering::Equal => Next::Both,
            std::cmp::Ordering::Greater => Next::Over,
        })
    }
}

impl Iterator for Covered<'_> {
    type Item = Result<Row, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.next_of()? {
                Next::Under => return self.under.next(),
                Next::Both => drop(self.under.next()),
                Next::Over => {}
            }
            let (key, value) = self.over.next()?;
            if let Some(value) = value {
                // Copied, as whoever keeps a row should not keep a run.
                return Some(Ok((Bytes::copy_from_slice(key), Bytes::copy_from_slice(value))));
            }
        }
    }
}
