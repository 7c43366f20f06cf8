//! A scan over a range: through cached ranges, and through the engine in the gaps. What it reads in
//! gaps is cached.

use super::cached_range::CachedRange;
use super::range_cache::{NextPart, RANGE_BYTES_MAX, RangeCache};
use crate::{Error, KeyRange, Order, Read, Row, Rows, Space};
use bytes::Bytes;
use orrery_core::Lsn;
use std::ops::Range;
use std::sync::Arc;

pub(super) struct RangeCursor<'a> {
    ranges: &'a RangeCache,
    space: Space,
    order: Order,
    view: &'a dyn Read,
    at: Lsn,
    /// The part of the range after `source`.
    rest: KeyRange,
    source: Source<'a>,
    /// Bytes read from the engine before the part that is cached next.
    bytes: usize,
}

enum Source<'a> {
    Cached { cached: Arc<CachedRange>, rows: Range<usize> },
    Engine { rows: Rows<'a>, kept: Option<Kept> },
    End,
}

/// Rows read from the engine, to be cached: all rows of a part of the range, as far as it was read.
struct Kept {
    part: KeyRange,
    /// `None` if the cache does not admit them.
    rows: Option<Vec<Row>>,
    bytes: usize,
}

impl<'a> RangeCursor<'a> {
    /// `None`: nothing is cached here, and nothing should be.
    pub fn new(
        ranges: &'a RangeCache,
        space: Space,
        range: &KeyRange,
        order: Order,
        view: &'a dyn Read,
        at: Lsn,
    ) -> Option<Self> {
        let rest = range.clone();
        let mut cursor = Self { ranges, space, order, view, at, rest, source: Source::End, bytes: 0 };
        match ranges.next_part(space, range, order, at) {
            NextPart::Cached(cached) => cursor.enter_cached(cached),
            NextPart::Gap(gap) => {
                let door = match order {
                    Order::Ascending => Some(&range.start),
                    Order::Descending => range.end.as_ref(),
                };
                let is_known = ranges.was_scanned_lately(space, door.map_or(&[], Vec::as_slice));
                if !is_known && gap == *range {
                    return None;
                }
                cursor.enter_gap(gap, is_known);
            }
        }
        Some(cursor)
    }

    /// Moves to the next part; `source` is exhausted.
    fn advance(&mut self) {
        self.source = Source::End;
        if self.rest.is_empty() {
            return;
        }
        match self.ranges.next_part(self.space, &self.rest, self.order, self.at) {
            NextPart::Cached(cached) => self.enter_cached(cached),
            NextPart::Gap(gap) => self.enter_gap(gap, true),
        }
    }

    fn enter_cached(&mut self, cached: Arc<CachedRange>) {
        cached.mark_used();
        let rows = cached.between(&self.rest.start, self.rest.end.as_deref());
        match self.order {
            Order::Ascending => self.skip_to(cached.end.as_deref()),
            Order::Descending => self.skip_to(Some(&cached.start)),
        }
        self.source = Source::Cached { cached, rows };
    }

    fn enter_gap(&mut self, gap: KeyRange, is_kept: bool) {
        let rows = self.view.range(self.space, &gap, self.order);
        match self.order {
            Order::Ascending => self.skip_to(gap.end.as_deref()),
            Order::Descending => self.skip_to(Some(&gap.start)),
        }
        let kept = is_kept.then(|| Kept { part: gap, rows: room(self.ranges, self.bytes), bytes: 0 });
        self.source = Source::Engine { rows, kept };
    }

    /// Removes everything up to a key, or to the end of the space, from `rest`.
    fn skip_to(&mut self, key: Option<&[u8]>) {
        match (self.order, key) {
            (Order::Ascending, Some(key)) => self.rest.start = key.to_vec(),
            (Order::Ascending, None) => self.rest.end = Some(self.rest.start.clone()),
            (Order::Descending, key) => self.rest.end = Some(key.unwrap_or_default().to_vec()),
        }
    }

    /// Caches what was read up to and including a key, and begins the next cached range after it.
    fn store_up_to(&mut self, last: &Bytes) {
        let Source::Engine { kept: Some(kept), .. } = &mut self.source else { return };
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
        if let Some(rows) = std::mem::replace(&mut kept.rows, room(self.ranges, self.bytes)) {
            self.keep(read, &rows);
        }
    }

    fn keep(&self, part: KeyRange, rows: &[Row]) {
        if part.is_empty() {
            return;
        }
        let (start, end) = (Bytes::from(part.start), part.end.map(Bytes::from));
        let cached = match self.order {
            Order::Ascending => CachedRange::new(start, end, self.at, rows.iter()),
            Order::Descending => CachedRange::new(start, end, self.at, rows.iter().rev()),
        };
        self.ranges.keep(self.space, cached);
    }
}

/// Buffer for the next cached range, if the cache admits one after this many bytes.
fn room(ranges: &RangeCache, bytes: usize) -> Option<Vec<Row>> {
    ranges.admits(bytes).then(Vec::new)
}

impl Iterator for RangeCursor<'_> {
    type Item = Result<Row, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match &mut self.source {
                Source::Cached { cached, rows } => {
                    let at = match self.order {
                        Order::Ascending => rows.next(),
                        Order::Descending => rows.next_back(),
                    };
                    if let Some(at) = at {
                        return Some(Ok(cached.row(at)));
                    }
                }
                Source::Engine { rows, kept } => match (rows.next(), kept) {
                    (Some(Ok(row)), Some(kept)) => {
                        kept.bytes += row.0.len() + row.1.len();
                        if let Some(rows) = &mut kept.rows {
                            rows.push(row.clone());
                        }
                        if kept.bytes >= RANGE_BYTES_MAX {
                            self.store_up_to(&row.0);
                        }
                        return Some(Ok(row));
                    }
                    (Some(Ok(row)), None) => {
                        self.bytes += row.0.len() + row.1.len();
                        return Some(Ok(row));
                    }
                    (Some(Err(error)), _) => {
                        self.source = Source::End;
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
                Source::End => return None,
            }
            self.advance();
        }
    }
}

impl Drop for RangeCursor<'_> {
    fn drop(&mut self) {
        // If no row was read, nothing is known about the gap.
        if let Source::Engine { kept: Some(kept), .. } = &self.source
            && let Some(last) = kept.rows.iter().flatten().next_back().map(|(key, _)| key.clone())
        {
            self.store_up_to(&last);
        }
    }
}
