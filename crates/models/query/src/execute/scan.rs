//! The inner loop of every page: documents to rows to a sink.

use super::collection::{Collection, NoDocuments, ScannedDocument, Start};
use super::continuation::ResumeKey;
use super::eval::{Row, eval};
use super::exec_context::ExecContext;
use super::from::DerivedTable;
use super::from::{each_element, each_row};
use super::index_access;
use super::sink::OneRow;
use crate::access::{Access, ScanOrder, filter_conditions};
use crate::bind::bound::{Block, Expr, Source, SourceOf};
use crate::datum::Datum;
use crate::error::QueryError;
use orrery_value::Value;
use std::ops::ControlFlow;

/// The position of a row: its document, and its number among the rows of that document.
pub(crate) struct RowPosition<'a> {
    pub position: &'a [u8],
    pub ordinal: u64,
    part: u32,
    pub inner: u64,
}

impl RowPosition<'_> {
    /// Distinguishes rows with equal sort keys: no two rows of a query have the same one.
    pub fn tie_breaker(&self) -> (u64, u64) {
        (self.ordinal, (u64::from(self.part) << 32) | (self.inner & 0xffff_ffff))
    }
}

/// The sink's decision on a row.
pub(crate) enum SinkResult {
    Taken,
    /// The row does not fit and starts the next page.
    PageFull,
    /// It was the last row needed.
    Done,
}

/// The sort keys of a document, known from the index before the document is read.
pub(crate) struct KeyPreview<'a> {
    /// The values of the first ORDER BY keys, the same for all rows of the document.
    pub keys: &'a [Value],
    pub ordinal: Option<u64>,
}

/// Whether a page needs a document, judged by its sort keys alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyVerdict {
    /// The page may need its rows.
    Needed,
    /// All its rows come before the page.
    BeforePage,
    /// All its rows come after a page that is full.
    AfterPage { by: DecidedBy },
}

/// Whether the keys or the ordinal decided the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecidedBy {
    Keys,
    /// The keys are equal and the ordinal decides.
    Ordinal,
}

/// Consumes the rows that pass the filter.
pub(crate) trait Sink {
    fn row<'d>(
        &mut self,
        block: &'d Block,
        row: &mut Row<'d>,
        at: &RowPosition<'_>,
        ctx: &ExecContext<'_>,
    ) -> SinkResult;

    /// Whether any further row belongs to another page.
    fn is_full(&self) -> bool {
        false
    }

    /// Whether the scan may pause between two rows and another page may resume it.
    fn can_pause(&self) -> bool {
        false
    }

    /// The last row already returned, for sorted rows.
    fn resume_key(&self) -> Option<&ResumeKey> {
        None
    }

    /// Reports the number of rows, known without scanning them.
    fn counted(&mut self, _rows: u64) {}

    /// Whether a document must be read, as far as its sort keys can tell.
    fn judge(&mut self, _glimpse: &KeyPreview<'_>) -> KeyVerdict {
        KeyVerdict::Needed
    }
}

/// Where a scan stopped: a position, and the rows of its document already processed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScanPosition {
    pub order_of_scan: ScanOrder,
    pub position: Vec<u8>,
    pub inner: u64,
}

impl ScanPosition {
    pub fn numbered(ordinal: u64, inner: u64) -> Self {
        Self { order_of_scan: ScanOrder::Ordinal, position: ordinal.to_be_bytes().to_vec(), inner }
    }

    /// The document's ordinal, if the scan ran in ordinal order.
    pub fn ordinal(&self) -> Option<u64> {
        let bytes =
            (self.order_of_scan == ScanOrder::Ordinal).then(|| self.position.as_slice().try_into().ok());
        bytes.flatten().map(u64::from_be_bytes)
    }
}

/// The scan of a block over a collection.
pub(crate) struct Scan<'a> {
    pub block: &'a Block,
    /// The conditions of the block's filter that must be evaluated on documents.
    pub filter: Vec<&'a Expr>,
    pub slots: usize,
    pub collection: &'a dyn Collection,
    /// The access path of the block's own FROM.
    pub access: &'a Access,
    pub ctx: &'a ExecContext<'a>,
}

impl<'a> Scan<'a> {
    /// The same collection with another block, as a full scan.
    pub fn of_all<'b>(&'b self, block: &'b Block) -> Scan<'b> {
        let Scan { slots, collection, ctx, .. } = *self;
        Scan { block, filter: filter_conditions(block), slots, collection, access: &Access::Scan, ctx }
    }

    /// Runs until the documents end (`None`) or the sink's page does.
    pub fn run(
        &self,
        from: Option<&ScanPosition>,
        sink: &mut dyn Sink,
    ) -> Result<Option<ScanPosition>, QueryError> {
        orrery_core::tour_step!();
        match self.block.from.split_first() {
            Some((first, rest)) => match &first.of {
                SourceOf::Collection => index_access::run(self, first, rest, from, sink),
                SourceOf::Rows(inner) | SourceOf::EachOfRows(inner) if inner.reads_collection() => {
                    let derived = DerivedTable::new(inner, self, sink.can_pause())?;
                    let stopped = self.over(&derived, Some(first), rest, from, sink)?;
                    Ok(stopped.or_else(|| derived.paused()))
                }
                _ => self.over(&NoDocuments, None, &self.block.from, from, sink),
            },
            None => self.over(&NoDocuments, None, &[], from, sink),
        }
    }

    /// Recomputes the text of an earlier row from its document's position and ordinal and its number in
    /// the document.
    pub fn reread(&self, position: &[u8], ordinal: u64, inner: u64) -> Result<Vec<u8>, QueryError> {
        let Some((first, rest)) = self.block.from.split_first() else { return Ok(Vec::new()) };
        let Scan { block, slots, collection, ctx, .. } = *self;
        // The row has passed the filter before.
        let bare = Scan { block, filter: Vec::new(), slots, collection, access: &Access::Scan, ctx };
        let from = ScanPosition { order_of_scan: ScanOrder::Key, position: position.to_vec(), inner };
        let mut row = OneRow::default();
        ctx.uncounted(|| match collection.indexes().filter(|_| position == ordinal.to_be_bytes()) {
            None => bare.over(collection, Some(first), rest, Some(&from), &mut row).map(|_| ()),
            Some(indexes) => {
                let mut pump = RowPump::new(&bare, Some(first), rest, Some(&from), &mut row);
                let _ = indexes.fetch(ordinal, &mut |found| pump.push(found))?;
                pump.finish().map(|_| ())
            }
        })?;
        Ok(row.0)
    }

    pub(super) fn over(
        &self,
        collection: &dyn Collection,
        first: Option<&Source>,
        rest: &[Source],
        from: Option<&ScanPosition>,
        sink: &mut dyn Sink,
    ) -> Result<Option<ScanPosition>, QueryError> {
        let start = from.map_or(Start::Beginning, |place| Start::At(place.position.clone()));
        let mut pump = RowPump::new(self, first, rest, from, sink);
        collection.scan(&start, &mut |found| pump.push(found))?;
        pump.finish()
    }

    /// Shows the rows of one document.
    fn document<'d>(
        &'d self,
        root: &Datum<'d>,
        first: Option<&Source>,
        rest: &'d [Source],
        row: &mut Row<'d>,
        taker: &mut RowTaker<'_>,
    ) -> ControlFlow<()> {
        let Scan { block, ref filter, ctx, .. } = *self;
        match first {
            Some(Source { slot, of: SourceOf::EachOfRows(_), .. }) => {
                each_element(root.clone(), row, &mut |row, value| {
                    row[*slot] = value;
                    each_row(rest, row, ctx, &mut |row| taker.take(block, filter, row, ctx))
                })
            }
            Some(first) => {
                row[first.slot] = root.clone();
                each_row(rest, row, ctx, &mut |row| taker.take(block, filter, row, ctx))
            }
            None => each_row(rest, row, ctx, &mut |row| taker.take(block, filter, row, ctx)),
        }
    }
}

/// Pumps the rows of one document after another into the sink.
pub(super) struct RowPump<'m> {
    scan: &'m Scan<'m>,
    first: Option<&'m Source>,
    rest: &'m [Source],
    from: Option<&'m ScanPosition>,
    pub sink: &'m mut dyn Sink,
    /// The scan order.
    pub order_of_scan: ScanOrder,
    stopped: Option<ScanPosition>,
    room: Row<'static>,
}

impl<'m> RowPump<'m> {
    pub fn new(
        scan: &'m Scan<'m>,
        first: Option<&'m Source>,
        rest: &'m [Source],
        from: Option<&'m ScanPosition>,
        sink: &'m mut dyn Sink,
    ) -> Self {
        let room = vec![Datum::Undefined; scan.slots];
        Self { scan, first, rest, from, sink, order_of_scan: ScanOrder::Key, stopped: None, room }
    }

    pub fn push(&mut self, found: ScannedDocument<'_>) -> ControlFlow<()> {
        let scan = self.scan;
        let done = self.from.filter(|place| place.position == found.position).map_or(0, |place| place.inner);
        scan.ctx.count_document(found.bytes);
        let mut row: Row<'_> = std::mem::take(&mut self.room);
        let ScannedDocument { position, ordinal, part, .. } = found;
        let at = RowPosition { position, ordinal, part, inner: 0 };
        let mut taker = RowTaker {
            at,
            order_of_scan: self.order_of_scan,
            done,
            sink: &mut *self.sink,
            stopped: &mut self.stopped,
        };
        let flow = scan.document(&found.root, self.first, self.rest, &mut row, &mut taker);
        self.room = emptied(row);
        flow
    }

    /// Where it stopped, if the sink's page ended before the documents did.
    pub fn finish(self) -> Result<Option<ScanPosition>, QueryError> {
        self.scan.ctx.check()?;
        Ok(self.stopped)
    }
}

/// Reuses the allocation for the rows of another document: the standard library collects in place.
fn emptied(row: Row<'_>) -> Row<'static> {
    row.into_iter().map(|_| Datum::Undefined).collect()
}

/// Whether all conditions are true. A false one does not skip the others, because an error in any of them
/// must surface.
fn passes<'d>(filter: &[&'d Expr], row: &mut Row<'d>, ctx: &ExecContext<'_>) -> bool {
    let mut passes = true;
    for condition in filter {
        match eval(condition, row, ctx) {
            Datum::Bool(true) => {}
            Datum::Bool(false) => return false,
            _ => passes = false,
        }
    }
    passes
}

/// Takes the rows of one document to the sink.
struct RowTaker<'a> {
    at: RowPosition<'a>,
    order_of_scan: ScanOrder,
    /// Rows that the previous page has taken.
    done: u64,
    sink: &'a mut dyn Sink,
    stopped: &'a mut Option<ScanPosition>,
}

impl RowTaker<'_> {
    fn take<'d>(
        &mut self,
        block: &'d Block,
        filter: &[&'d Expr],
        row: &mut Row<'d>,
        ctx: &ExecContext<'_>,
    ) -> ControlFlow<()> {
        if self.at.inner < self.done {
            self.at.inner += 1;
            return ControlFlow::Continue(());
        }
        if self.sink.is_full() || (ctx.is_time_share_spent() && self.sink.can_pause()) {
            return self.stop_here();
        }
        ctx.begin_time_share();
        if passes(filter, row, ctx) {
            match self.sink.row(block, row, &self.at, ctx) {
                SinkResult::Taken => {}
                SinkResult::PageFull => return self.stop_here(),
                SinkResult::Done => return ControlFlow::Break(()),
            }
        }
        self.at.inner += 1;
        if ctx.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn stop_here(&mut self) -> ControlFlow<()> {
        let (position, inner) = (self.at.position.to_vec(), self.at.inner);
        *self.stopped = Some(ScanPosition { order_of_scan: self.order_of_scan, position, inner });
        ControlFlow::Break(())
    }
}
