//! Index access: feeds the documents that an index returns to the sink, and reads no others.

use super::collection::ScannedDocument;
use super::eval::{Row, eval};
use super::exec_context::ExecContext;
use super::index_cursor::IndexCursor;
use super::scan::{
    DecidedBy, KeyPreview, KeyVerdict, RowPosition, RowPump, Scan, ScanPosition, Sink, SinkResult,
};
use crate::access::{
    Access, EndProbe, IndexEnd, IndexEnds, IndexScan, Indexes, Interval, KeySource, PostingCursor,
    PostingSet, ScanOrder, SeekKey, SortedPrefix, Span, document, is_stored_whole,
};
use crate::bind::bound::{AggregateFunction, Block, Source};
use crate::datum::{Datum, Kind};
use crate::error::QueryError;
use orrery_value::Value;
use std::cell::RefCell;
use std::ops::ControlFlow;

/// Feeds the documents of a block's first source to the sink through the chosen access path.
pub(super) fn run(
    scan: &Scan<'_>,
    first: &Source,
    rest: &[Source],
    from: Option<&ScanPosition>,
    sink: &mut dyn Sink,
) -> Result<Option<ScanPosition>, QueryError> {
    match (scan.access, scan.collection.indexes()) {
        (Access::Nothing, _) => Ok(None),
        (Access::OrdinalScan, _) => {
            let Some(ordinal_scan) = scan.collection.ordinal_scan(true)? else {
                return scan.over(scan.collection, Some(first), rest, from, sink);
            };
            let mut pump = RowPump::new(scan, Some(first), rest, from, sink);
            pump.order_of_scan = ScanOrder::Ordinal;
            ordinal_scan(from.and_then(ScanPosition::ordinal).unwrap_or(0), &mut |found| pump.push(found))?;
            pump.finish()
        }
        (Access::Postings { set, covered }, Some(indexes)) => {
            let pump = RowPump::new(scan, Some(first), rest, from, sink);
            let mut reader = IndexReader { scan, indexes, pump };
            reader.pump.order_of_scan = ScanOrder::Ordinal;
            let known =
                covered.as_ref().map(|covered| document(covered.iter().map(|(path, it)| (path, it.clone()))));
            reader.postings(set, known.as_ref(), from.and_then(ScanPosition::ordinal).unwrap_or(0))?;
            reader.pump.finish()
        }
        (Access::IndexScan(index_scan), Some(indexes)) => {
            let is_done = {
                let pump = RowPump::new(scan, Some(first), rest, None, &mut *sink);
                let mut reader = IndexReader { scan, indexes, pump };
                let is_done = reader.index_scan(index_scan)?;
                reader.pump.finish()?;
                is_done
            };
            // The full scan covers documents missing from the index; those already seen reach the sink
            // again without effect.
            if is_done { Ok(None) } else { scan.over(scan.collection, Some(first), rest, None, sink) }
        }
        (Access::IndexMinMax { documents, ends }, Some(indexes)) => {
            min_max(scan, indexes, (first, rest), ends, sink)?;
            documents.iter().for_each(|documents| sink.counted(*documents));
            Ok(None)
        }
        _ => scan.over(scan.collection, Some(first), rest, from, sink),
    }
}

pub(super) struct IndexReader<'m> {
    pub scan: &'m Scan<'m>,
    pub indexes: &'m dyn Indexes,
    pub pump: RowPump<'m>,
}

impl IndexReader<'_> {
    fn postings(&mut self, set: &PostingSet, known: Option<&Value>, from: u64) -> Result<(), QueryError> {
        let mut cursor = PostingCursor::open(set, self.indexes, self.scan.ctx)?;
        let mut next = Some(from);
        while let Some(least) = next
            && let Some(ordinal) = cursor.advance_to(least)?
        {
            // The index truncates the value, so the set does not determine it.
            let known = known.filter(|_| cursor.is_exact());
            if self.show(ordinal, known)?.is_break() {
                break;
            }
            next = ordinal.checked_add(1);
        }
        Ok(())
    }

    /// Whether the scan has met every document that the page may have rows of.
    fn index_scan(&mut self, index_scan: &IndexScan) -> Result<bool, QueryError> {
        let after = self.pump.sink.resume_key().cloned();
        let mut cursor = IndexCursor::new(index_scan, self.scan, self.indexes, after.as_ref());
        let sorted = index_scan.sorted.as_ref();
        loop {
            // Before a run of equal keys is collected, its first document tells whether it is needed.
            if let Some(ahead) = cursor.lookahead()
                && let Next::Stop =
                    self.judge(sorted, &KeyPreview { keys: &ahead.keys, ordinal: None }, false)
            {
                return Ok(true);
            }
            let Some(candidate) = cursor.next()? else { break };
            let preview = KeyPreview { keys: &candidate.keys, ordinal: Some(candidate.ordinal) };
            match self.judge(sorted, &preview, cursor.are_ties_sorted()) {
                Next::Stop => return Ok(true),
                Next::Skip => {}
                Next::Show if self.show(candidate.ordinal, candidate.document.as_ref())?.is_break() => {
                    return Ok(true);
                }
                Next::Show => {}
            }
        }
        Ok(sorted.is_none_or(|sorted| sorted.is_complete))
    }

    fn judge(
        &mut self,
        sorted: Option<&SortedPrefix>,
        preview: &KeyPreview<'_>,
        are_ties_sorted: bool,
    ) -> Next {
        let Some(sorted) = sorted else { return Next::Show };
        match self.pump.sink.judge(preview) {
            KeyVerdict::Needed => Next::Show,
            KeyVerdict::BeforePage => Next::Skip,
            KeyVerdict::AfterPage { by: DecidedBy::Ordinal } if !are_ties_sorted => Next::Skip,
            KeyVerdict::AfterPage { .. } if sorted.is_complete || self.are_missing_after_page(sorted) => {
                Next::Stop
            }
            KeyVerdict::AfterPage { .. } => Next::Skip,
        }
    }

    /// Whether the documents missing from the index come after the page too: their keys are undefined.
    fn are_missing_after_page(&mut self, sorted: &SortedPrefix) -> bool {
        let keys = sorted.keys.iter().map(|key| match key {
            KeySource::Part(_) => Value::Undefined,
            KeySource::Constant(value) => value.clone(),
        });
        let keys: Vec<Value> = keys.collect();
        let judged = self.pump.sink.judge(&KeyPreview { keys: &keys, ordinal: None });
        judged == KeyVerdict::AfterPage { by: DecidedBy::Keys }
    }

    /// Feeds the document, or its covering values, to the sink.
    pub fn show(&mut self, ordinal: u64, known: Option<&Value>) -> Result<ControlFlow<()>, QueryError> {
        let position = ordinal.to_be_bytes();
        self.scan.ctx.count_candidate();
        let Self { pump, indexes, .. } = self;
        match known {
            None => indexes.fetch(ordinal, &mut |found| {
                pump.push(ScannedDocument { position: &position, ordinal, ..found })
            }),
            Some(value) if indexes.contains(ordinal)? => {
                let root = Datum::of(value);
                Ok(pump.push(ScannedDocument { position: &position, ordinal, part: 0, bytes: 0, root }))
            }
            Some(_) => Ok(ControlFlow::Continue(())),
        }
    }
}

/// What to do with a candidate.
enum Next {
    Show,
    Skip,
    Stop,
}

// MIN and MAX from the ends of an index: entries are read from each end until one gives a row.
//
// Later entries have no better value, unless the index truncates it. Then all entries with the same truncated
// value are read, and their documents decide.

/// Feeds the documents at the ends to the sink.
fn min_max(
    scan: &Scan<'_>,
    indexes: &dyn Indexes,
    (first, rest): (&Source, &[Source]),
    ends: &IndexEnds,
    sink: &mut dyn Sink,
) -> Result<(), QueryError> {
    let candidate = RefCell::new(Value::Undefined);
    let mut recorder = ValueRecorder { sink, candidate: &candidate };
    let pump = RowPump::new(scan, Some(first), rest, None, &mut recorder);
    let mut scans = EndScans { ends, candidate: &candidate, reader: IndexReader { scan, indexes, pump } };
    for span in &ends.scan.spans {
        for (end, sought) in &ends.ends {
            if scans.scan_end(span, *end, *sought)? == EndResult::NoAnswer {
                return scans.reader.pump.finish().map(drop);
            }
        }
    }
    scans.reader.pump.finish().map(drop)
}

struct EndScans<'m> {
    ends: &'m IndexEnds,
    /// The value of the last row that passed.
    candidate: &'m RefCell<Value>,
    reader: IndexReader<'m>,
}

#[derive(PartialEq, Eq)]
enum EndResult {
    Done,
    /// An array or object: the minimum and maximum are undefined.
    NoAnswer,
}

impl EndScans<'_> {
    fn scan_end(&mut self, span: &Span, end: IndexEnd, sought: EndProbe) -> Result<EndResult, QueryError> {
        let index_scan =
            IndexScan { spans: vec![span.clone()], reverse: end == IndexEnd::Last, ..self.ends.scan.clone() };
        let begin = self.begin(span, &index_scan);
        let mut cursor =
            IndexCursor::new(&index_scan, self.reader.scan, self.reader.indexes, None).starting_at(begin);
        while let Some(candidate) = cursor.next()? {
            if self.reader.show(candidate.ordinal, candidate.document.as_ref())?.is_break() {
                break;
            }
            let value = self.candidate.take();
            match &value {
                Value::Undefined => {}
                Value::String(_) if sought == EndProbe::Value && !is_stored_whole(&value) => {
                    return self.scan_truncated(span, value);
                }
                _ if Datum::of(&value).kind() >= Kind::Array => return Ok(EndResult::NoAnswer),
                _ => break,
            }
        }
        Ok(EndResult::Done)
    }

    /// The scan skips undefined values before it reaches the others.
    fn begin(&self, span: &Span, index_scan: &IndexScan) -> Option<SeekKey> {
        let parts = index_scan.index.parts();
        let descends = parts.get(self.ends.part).is_some_and(|(_, descends)| *descends);
        let is_next = parts.len() > 1 && span.prefix.len() == self.ends.part;
        (is_next && descends == index_scan.reverse)
            .then(|| SeekKey { values: vec![Value::Null], ordinal: None })
    }

    /// All entries whose truncated value is the same as this one's.
    fn scan_truncated(&mut self, span: &Span, value: Value) -> Result<EndResult, QueryError> {
        let named = span.prefix.iter().take(self.ends.part).cloned();
        let span = Span { prefix: named.chain([value]).collect(), next: Interval::All };
        let index_scan = IndexScan { spans: vec![span], ..self.ends.scan.clone() };
        let mut cursor = IndexCursor::new(&index_scan, self.reader.scan, self.reader.indexes, None);
        while let Some(candidate) = cursor.next()? {
            if self.reader.show(candidate.ordinal, candidate.document.as_ref())?.is_break() {
                break;
            }
        }
        self.candidate.take();
        Ok(EndResult::Done)
    }
}

/// Records the value of each row on its way to the sink.
struct ValueRecorder<'s> {
    sink: &'s mut dyn Sink,
    candidate: &'s RefCell<Value>,
}

impl Sink for ValueRecorder<'_> {
    fn row<'d>(
        &mut self,
        block: &'d Block,
        row: &mut Row<'d>,
        at: &RowPosition<'_>,
        ctx: &ExecContext<'_>,
    ) -> SinkResult {
        let mut aggregates = block.grouping.iter().flat_map(|grouping| &grouping.aggregates);
        // All aggregates except counts have the same path.
        if let Some(aggregate) = aggregates.find(|one| one.function != AggregateFunction::Count) {
            self.candidate.replace(eval(&aggregate.arg, row, ctx).into_value());
        }
        self.sink.row(block, row, at, ctx)
    }
}
