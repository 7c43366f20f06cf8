//! One page of a query's result.
//!
//! The plan determines how a page is made and the state that the next page needs ([`QueryState`]): rows in
//! document order need a position, a single aggregated row needs its accumulators, and sorted rows need the
//! last row's key.

use super::accumulator::Accumulator;
use super::collection::RelativePosition;
use super::continuation::{QueryState, ResumeKey, StateKind};
use super::eval::{Row, write};
use super::exec_context::Metrics;
use super::rank;
use super::scan::{Scan, ScanPosition};
use super::sink::{AggregateSink, BufferedRow, GroupSink, Order, SortKey, StreamSink, TopNSink, descends};
use super::subquery::{fill, size_of_value};
use crate::access::{Access, IndexUsage, PageRequest, ScanOrder};
use crate::bind::bound::Grouping;
use crate::datum::Datum;
use crate::error::QueryError;
use crate::limits;
use crate::plan::Plan;
use orrery_value::Value;
use std::borrow::Cow;

/// The limits of a page.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub items: usize,
    pub bytes: usize,
}

/// Bytes reserved after the rows for the page's closing part.
const TRAILER_BYTES: usize = 64;

/// Rows as JSON, separated by commas.
#[derive(Debug, Default)]
pub struct Page {
    pub rows: Vec<u8>,
    pub count: usize,
    /// Where the next page resumes; `None` at the end.
    pub next: Option<Vec<u8>>,
    pub metrics: Metrics,
    /// The indexes it used, and those it could have used.
    pub index_usage: IndexUsage,
}

/// How a client resumes an ORDER BY whose rewritten form it runs itself (wire guide §17.6).
#[derive(Clone, Debug, PartialEq)]
pub struct ResumeFilter {
    /// One value per ORDER BY key.
    pub values: Vec<Value>,
    /// Among rows with these values, rows on one side of this position have been returned: smaller
    /// ordinals, or greater ones if the first key descends.
    pub ordinal: Option<u64>,
    /// Whether the row at this position has been returned too.
    pub exclude: bool,
}

/// The text of a page under construction.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub rows: Vec<u8>,
    pub count: usize,
}

impl Output {
    /// Opens a row; returns the position that [`undo_row`](Self::undo_row) takes.
    pub fn begin_row(&mut self) -> usize {
        let start = self.rows.len();
        if self.count > 0 {
            self.rows.push(b',');
        }
        start
    }

    pub fn undo_row(&mut self, start: usize) {
        self.rows.truncate(start);
    }

    /// Keeps the row written since `start`, unless the page would become too large. The first row is
    /// kept at any size.
    pub fn commit_row(&mut self, start: usize, limits: Limits) -> bool {
        if self.count >= limits.items || (self.rows.len() > limits.bytes && self.count > 0) {
            self.undo_row(start);
            return false;
        }
        self.count += 1;
        true
    }

    /// Adds a row if it fits.
    pub fn push(&mut self, row: &[u8], limits: Limits) -> bool {
        let start = self.begin_row();
        self.rows.extend_from_slice(row);
        self.commit_row(start, limits)
    }

    pub fn finish(self, next: Option<QueryState>) -> Result<Page, QueryError> {
        let next = next.map(|state| state.write());
        if next.as_ref().is_some_and(|next| next.len() > limits::CONTINUATION_STATE_BYTES_MAX) {
            return Err(QueryError::Refused(
                "The values this query sorts or groups by are too long for a continuation token; ask for larger pages, or sort by something shorter.".to_owned(),
            ));
        }
        Ok(Page { rows: self.rows, count: self.count, next, ..Page::default() })
    }
}

/// The requirements of a page on its access path.
pub(crate) fn request(plan: &Plan, resume: Option<&QueryState>, page: Limits) -> PageRequest {
    let block = &plan.query.block;
    let (skip, left) = resume.map_or((block.offset, block.limit), |state| (state.skip, state.left));
    let items = left.unwrap_or(u64::MAX).min(page.items as u64);
    let order_of_scan = match resume.map(|state| &state.kind) {
        Some(StateKind::Stream(place)) => Some(place.order_of_scan),
        Some(StateKind::Aggregate(..)) => Some(ScanOrder::Key),
        _ => None,
    };
    PageRequest { rows: skip.saturating_add(items), order_of_scan, prefer: plan.prefer }
}

pub(crate) fn run(
    scan: &Scan<'_>,
    resume: Option<QueryState>,
    filter: Option<&ResumeFilter>,
    page: Limits,
) -> Result<Page, QueryError> {
    orrery_core::tour_step!();
    let block = scan.block;
    let resume =
        resume.unwrap_or(QueryState { skip: block.offset, left: block.limit, kind: StateKind::Ranked(0) });
    let limits = within(page, resume.left);
    if resume.left == Some(0) {
        return Output::default().finish(None);
    }
    match &block.grouping {
        _ if block.rank.is_some() => rank::run(scan, resume, limits),
        Some(grouping) if grouping.keys.is_empty() => aggregate(scan, grouping, resume, limits),
        Some(grouping) => group(scan, grouping, resume, limits),
        None if block.is_streaming() => stream(scan, resume, page),
        None => keyed(scan, resume, filter, limits),
    }
}

fn stream(scan: &Scan<'_>, resume: QueryState, limits: Limits) -> Result<Page, QueryError> {
    let from = match &resume.kind {
        StateKind::Stream(place) => Some(place),
        _ => None,
    };
    if let Some(ordinal) = from.and_then(ScanPosition::ordinal).filter(|_| *scan.access == Access::Scan) {
        let inner = from.map_or(0, |place| place.inner);
        return numbered(scan, resume.skip, resume.left, (ordinal, inner), limits);
    }
    let mut sink = StreamSink { skip: resume.skip, left: resume.left, output: Output::default(), limits };
    let stopped = scan.run(from, &mut sink)?;
    let next =
        stopped.map(|place| QueryState { skip: sink.skip, left: sink.left, kind: StateKind::Stream(place) });
    sink.output.finish(next)
}

/// Resumes rows in ordinal order when no index provides that order any more: all documents are scanned and
/// the first rows selected, like sorted rows without other keys.
fn numbered(
    scan: &Scan<'_>,
    skip: u64,
    left: Option<u64>,
    from: (u64, u64),
    page: Limits,
) -> Result<Page, QueryError> {
    let limits = within(page, left);
    let (order, (ordinal, inner)) = (Order::from([]), from);
    let from = SortKey { after: ResumeKey { keys: Vec::new(), ordinal, inner }, order: order.clone() };
    let mut sink = TopNSink::new(order, Some(from), true, capacity(skip, limits.items)).of(scan.block);
    scan.run(None, &mut sink)?;
    let dropped = sink.dropped;
    let next = |ResumeKey { ordinal, inner, .. }| {
        StateKind::Stream(ScanPosition::numbered(ordinal, inner.saturating_add(1)))
    };
    let (rows, text) = sink.finish();
    windowed(rows.map(|row| kept(row, &text)), scan, skip, left, dropped, limits, next)
}

/// The page limits, restricted to the rows that are left.
fn within(page: Limits, left: Option<u64>) -> Limits {
    let left = left.map_or(usize::MAX, |left| usize::try_from(left).unwrap_or(usize::MAX));
    Limits { items: page.items.min(left), bytes: page.bytes }
}

fn aggregate(
    scan: &Scan<'_>,
    grouping: &Grouping,
    resume: QueryState,
    limits: Limits,
) -> Result<Page, QueryError> {
    let QueryState { skip, left, kind } = resume;
    let fresh = || Accumulator::for_all(grouping);
    let (from, accumulators, relative_position) = match kind {
        StateKind::Aggregate(place, accumulators) if accumulators.len() == grouping.aggregates.len() => {
            // A token may be used for each of the ranges into which its range was split; the
            // accumulated values go to the range where the scan stopped.
            match scan.collection.relative_position(&place.position) {
                RelativePosition::Before => (None, fresh(), RelativePosition::Before),
                RelativePosition::Inside => (Some(place), accumulators, RelativePosition::Inside),
                RelativePosition::After => (None, fresh(), RelativePosition::After),
            }
        }
        _ => (None, fresh(), RelativePosition::Inside),
    };
    let mut sink = AggregateSink { accumulators, is_resumable: *scan.access == Access::Scan };
    let stopped =
        if relative_position == RelativePosition::After { None } else { scan.run(from.as_ref(), &mut sink)? };
    let mut output = Output::default();
    if let Some(place) = stopped {
        let kind = StateKind::Aggregate(place, sink.accumulators);
        return output.finish(Some(QueryState { skip, left, kind }));
    }
    let text = group_row(scan, grouping, Vec::new(), sink.accumulators);
    if let Some(text) = text.filter(|_| skip == 0) {
        output.push(&text, limits);
    }
    scan.ctx.check()?;
    output.finish(None)
}

/// The text of a group's row; `None` if it is undefined.
fn group_row(
    scan: &Scan<'_>,
    grouping: &Grouping,
    keys: Vec<Value>,
    accumulators: Vec<Accumulator>,
) -> Option<Vec<u8>> {
    let mut row: Row<'_> = vec![Datum::Undefined; scan.slots];
    fill(grouping, &mut row, keys, accumulators);
    let mut text = Vec::new();
    write(&scan.block.select, &mut row, scan.ctx, &mut text).then_some(text)
}

fn group(
    scan: &Scan<'_>,
    grouping: &Grouping,
    resume: QueryState,
    limits: Limits,
) -> Result<Page, QueryError> {
    let QueryState { skip, left, kind } = resume;
    let after = match kind {
        StateKind::Keyed(after) => Some(after),
        _ => None,
    };
    if scan.block.distinct {
        return distinct_groups(scan, grouping, skip, left, after, limits);
    }
    let mut sink = GroupSink::new(after.map(|after| after.keys), capacity(skip, limits.items));
    scan.run(None, &mut sink)?;
    let dropped = sink.dropped;
    let rows = sink.finish().map(|(keys, accumulators)| {
        let text = group_row(scan, grouping, keys.clone(), accumulators);
        let text = text.map_or(RowText::Undefined, |text| RowText::Ready(text.into()));
        (ResumeKey { keys, ordinal: 0, inner: 0 }, text)
    });
    let page = windowed(rows, scan, skip, left, dropped, limits, StateKind::Keyed)?;
    scan.ctx.check()?;
    Ok(page)
}

/// Groups whose rows must be distinct: all are built, and ordered by their rows.
fn distinct_groups(
    scan: &Scan<'_>,
    grouping: &Grouping,
    skip: u64,
    left: Option<u64>,
    after: Option<ResumeKey>,
    limits: Limits,
) -> Result<Page, QueryError> {
    let mut sink = GroupSink::new(None, usize::MAX);
    scan.run(None, &mut sink)?;
    if sink.dropped {
        return Err(QueryError::Refused("DISTINCT over so many groups does not fit into memory.".to_owned()));
    }
    let mut rows = std::collections::BTreeMap::new();
    for (keys, accumulators) in sink.finish() {
        if let Some(text) = group_row(scan, grouping, keys, accumulators) {
            let value = Value::read(std::str::from_utf8(&text).unwrap_or_default());
            scan.ctx.hold(size_of_value(&value) + text.len());
            scan.ctx.check()?;
            rows.insert(vec![value], text);
        }
    }
    scan.ctx.check()?;
    let rest = rows.into_iter().filter(|(value, _)| after.as_ref().is_none_or(|after| *value > after.keys));
    let rest =
        rest.map(|(keys, text)| (ResumeKey { keys, ordinal: 0, inner: 0 }, RowText::Ready(text.into())));
    windowed(rest, scan, skip, left, false, limits, StateKind::Keyed)
}

/// A row of a sorted page.
enum RowText<'t> {
    /// Undefined, so not a row.
    Undefined,
    Ready(Cow<'t, [u8]>),
    /// A long row, of the document at this position.
    AtPosition(&'t [u8]),
}

impl<'t> RowText<'t> {
    fn text(self, key: &ResumeKey, scan: &Scan<'_>) -> Result<Option<Cow<'t, [u8]>>, QueryError> {
        match self {
            Self::Undefined => Ok(None),
            Self::Ready(text) => Ok(Some(text)),
            Self::AtPosition(position) => {
                let text = scan.reread(position, key.ordinal, key.inner)?;
                Ok((!text.is_empty()).then_some(text.into()))
            }
        }
    }
}

/// A page of sorted rows: skips some, takes some, and computes where the rest begins. `dropped` if there are
/// more rows than these.
fn windowed<'t>(
    rows: impl Iterator<Item = (ResumeKey, RowText<'t>)>,
    scan: &Scan<'_>,
    mut skip: u64,
    mut left: Option<u64>,
    dropped: bool,
    limits: Limits,
    kind: impl FnOnce(ResumeKey) -> StateKind,
) -> Result<Page, QueryError> {
    let mut output = Output::default();
    let (mut more, mut last) = (dropped, None);
    let count = rows.size_hint().0.min(limits.items);
    for (key, row) in rows {
        if skip > 0 || left == Some(0) || output.count >= limits.items {
            match row {
                RowText::Undefined => {}
                _ if skip > 0 => skip -= 1,
                _ => {
                    more = true;
                    break;
                }
            }
        } else if let Some(text) = row.text(&key, scan)? {
            // Most rows are about as long as the first.
            if output.count == 0 {
                let room = (text.len() + 1).saturating_mul(count).min(limits.bytes);
                output.rows.reserve(room + TRAILER_BYTES);
            }
            if !output.push(&text, limits) {
                more = true;
                break;
            }
            left = left.map(|left| left - 1);
        }
        last = Some(key);
    }
    let next = last.filter(|_| more && left != Some(0));
    output.finish(next.map(|after| QueryState { skip, left, kind: kind(after) }))
}

/// The number of rows to hold in order to skip some and fill a page.
fn capacity(skip: u64, items: usize) -> usize {
    usize::try_from(skip).unwrap_or(usize::MAX).saturating_add(items).max(1)
}

fn keyed(
    scan: &Scan<'_>,
    resume: QueryState,
    filter: Option<&ResumeFilter>,
    limits: Limits,
) -> Result<Page, QueryError> {
    let QueryState { skip, left, kind } = resume;
    let order: Order = scan.block.order.iter().map(|key| key.descending).collect();
    let (after, included) = match (kind, filter) {
        (StateKind::Keyed(after), _) => (Some(after), false),
        (_, Some(filter)) => (Some(resume_after(filter, descends(&order))), !filter.exclude),
        _ => (None, false),
    };
    let after = after.map(|after| SortKey { after, order: order.clone() });
    let mut sink = TopNSink::new(order, after, included, capacity(skip, limits.items)).of(scan.block);
    if sink.needs_distinct_pass(scan.block) {
        sink.set_distinct_pass(true);
        scan.run(None, &mut sink)?;
        sink.set_distinct_pass(false);
    }
    scan.run(None, &mut sink)?;
    let dropped = sink.dropped;
    let (rows, text) = sink.finish();
    windowed(rows.map(|row| kept(row, &text)), scan, skip, left, dropped, limits, StateKind::Keyed)
}

/// A row whose text or position is in a buffer.
fn kept<'t>((after, kept): (ResumeKey, BufferedRow), text: &'t [u8]) -> (ResumeKey, RowText<'t>) {
    let row = match kept {
        BufferedRow::Text(place) => RowText::Ready(Cow::Borrowed(&text[place])),
        BufferedRow::Position(place) => RowText::AtPosition(&text[place]),
    };
    (after, row)
}

/// The position that a client's filter names: before all rows with its values if it names no row, or after
/// them.
fn resume_after(filter: &ResumeFilter, descends: bool) -> ResumeKey {
    // The end of the rows with these values; for descending ties it is on the other side.
    let edge = if filter.exclude != descends { u64::MAX } else { 0 };
    let (ordinal, inner) = (filter.ordinal.unwrap_or(edge), edge);
    ResumeKey { keys: filter.values.clone(), ordinal, inner }
}
