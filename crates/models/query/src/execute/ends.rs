//! The least and the greatest values of an index: from each end, entries are shown until one gives a row.
//!
//! Entries behind it have no better value, unless the index keeps only the beginning of it. Then those that it keeps
//! alike are shown too, and their documents tell.

use super::along::Trail;
use super::eval::{Row, eval};
use super::exec_context::ExecContext;
use super::reach::Reach;
use super::scan::{At, Meeting, Scan, Sink, Took};
use crate::access::{
    EndProbe, IndexEnd, IndexEnds, IndexScan, Indexes, Interval, SeekKey, Span, is_stored_whole,
};
use crate::bind::bound::{AggregateFunction, Block, Source};
use crate::datum::{Datum, Kind};
use crate::error::QueryError;
use orrery_value::Value;
use std::cell::RefCell;

/// Shows the documents that the ends are of to the sink.
pub(super) fn run(
    scan: &Scan<'_>,
    indexes: &dyn Indexes,
    (first, rest): (&Source, &[Source]),
    ends: &IndexEnds,
    sink: &mut dyn Sink,
) -> Result<(), QueryError> {
    let met = RefCell::new(Value::Undefined);
    let mut watching = Watching { sink, met: &met };
    let meeting = Meeting::new(scan, Some(first), rest, None, &mut watching);
    let mut walks = Walks { ends, met: &met, reach: Reach { scan, indexes, meeting } };
    for span in &ends.along.spans {
        for (end, sought) in &ends.ends {
            if walks.look(span, *end, *sought)? == Found::NoAnswer {
                return walks.reach.meeting.end().map(drop);
            }
        }
    }
    walks.reach.meeting.end().map(drop)
}

struct Walks<'m> {
    ends: &'m IndexEnds,
    /// The value of the last row that was let through.
    met: &'m RefCell<Value>,
    reach: Reach<'m>,
}

#[derive(PartialEq, Eq)]
enum Found {
    Enough,
    /// An array or an object: nothing is the least or the greatest any more.
    NoAnswer,
}

impl Walks<'_> {
    fn look(&mut self, span: &Span, end: IndexEnd, sought: EndProbe) -> Result<Found, QueryError> {
        let along = IndexScan {
            spans: vec![span.clone()],
            reverse: end == IndexEnd::Last,
            ..self.ends.along.clone()
        };
        let begin = self.begin(span, &along);
        let mut trail = Trail::new(&along, self.reach.scan, self.reach.indexes, None).beginning(begin);
        while let Some(met) = trail.next()? {
            if self.reach.show(met.ordinal, met.document.as_ref())?.is_break() {
                break;
            }
            let value = self.met.take();
            match &value {
                Value::Undefined => {}
                Value::String(_) if sought == EndProbe::Value && !is_stored_whole(&value) => {
                    return self.alike(span, value);
                }
                _ if Datum::of(&value).kind() >= Kind::Array => return Ok(Found::NoAnswer),
                _ => break,
            }
        }
        Ok(Found::Enough)
    }

    /// Where the walk passes values that are not there before it comes to the others.
    fn begin(&self, span: &Span, along: &IndexScan) -> Option<SeekKey> {
        let parts = along.index.parts();
        let descends = parts.get(self.ends.part).is_some_and(|(_, descends)| *descends);
        let is_next = parts.len() > 1 && span.prefix.len() == self.ends.part;
        (is_next && descends == along.reverse).then(|| SeekKey { values: vec![Value::Null], ordinal: None })
    }

    /// All that the index keeps as it keeps this value.
    fn alike(&mut self, span: &Span, value: Value) -> Result<Found, QueryError> {
        let named = span.prefix.iter().take(self.ends.part).cloned();
        let span = Span { prefix: named.chain([value]).collect(), next: Interval::All };
        let along = IndexScan { spans: vec![span], ..self.ends.along.clone() };
        let mut trail = Trail::new(&along, self.reach.scan, self.reach.indexes, None);
        while let Some(met) = trail.next()? {
            if self.reach.show(met.ordinal, met.document.as_ref())?.is_break() {
                break;
            }
        }
        self.met.take();
        Ok(Found::Enough)
    }
}

/// Remembers the value of each row on its way.
struct Watching<'s> {
    sink: &'s mut dyn Sink,
    met: &'s RefCell<Value>,
}

impl Sink for Watching<'_> {
    fn row<'d>(&mut self, block: &'d Block, row: &mut Row<'d>, at: &At<'_>, ctx: &ExecContext<'_>) -> Took {
        let mut aggregates = block.grouping.iter().flat_map(|grouping| &grouping.aggregates);
        // All but those that count are of one path.
        if let Some(aggregate) = aggregates.find(|one| one.function != AggregateFunction::Count) {
            self.met.replace(eval(&aggregate.arg, row, ctx).into_value());
        }
        self.sink.row(block, row, at, ctx)
    }
}
