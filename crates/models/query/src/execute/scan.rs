//! From documents to rows to a sink: the loop at the bottom of every page.

use super::collection::{Collection, Nothing, Start};
use super::derived::Derived;
use super::eval::{Row, eval};
use super::rows::{each_element, each_row};
use super::world::World;
use crate::bind::bound::{Block, Source, SourceOf};
use crate::datum::Datum;
use crate::error::QueryError;
use std::ops::ControlFlow;

/// Where a row is: its document, and its number among the combinations of that document.
pub(crate) struct At<'a> {
    pub position: &'a [u8],
    pub ordinal: u64,
    part: u32,
    pub inner: u64,
}

impl At<'_> {
    /// What tells rows apart that sort the same: no two rows of a query have the same.
    pub fn tie(&self) -> (u64, u64) {
        (self.ordinal, (u64::from(self.part) << 32) | (self.inner & 0xffff_ffff))
    }
}

/// What becomes of a row.
pub(crate) enum Took {
    Yes,
    /// The page has no room for it; it is the first of the next one.
    No,
    /// It was the last that is wanted.
    Done,
}

/// Takes the rows that pass the filter.
pub(crate) trait Sink {
    fn row<'d>(&mut self, block: &'d Block, row: &mut Row<'d>, at: &At<'_>, world: &World<'_>) -> Took;

    /// Whether the next row, whatever it is, belongs to another page.
    fn is_full(&self) -> bool {
        false
    }

    /// Whether the scan may stop between two rows and be gone on with by another page.
    fn can_pause(&self) -> bool {
        false
    }
}

/// Where a scan stopped, to go on from: a position, and how many of its combinations are done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub position: Vec<u8>,
    pub inner: u64,
}

/// A block over a collection, with room for its rows.
pub(crate) struct Scan<'a> {
    pub block: &'a Block,
    pub slots: usize,
    pub collection: &'a dyn Collection,
    pub world: &'a World<'a>,
}

impl Scan<'_> {
    /// Runs until the documents end (`None`) or the sink's page does.
    pub fn run(&self, from: Option<&Place>, sink: &mut dyn Sink) -> Result<Option<Place>, QueryError> {
        match self.block.from.split_first() {
            Some((first, rest)) => match &first.of {
                SourceOf::Collection => self.over(self.collection, Some(first), rest, from, sink),
                SourceOf::Rows(inner) | SourceOf::EachOfRows(inner) if inner.reads_collection() => {
                    let derived = Derived::new(inner, self, sink.can_pause())?;
                    let stopped = self.over(&derived, Some(first), rest, from, sink)?;
                    Ok(stopped.or_else(|| derived.paused()))
                }
                _ => self.over(&Nothing, None, &self.block.from, from, sink),
            },
            None => self.over(&Nothing, None, &[], from, sink),
        }
    }

    fn over(
        &self,
        collection: &dyn Collection,
        first: Option<&Source>,
        rest: &[Source],
        from: Option<&Place>,
        sink: &mut dyn Sink,
    ) -> Result<Option<Place>, QueryError> {
        let start = from.map_or(Start::Beginning, |place| Start::At(place.position.clone()));
        let mut stopped = None;
        let mut room: Row<'static> = vec![Datum::Undefined; self.slots];
        collection.scan(&start, &mut |found| {
            let done = from.filter(|place| place.position == found.position).map_or(0, |place| place.inner);
            self.world.read(found.bytes);
            let mut row: Row<'_> = std::mem::take(&mut room);
            let at = At { position: found.position, ordinal: found.ordinal, part: found.part, inner: 0 };
            let mut taking = Taking { at, done, sink, stopped: &mut stopped };
            let flow = self.document(&found.root, first, rest, &mut row, &mut taking);
            room = emptied(row);
            flow
        })?;
        self.world.outcome()?;
        Ok(stopped)
    }

    /// The rows of one document.
    fn document<'d>(
        &'d self,
        root: &Datum<'d>,
        first: Option<&Source>,
        rest: &'d [Source],
        row: &mut Row<'d>,
        taking: &mut Taking<'_>,
    ) -> ControlFlow<()> {
        let (block, world) = (self.block, self.world);
        match first {
            Some(Source { slot, of: SourceOf::EachOfRows(_), .. }) => {
                each_element(root.clone(), row, &mut |row, value| {
                    row[*slot] = value;
                    each_row(rest, row, world, &mut |row| taking.take(block, row, world))
                })
            }
            Some(first) => {
                row[first.slot] = root.clone();
                each_row(rest, row, world, &mut |row| taking.take(block, row, world))
            }
            None => each_row(rest, row, world, &mut |row| taking.take(block, row, world)),
        }
    }
}

/// The same memory for the rows of another document: the standard library collects in place.
fn emptied(row: Row<'_>) -> Row<'static> {
    row.into_iter().map(|_| Datum::Undefined).collect()
}

/// The rows of one document on their way to the sink.
struct Taking<'a> {
    at: At<'a>,
    /// The first so many were taken by the page before.
    done: u64,
    sink: &'a mut dyn Sink,
    stopped: &'a mut Option<Place>,
}

impl Taking<'_> {
    fn take<'d>(&mut self, block: &'d Block, row: &mut Row<'d>, world: &World<'_>) -> ControlFlow<()> {
        if self.at.inner < self.done {
            self.at.inner += 1;
            return ControlFlow::Continue(());
        }
        if self.sink.is_full() || (world.is_tired() && self.sink.can_pause()) {
            return self.stop_here();
        }
        world.begin_share();
        if block.filter.as_ref().is_none_or(|filter| eval(filter, row, world).is_true()) {
            match self.sink.row(block, row, &self.at, world) {
                Took::Yes => {}
                Took::No => return self.stop_here(),
                Took::Done => return ControlFlow::Break(()),
            }
        }
        self.at.inner += 1;
        if world.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn stop_here(&mut self) -> ControlFlow<()> {
        *self.stopped = Some(Place { position: self.at.position.to_vec(), inner: self.at.inner });
        ControlFlow::Break(())
    }
}
