//! Prefetching rows before they are evaluated.
//!
//! Rows lie all over memory, and to look at one is to wait until it has arrived. Here the ends of several are
//! asked for at once, so they arrive together.

use super::collection::failed;
use crate::spaces::DOCUMENTS;
use orrery_kv::{Error, KeyRange, Order, Read, Row, Rows};
use orrery_query::QueryError;
use std::ops::ControlFlow;

type Show<'v> = &'v mut dyn FnMut(Row) -> Result<ControlFlow<()>, QueryError>;

/// Shows the rows of a range in order, until it is told to stop.
pub(super) fn each_row(
    state: &dyn Read,
    range: &KeyRange,
    show: Show<'_>,
) -> Result<ControlFlow<()>, QueryError> {
    let mut prefetcher = Prefetcher::default();
    let mut rows = state.range(DOCUMENTS, range, Order::Ascending);
    while prefetcher.fetch(&mut rows) {
        for row in prefetcher.rows.drain(..) {
            if show(row.map_err(failed)?)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Rows fetched before the first of them is evaluated. The batch doubles, so that a short scan
/// fetches little: one row, then two, then four.
#[derive(Default)]
struct Prefetcher {
    rows: Vec<Result<Row, Error>>,
    fetched: usize,
}

const PREFETCH_ROWS_MAX: usize = 32;
const PREFETCH_BYTES_MAX: usize = 256 * 1024;
const CACHE_LINE: usize = 64;

impl Prefetcher {
    /// Whether there are any more.
    fn fetch(&mut self, from: &mut Rows<'_>) -> bool {
        let count = (2 * self.fetched).clamp(1, PREFETCH_ROWS_MAX);
        let mut bytes = 0;
        while self.rows.len() < count && bytes < PREFETCH_BYTES_MAX {
            let Some(row) = from.next() else { break };
            bytes += row.as_ref().map_or(0, |(_, value)| value.len());
            self.rows.push(row);
        }
        self.fetched = self.rows.len();
        self.touch();
        self.fetched > 0
    }

    /// Reads a byte of each piece of memory that a look at a row begins with: its header, its first members, and
    /// the table at its end.
    fn touch(&self) {
        let mut seen = 0;
        for (_, value) in self.rows.iter().flatten() {
            let end = value.len();
            for place in
                [0, CACHE_LINE, 2 * CACHE_LINE, end.saturating_sub(CACHE_LINE), end.saturating_sub(1)]
            {
                seen ^= value.get(place).copied().unwrap_or_default();
            }
        }
        std::hint::black_box(seen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use std::cell::Cell;

    fn rows(bytes: usize, asked: &Cell<usize>) -> Rows<'_> {
        Box::new((0..100u8).map(move |number| {
            asked.set(asked.get() + 1);
            Ok((Bytes::copy_from_slice(&[number]), Bytes::from(vec![0; bytes])))
        }))
    }

    fn fetched(prefetcher: &mut Prefetcher, from: &mut Rows<'_>) -> Vec<u8> {
        prefetcher.fetch(from);
        prefetcher.rows.drain(..).flatten().map(|(key, _)| key[0]).collect()
    }

    #[test]
    fn a_scan_that_ends_soon_has_not_fetched_much() {
        let asked = Cell::new(0);
        let (mut prefetcher, mut from) = (Prefetcher::default(), rows(10, &asked));
        for (keys, so_far) in [(vec![0], 1), (vec![1, 2], 3), (vec![3, 4, 5, 6], 7)] {
            assert_eq!(fetched(&mut prefetcher, &mut from), keys);
            assert_eq!(asked.get(), so_far);
        }
    }

    #[test]
    fn every_row_comes_once_and_in_order() {
        let asked = Cell::new(0);
        let (mut prefetcher, mut from) = (Prefetcher::default(), rows(0, &asked));
        let mut seen = Vec::new();
        while prefetcher.fetch(&mut from) {
            assert!(prefetcher.rows.len() <= PREFETCH_ROWS_MAX);
            seen.extend(prefetcher.rows.drain(..).flatten().map(|(key, _)| key[0]));
        }
        assert_eq!(seen, (0..100).collect::<Vec<u8>>());
    }

    #[test]
    fn large_rows_are_fetched_few_at_a_time() {
        let asked = Cell::new(0);
        let (mut prefetcher, mut from) = (Prefetcher::default(), rows(PREFETCH_BYTES_MAX / 2, &asked));
        let counts: Vec<usize> = (0..5).map(|_| fetched(&mut prefetcher, &mut from).len()).collect();
        assert_eq!(counts, [1, 2, 2, 2, 2]);
    }
}
