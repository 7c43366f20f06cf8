//! Documents by way of an index: those that it leads to go to the sink, and no others are read.

use super::along::Trail;
use super::collection::ScannedDocument;
use super::ends;
use super::scan::{Beyond, Glimpse, Judged, Meeting, Place, Scan, Sink};
use crate::access::{
    Access, IndexScan, Indexes, KeySource, PostingSet, Postings, ScanOrder, SortedPrefix, document,
};
use crate::bind::bound::Source;
use crate::datum::Datum;
use crate::error::QueryError;
use orrery_value::Value;
use std::ops::ControlFlow;

/// Shows the documents of a block's first source to the sink, the way that was chosen.
pub(super) fn run(
    scan: &Scan<'_>,
    first: &Source,
    rest: &[Source],
    from: Option<&Place>,
    sink: &mut dyn Sink,
) -> Result<Option<Place>, QueryError> {
    match (scan.access, scan.collection.indexes()) {
        (Access::Nothing, _) => Ok(None),
        (Access::OrdinalScan, _) => {
            let Some(ordinal_scan) = scan.collection.ordinal_scan(true)? else {
                return scan.over(scan.collection, Some(first), rest, from, sink);
            };
            let mut meeting = Meeting::new(scan, Some(first), rest, from, sink);
            meeting.walk = ScanOrder::Ordinal;
            ordinal_scan(from.and_then(Place::ordinal).unwrap_or(0), &mut |found| meeting.meet(found))?;
            meeting.end()
        }
        (Access::Postings { set, covered }, Some(indexes)) => {
            let meeting = Meeting::new(scan, Some(first), rest, from, sink);
            let mut reach = Reach { scan, indexes, meeting };
            reach.meeting.walk = ScanOrder::Ordinal;
            let known =
                covered.as_ref().map(|covered| document(covered.iter().map(|(path, it)| (path, it.clone()))));
            reach.postings(set, known.as_ref(), from.and_then(Place::ordinal).unwrap_or(0))?;
            reach.meeting.end()
        }
        (Access::IndexScan(along), Some(indexes)) => {
            let is_done = {
                let meeting = Meeting::new(scan, Some(first), rest, None, &mut *sink);
                let mut reach = Reach { scan, indexes, meeting };
                let is_done = reach.along(along)?;
                reach.meeting.end()?;
                is_done
            };
            // What the index does not have; what it has is in the sink already, and is the same there again.
            if is_done { Ok(None) } else { scan.over(scan.collection, Some(first), rest, None, sink) }
        }
        (Access::IndexMinMax { documents, ends }, Some(indexes)) => {
            ends::run(scan, indexes, (first, rest), ends, sink)?;
            documents.iter().for_each(|documents| sink.counted(*documents));
            Ok(None)
        }
        _ => scan.over(scan.collection, Some(first), rest, from, sink),
    }
}

pub(super) struct Reach<'m> {
    pub scan: &'m Scan<'m>,
    pub indexes: &'m dyn Indexes,
    pub meeting: Meeting<'m>,
}

impl Reach<'_> {
    fn postings(&mut self, set: &PostingSet, known: Option<&Value>, from: u64) -> Result<(), QueryError> {
        let mut walk = Postings::open(set, self.indexes, self.scan.ctx)?;
        let mut next = Some(from);
        while let Some(least) = next
            && let Some(ordinal) = walk.at_least(least)?
        {
            // Of a value that is cut in the index, the set does not know the rest.
            let known = known.filter(|_| walk.is_exact());
            if self.show(ordinal, known)?.is_break() {
                break;
            }
            next = ordinal.checked_add(1);
        }
        Ok(())
    }

    /// Whether every document was met that the page may have rows of.
    fn along(&mut self, along: &IndexScan) -> Result<bool, QueryError> {
        let after = self.meeting.sink.goes_on_after().cloned();
        let mut trail = Trail::new(along, self.scan, self.indexes, after.as_ref());
        let sorted = along.sorted.as_ref();
        loop {
            // Before a run of equal keys is gathered, its first document tells whether it is wanted.
            if let Some(ahead) = trail.ahead()
                && let Next::Stop = self.judge(sorted, &Glimpse { keys: &ahead.keys, ordinal: None }, false)
            {
                return Ok(true);
            }
            let Some(met) = trail.next()? else { break };
            let glimpse = Glimpse { keys: &met.keys, ordinal: Some(met.ordinal) };
            match self.judge(sorted, &glimpse, trail.are_ties_sorted()) {
                Next::Stop => return Ok(true),
                Next::Skip => {}
                Next::Show if self.show(met.ordinal, met.document.as_ref())?.is_break() => return Ok(true),
                Next::Show => {}
            }
        }
        Ok(sorted.is_none_or(|sorted| sorted.is_complete))
    }

    fn judge(&mut self, sorted: Option<&SortedPrefix>, glimpse: &Glimpse<'_>, are_ties_sorted: bool) -> Next {
        let Some(sorted) = sorted else { return Next::Show };
        match self.meeting.sink.judge(glimpse) {
            Judged::Needed => Next::Show,
            Judged::Behind => Next::Skip,
            Judged::Beyond { by: Beyond::Number } if !are_ties_sorted => Next::Skip,
            Judged::Beyond { .. } if sorted.is_complete || self.are_others_beyond(sorted) => Next::Stop,
            Judged::Beyond { .. } => Next::Skip,
        }
    }

    /// Whether the documents that are not in the index come after the page too: their keys are undefined.
    fn are_others_beyond(&mut self, sorted: &SortedPrefix) -> bool {
        let keys = sorted.keys.iter().map(|key| match key {
            KeySource::Part(_) => Value::Undefined,
            KeySource::Constant(value) => value.clone(),
        });
        let keys: Vec<Value> = keys.collect();
        let judged = self.meeting.sink.judge(&Glimpse { keys: &keys, ordinal: None });
        judged == Judged::Beyond { by: Beyond::Keys }
    }

    /// The document itself, or what is known of it.
    pub fn show(&mut self, ordinal: u64, known: Option<&Value>) -> Result<ControlFlow<()>, QueryError> {
        let position = ordinal.to_be_bytes();
        self.scan.ctx.count_candidate();
        let Self { meeting, indexes, .. } = self;
        match known {
            None => indexes.fetch(ordinal, &mut |found| {
                meeting.meet(ScannedDocument { position: &position, ordinal, ..found })
            }),
            Some(value) if indexes.contains(ordinal)? => {
                let root = Datum::of(value);
                Ok(meeting.meet(ScannedDocument { position: &position, ordinal, part: 0, bytes: 0, root }))
            }
            Some(_) => Ok(ControlFlow::Continue(())),
        }
    }
}

/// What to do with a document that was met.
enum Next {
    Show,
    Skip,
    Stop,
}
