//! A walk over a range: along runs that are kept, and through the engine where none is. What it reads there becomes runs.

use super::run::Run;
use super::runs::{Ahead, KeptRuns, RUN_BYTES_MAX};
use crate::{Error, KeyRange, Order, Read, Row, Rows, Space};
use bytes::Bytes;
use orrery_core::Lsn;
use std::ops::Range;
use std::sync::Arc;

pub(super) struct Walk<'a> {
    runs: &'a KeptRuns,
    space: Space,
    order: Order,
    view: &'a dyn Read,
    at: Lsn,
    /// What comes after `from`.
    rest: KeyRange,
    from: From<'a>,
    /// How much was read from the engine, up to where the part begins that is to be kept next.
    bytes: usize,
}

enum From<'a> {
    Run { run: Arc<Run>, rows: Range<usize> },
    Engine { rows: Rows<'a>, kept: Option<Kept> },
    End,
}

/// Rows that were read and are to be kept: all that there are in a part of a range, as far as it was read.
struct Kept {
    part: KeyRange,
    /// Nothing where it is read and not wanted.
    rows: Option<Vec<Row>>,
    bytes: usize,
}

impl<'a> Walk<'a> {
    /// `None`: nothing is kept, and nothing shall be.
    pub fn new(
        runs: &'a KeptRuns,
        space: Space,
        range: &KeyRange,
        order: Order,
        view: &'a dyn Read,
        at: Lsn,
    ) -> Option<Self> {
        let rest = range.clone();
        let mut walk = Self { runs, space, order, view, at, rest, from: From::End, bytes: 0 };
        match runs.ahead(space, range, order, at) {
            Ahead::Run(run) => walk.go_along(run),
            Ahead::Gap(gap) => {
                let door = match order {
                    Order::Ascending => Some(&range.start),
                    Order::Descending => range.end.as_ref(),
                };
                let is_known = runs.is_known_door(space, door.map_or(&[], Vec::as_slice));
                if !is_known && gap == *range {
                    return None;
                }
                walk.go_through(gap, is_known);
            }
        }
        Some(walk)
    }

    /// To what comes next, `from` being at its end.
    fn go_on(&mut self) {
        self.from = From::End;
        if self.rest.is_empty() {
            return;
        }
        match self.runs.ahead(self.space, &self.rest, self.order, self.at) {
            Ahead::Run(run) => self.go_along(run),
            Ahead::Gap(gap) => self.go_through(gap, true),
        }
    }

    fn go_along(&mut self, run: Arc<Run>) {
        run.note_use();
        let rows = run.between(&self.rest.start, self.rest.end.as_deref());
        match self.order {
            Order::Ascending => self.has_come_to(run.end.as_deref()),
            Order::Descending => self.has_come_to(Some(&run.start)),
        }
        self.from = From::Run { run, rows };
    }

    fn go_through(&mut self, gap: KeyRange, is_kept: bool) {
        let rows = self.view.range(self.space, &gap, self.order);
        match self.order {
            Order::Ascending => self.has_come_to(gap.end.as_deref()),
            Order::Descending => self.has_come_to(Some(&gap.start)),
        }
        let kept = is_kept.then(|| Kept { part: gap, rows: room(self.runs, self.bytes), bytes: 0 });
        self.from = From::Engine { rows, kept };
    }

    /// Takes everything up to a key, or to the end of the space, off the rest.
    fn has_come_to(&mut self, key: Option<&[u8]>) {
        match (self.order, key) {
            (Order::Ascending, Some(key)) => self.rest.start = key.to_vec(),
            (Order::Ascending, None) => self.rest.end = Some(self.rest.start.clone()),
            (Order::Descending, key) => self.rest.end = Some(key.unwrap_or_default().to_vec()),
        }
    }

    /// Keeps what was read up to and with a key, and goes on with what comes after it.
    fn keep_up_to(&mut self, last: &Bytes) {
        let From::Engine { kept: Some(kept), .. } = &mut self.from else { return };
        let mut read = kept.part.clone();
        match self.order {
            Order::Ascending => {
                kept.part.start = [&last[..], &[0]].concat();
                read.end = Some(kept.part.start.clone());
            }
            Order::Descending => {
                read.start = last.to_vec();
                kept.part.end = Some(last.to_vec());
            }
        }
        self.bytes += std::mem::take(&mut kept.bytes);
        if let Some(rows) = std::mem::replace(&mut kept.rows, room(self.runs, self.bytes)) {
            self.keep(read, &rows);
        }
    }

    fn keep(&self, part: KeyRange, rows: &[Row]) {
        if part.is_empty() {
            return;
        }
        let (start, end) = (Bytes::from(part.start), part.end.map(Bytes::from));
        let run = match self.order {
            Order::Ascending => Run::new(start, end, self.at, rows.iter()),
            Order::Descending => Run::new(start, end, self.at, rows.iter().rev()),
        };
        self.runs.keep(self.space, run);
    }
}

/// For the rows of the next run, if one is wanted of a walk that has read so much.
fn room(runs: &KeptRuns, bytes: usize) -> Option<Vec<Row>> {
    runs.is_wanted(bytes).then(Vec::new)
}

impl Iterator for Walk<'_> {
    type Item = Result<Row, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match &mut self.from {
                From::Run { run, rows } => {
                    let at = match self.order {
                        Order::Ascending => rows.next(),
                        Order::Descending => rows.next_back(),
                    };
                    if let Some(at) = at {
                        return Some(Ok(run.row(at)));
                    }
                }
                From::Engine { rows, kept } => match (rows.next(), kept) {
                    (Some(Ok(row)), Some(kept)) => {
                        kept.bytes += row.0.len() + row.1.len();
                        if let Some(rows) = &mut kept.rows {
                            rows.push(row.clone());
                        }
                        if kept.bytes >= RUN_BYTES_MAX {
                            self.keep_up_to(&row.0);
                        }
                        return Some(Ok(row));
                    }
                    (Some(Ok(row)), None) => {
                        self.bytes += row.0.len() + row.1.len();
                        return Some(Ok(row));
                    }
                    (Some(Err(error)), _) => {
                        self.from = From::End;
                        return Some(Err(error));
                    }
                    (None, kept) => {
                        if let Some(Kept { part, rows, bytes }) = kept.take() {
                            self.bytes += bytes;
                            if let Some(rows) = rows {
                                self.keep(part, &rows);
                            }
                        }
                    }
                },
                From::End => return None,
            }
            self.go_on();
        }
    }
}

impl Drop for Walk<'_> {
    fn drop(&mut self) {
        // Where nothing was read, nothing is known.
        if let From::Engine { kept: Some(kept), .. } = &self.from
            && let Some(last) = kept.rows.iter().flatten().next_back().map(|(key, _)| key.clone())
        {
            self.keep_up_to(&last);
        }
    }
}
