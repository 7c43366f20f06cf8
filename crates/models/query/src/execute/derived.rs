//! `FROM (SELECT … FROM c)`: the rows of a subquery over the collection, as a collection.
//!
//! Rows that stream are made as their documents come. A subquery that must be seen whole is run first and
//! its rows are kept, within the query's bound of memory; a row's position is then its number.

use super::block::size_of_value;
use super::collection::{Collection, ScannedDocument, Start};
use super::eval::{Row, eval};
use super::exec_context::ExecContext;
use super::page::{self, Limits};
use super::scan::{At, Place, Scan, Sink, Took};
use crate::access::ScanOrder;
use crate::bind::bound::Block;
use crate::datum::Datum;
use crate::error::QueryError;
use orrery_core::limits;
use orrery_value::{Value, raw};
use std::cell::RefCell;
use std::ops::ControlFlow;

pub(crate) enum Derived<'a> {
    Streamed(Streamed<'a>),
    Kept(Vec<Value>),
}

pub(crate) struct Streamed<'a> {
    block: &'a Block,
    scan: &'a Scan<'a>,
    can_pause: bool,
    /// Where it stopped by itself, because the page has taken its time.
    paused: RefCell<Option<Place>>,
}

impl<'a> Derived<'a> {
    pub fn new(block: &'a Block, scan: &'a Scan<'a>, can_pause: bool) -> Result<Self, QueryError> {
        if block.is_streaming() && block.offset == 0 && block.limit.is_none() {
            return Ok(Self::Streamed(Streamed { block, scan, can_pause, paused: RefCell::default() }));
        }
        let inner = scan.of_all(block);
        let whole = Limits { items: usize::MAX, bytes: limits::QUERY_BYTES_HELD_MAX };
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

    /// Where the rows were left off between two that anybody saw.
    pub fn paused(&self) -> Option<Place> {
        match self {
            Self::Streamed(streamed) => streamed.paused.borrow().clone(),
            Self::Kept(_) => None,
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
        Ok(Self::Kept(values))
    }
}

impl Collection for Derived<'_> {
    fn scan(
        &self,
        start: &Start,
        visit: &mut dyn FnMut(ScannedDocument<'_>) -> ControlFlow<()>,
    ) -> Result<(), QueryError> {
        match self {
            Self::Kept(rows) => {
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
    /// A row's position: its document's, and eight bytes of its number there.
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
                Some(Place { walk: ScanOrder::Key, position: document.to_vec(), inner })
            }
        };
        let inner = self.scan.of_all(self.block);
        let mut pass = Pass { visit, last: None, can_pause: self.can_pause };
        let stopped = inner.run(place.as_ref(), &mut pass)?;
        let outside = |Place { walk, position, inner }| Place {
            walk,
            position: [&position[..], &inner.to_be_bytes()].concat(),
            inner: 0,
        };
        *self.paused.borrow_mut() = stopped.map(outside);
        Ok(())
    }
}

/// Hands each row on as a document.
struct Pass<'v> {
    visit: &'v mut dyn FnMut(ScannedDocument<'_>) -> ControlFlow<()>,
    /// The document of the last row, and its number there.
    last: Option<(u64, u32)>,
    can_pause: bool,
}

impl Pass<'_> {
    /// Counted over all that a document becomes, however many subqueries are between.
    fn part(&mut self, ordinal: u64) -> u32 {
        let part = match self.last {
            Some((last, part)) if last == ordinal => part.saturating_add(1),
            _ => 0,
        };
        self.last = Some((ordinal, part));
        part
    }
}

impl Sink for Pass<'_> {
    fn row<'d>(&mut self, block: &'d Block, row: &mut Row<'d>, at: &At<'_>, ctx: &ExecContext<'_>) -> Took {
        let root = eval(&block.select, row, ctx);
        if root.is_undefined() {
            return Took::Yes;
        }
        let position = [at.position, &at.inner.to_be_bytes()].concat();
        let part = self.part(at.ordinal);
        match (self.visit)(ScannedDocument { position: &position, ordinal: at.ordinal, part, bytes: 0, root })
        {
            ControlFlow::Continue(()) => Took::Yes,
            ControlFlow::Break(()) => Took::Done,
        }
    }

    fn can_pause(&self) -> bool {
        self.can_pause
    }
}
