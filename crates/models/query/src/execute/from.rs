//! FROM: the cross product of its sources, the first source outermost, and derived tables.

use super::collection::{Collection, ScannedDocument, Start};
use super::eval::{Row, eval};
use super::exec_context::ExecContext;
use super::page::{self, Limits};
use super::scan::{RowPosition, Scan, ScanPosition, Sink, SinkResult};
use super::subquery::{self, size_of_value};
use crate::access::ScanOrder;
use crate::bind::bound::{Block, Source, SourceOf};
use crate::datum::Datum;
use crate::error::QueryError;
use crate::limits;
use orrery_value::{Value, raw};
use std::cell::RefCell;
use std::ops::ControlFlow;

/// A visitor of rows; it returns whether to continue.
pub(crate) type Visit<'v, 'd> = &'v mut dyn FnMut(&mut Row<'d>) -> ControlFlow<()>;

/// Fills the slots of `sources` with each combination. A source sees those before it.
pub(crate) fn each_row<'d>(
    sources: &'d [Source],
    row: &mut Row<'d>,
    ctx: &ExecContext<'_>,
    visit: Visit<'_, 'd>,
) -> ControlFlow<()> {
    orrery_core::tour_step!();
    let Some((source, rest)) = sources.split_first() else {
        return if ctx.count_row() { visit(row) } else { ControlFlow::Break(()) };
    };
    let mut each = |row: &mut Row<'d>, value: Datum<'d>| {
        // Counted even without a result: a later source may give no rows.
        if !rest.is_empty() && !ctx.count_row() {
            return ControlFlow::Break(());
        }
        row[source.slot] = value;
        each_row(rest, row, ctx, visit)
    };
    match &source.of {
        // The collection scan has already filled this slot.
        SourceOf::Collection => {
            let document = row[source.slot].clone();
            each(row, document)
        }
        SourceOf::Value(expr) => match eval(expr, row, ctx) {
            Datum::Undefined => ControlFlow::Continue(()),
            value => each(row, value),
        },
        SourceOf::Each(expr) => each_element(eval(expr, row, ctx), row, &mut each),
        SourceOf::Rows(block) => subquery::each_value(block, row, ctx, &mut each),
        SourceOf::EachOfRows(block) => {
            subquery::each_value(block, row, ctx, &mut |row, value| each_element(value, row, &mut each))
        }
    }
}

/// The elements of an array; none for anything else.
pub(crate) fn each_element<'d>(
    value: Datum<'d>,
    row: &mut Row<'d>,
    each: &mut dyn FnMut(&mut Row<'d>, Datum<'d>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    match value {
        Datum::Text(text) => raw::elements(text).try_for_each(|item| each(row, Datum::read(item))),
        value => value.elements().unwrap_or_default().into_iter().try_for_each(|item| each(row, item)),
    }
}

// Derived tables: `FROM (SELECT … FROM c)` as a collection.
//
// Streaming rows are produced as their documents arrive. Any other subquery runs first and its rows are kept,
// within the query's memory limit; a row's position is then its number.

pub(crate) enum DerivedTable<'a> {
    Streamed(Streamed<'a>),
    Materialized(Vec<Value>),
}

pub(crate) struct Streamed<'a> {
    block: &'a Block,
    scan: &'a Scan<'a>,
    can_pause: bool,
    /// The position where it paused because the page's time was up.
    paused: RefCell<Option<ScanPosition>>,
}

impl<'a> DerivedTable<'a> {
    pub fn new(block: &'a Block, scan: &'a Scan<'a>, can_pause: bool) -> Result<Self, QueryError> {
        if block.is_streaming() && block.offset == 0 && block.limit.is_none() {
            return Ok(Self::Streamed(Streamed { block, scan, can_pause, paused: RefCell::default() }));
        }
        let inner = scan.of_all(block);
        let whole = Limits { items: usize::MAX, bytes: limits::QUERY_MEMORY_BYTES_MAX };
        let page = scan.ctx.without_time_share(|| page::run(&inner, None, None, whole))?;
        if page.next.is_some() {
            return Err(QueryError::Refused(
                "The subquery in FROM has more rows than fit into memory; narrow it with a filter."
                    .to_owned(),
            ));
        }
        let text = [b"[", &page.rows[..], b"]"].concat();
        drop(page);
        Self::kept(std::str::from_utf8(&text).unwrap_or("[]"), scan.ctx)
    }

    /// The position between two rows at which nothing has been shown yet.
    pub fn paused(&self) -> Option<ScanPosition> {
        match self {
            Self::Streamed(streamed) => streamed.paused.borrow().clone(),
            Self::Materialized(_) => None,
        }
    }

    fn kept(rows: &str, ctx: &ExecContext<'_>) -> Result<Self, QueryError> {
        let mut values = Vec::new();
        for row in raw::elements(rows) {
            let value = Value::read(row);
            ctx.hold(size_of_value(&value));
            ctx.check()?;
            values.push(value);
        }
        Ok(Self::Materialized(values))
    }
}

impl Collection for DerivedTable<'_> {
    fn scan(
        &self,
        start: &Start,
        visit: &mut dyn FnMut(ScannedDocument<'_>) -> ControlFlow<()>,
    ) -> Result<(), QueryError> {
        match self {
            Self::Materialized(rows) => {
                let (from, after) = match start {
                    Start::Beginning => (0, false),
                    Start::At(position) => (number(position), false),
                    Start::After(position) => (number(position), true),
                };
                for (i, value) in rows.iter().enumerate().skip(from as usize + usize::from(after)) {
                    let position = (i as u64).to_be_bytes();
                    let (ordinal, root) = (i as u64, Datum::of(value));
                    let found = ScannedDocument { position: &position, ordinal, part: 0, bytes: 0, root };
                    if visit(found).is_break() {
                        break;
                    }
                }
                Ok(())
            }
            Self::Streamed(streamed) => streamed.scan(start, visit),
        }
    }
}

fn number(position: &[u8]) -> u64 {
    position.iter().fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

impl Streamed<'_> {
    /// A row's position: its document's, and its number there in eight bytes.
    fn scan(
        &self,
        start: &Start,
        visit: &mut dyn FnMut(ScannedDocument<'_>) -> ControlFlow<()>,
    ) -> Result<(), QueryError> {
        let place = match start {
            Start::Beginning => None,
            Start::At(position) | Start::After(position) => {
                let (document, inner) = position.split_at(position.len().saturating_sub(8));
                let inner = number(inner) + u64::from(matches!(start, Start::After(_)));
                Some(ScanPosition { order_of_scan: ScanOrder::Key, position: document.to_vec(), inner })
            }
        };
        let inner = self.scan.of_all(self.block);
        let mut pass = PassThrough { visit, last: None, can_pause: self.can_pause };
        let stopped = inner.run(place.as_ref(), &mut pass)?;
        let outside = |ScanPosition { order_of_scan, position, inner }| ScanPosition {
            order_of_scan,
            position: [&position[..], &inner.to_be_bytes()].concat(),
            inner: 0,
        };
        *self.paused.borrow_mut() = stopped.map(outside);
        Ok(())
    }
}

/// Passes each row on as a document.
struct PassThrough<'v> {
    visit: &'v mut dyn FnMut(ScannedDocument<'_>) -> ControlFlow<()>,
    /// The document of the last row, and the row's number there.
    last: Option<(u64, u32)>,
    can_pause: bool,
}

impl PassThrough<'_> {
    /// Counted across everything derived from a document, however many subqueries are nested.
    fn part(&mut self, ordinal: u64) -> u32 {
        let part = match self.last {
            Some((last, part)) if last == ordinal => part.saturating_add(1),
            _ => 0,
        };
        self.last = Some((ordinal, part));
        part
    }
}

impl Sink for PassThrough<'_> {
    fn row<'d>(
        &mut self,
        block: &'d Block,
        row: &mut Row<'d>,
        at: &RowPosition<'_>,
        ctx: &ExecContext<'_>,
    ) -> SinkResult {
        let root = eval(&block.select, row, ctx);
        if root.is_undefined() {
            return SinkResult::Taken;
        }
        let position = [at.position, &at.inner.to_be_bytes()].concat();
        let part = self.part(at.ordinal);
        match (self.visit)(ScannedDocument { position: &position, ordinal: at.ordinal, part, bytes: 0, root })
        {
            ControlFlow::Continue(()) => SinkResult::Taken,
            ControlFlow::Break(()) => SinkResult::Done,
        }
    }

    fn can_pause(&self) -> bool {
        self.can_pause
    }
}
