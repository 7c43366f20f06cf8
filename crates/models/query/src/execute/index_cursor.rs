//! The index cursor: candidates in index order, with the values that their entries hold.
//!
//! Entries with equal sort keys come in ordinal order, which is not always the direction that ORDER BY
//! requires for ties. Then each run of equal keys is collected and emitted in the right order.

use super::continuation::ResumeKey;
use super::exec_context::ExecContext;
use super::scan::Scan;
use crate::access::{
    Entry, EntryCursor, EntryValue, IndexScan, Indexes, KeySource, Path, PostingSet, SeekKey, SortedPrefix,
    Span, TieOrder, document, is_stored_whole,
};
use crate::error::QueryError;
use crate::limits;
use orrery_value::Value;
use std::collections::HashSet;

/// A document returned by the cursor, not yet read.
pub(super) struct Candidate {
    pub ordinal: u64,
    /// The values of the first ORDER BY keys, as far as they are known.
    pub keys: Vec<Value>,
    /// The covering values, if they are all that the query reads.
    pub document: Option<Value>,
}

pub(super) struct IndexCursor<'a> {
    index_scan: &'a IndexScan,
    indexes: &'a dyn Indexes,
    ctx: &'a ExecContext<'a>,
    parts: Vec<(Path, bool)>,
    /// The scan of one span, and the remaining spans.
    entries: Option<Box<dyn EntryCursor + 'a>>,
    spans: std::slice::Iter<'a, Span>,
    /// The other scans of a merge, each at its next entry.
    heads: Vec<MergeHead<'a>>,
    seek_key: Option<SeekKey>,
    /// Documents already returned that may be in a second span.
    seen: HashSet<u64>,
    runs: Option<TieRuns>,
}

/// A scan and its current entry.
struct MergeHead<'a> {
    entries: Box<dyn EntryCursor + 'a>,
    ordinal: u64,
    /// Its sort key in the merge.
    rest: Vec<u8>,
}

/// Collects runs of equal keys.
struct TieRuns {
    /// The number of leading keys that define a run, and whether ordinals descend in it.
    keys: usize,
    is_descending: bool,
    /// The pending candidates, last first.
    ready: Vec<Candidate>,
    /// The first candidate of the next run.
    lookahead: Option<Candidate>,
    /// Whether a run was too long to collect.
    is_truncated: bool,
}

impl<'a> IndexCursor<'a> {
    /// Opens the cursor at the first entry that can have rows after `after`.
    pub fn new(
        index_scan: &'a IndexScan,
        scan: &Scan<'a>,
        indexes: &'a dyn Indexes,
        after: Option<&ResumeKey>,
    ) -> Self {
        let order = &scan.block.order;
        let shuffled = index_scan.sorted.as_ref().filter(|sorted| {
            // Keys outside the index decide before ordinals do.
            sorted.ties == TieOrder::Unsorted && sorted.keys.len() == order.len()
        });
        let is_descending = order.first().is_some_and(|key| key.descending);
        let runs = shuffled.map(|sorted| TieRuns::new(sorted.keys.len(), is_descending));
        let seek_key = after.and_then(|after| seek_key(index_scan, after, order.len()));
        Self {
            index_scan,
            indexes,
            ctx: scan.ctx,
            parts: index_scan.index.parts(),
            entries: None,
            spans: index_scan.spans.iter(),
            heads: Vec::new(),
            seek_key,
            seen: HashSet::new(),
            runs,
        }
    }

    /// The same cursor, starting at a key.
    pub fn starting_at(self, seek_key: Option<SeekKey>) -> Self {
        Self { seek_key, ..self }
    }

    /// The first candidate of the next run, before the run is collected.
    pub fn lookahead(&self) -> Option<&Candidate> {
        self.runs.as_ref().filter(|runs| runs.ready.is_empty()).and_then(|runs| runs.lookahead.as_ref())
    }

    pub fn next(&mut self) -> Result<Option<Candidate>, QueryError> {
        match self.runs.take() {
            None => self.step(),
            Some(mut runs) => {
                let candidate = runs.next(self);
                self.runs = Some(runs);
                candidate
            }
        }
    }

    /// Whether documents with equal keys come in the required row order.
    pub fn are_ties_sorted(&self) -> bool {
        match (&self.runs, &self.index_scan.sorted) {
            (Some(runs), _) => !runs.is_truncated,
            (None, sorted) => sorted.as_ref().is_some_and(|sorted| sorted.ties == TieOrder::Sorted),
        }
    }

    /// The next entry that is not filtered out.
    fn step(&mut self) -> Result<Option<Candidate>, QueryError> {
        loop {
            let next = if self.index_scan.merged { self.merged()? } else { self.next_sequential()? };
            let Some(ordinal) = next else { return Ok(None) };
            if self.is_wanted(ordinal) && self.is_new(ordinal) {
                return Ok(Some(self.candidate(ordinal)));
            }
        }
    }

    /// The next entry of the spans, in sequence.
    fn next_sequential(&mut self) -> Result<Option<u64>, QueryError> {
        loop {
            if self.entries.is_none() {
                let Some(span) = self.spans.next() else { return Ok(None) };
                self.entries = Some(self.open(span)?);
            }
            let next = self.entries.as_mut().map(|entries| entries.next()).transpose()?.flatten();
            if let Some(entry) = next {
                self.ctx.count_entry()?;
                return Ok(Some(entry.ordinal));
            }
            self.entries = None;
        }
    }

    /// The next entry of the merged spans.
    fn merged(&mut self) -> Result<Option<u64>, QueryError> {
        while let Some(span) = self.spans.next() {
            let entries = self.open(span)?;
            self.push(entries)?;
        }
        if let Some(entries) = self.entries.take() {
            self.push(entries)?;
        }
        let heads = self.heads.iter().enumerate();
        let next = match self.index_scan.reverse {
            false => heads.min_by(|(_, a), (_, b)| a.rest.cmp(&b.rest)),
            true => heads.max_by(|(_, a), (_, b)| a.rest.cmp(&b.rest)),
        };
        let Some(at) = next.map(|(at, _)| at) else { return Ok(None) };
        let MergeHead { entries, ordinal, .. } = self.heads.swap_remove(at);
        self.entries = Some(entries);
        Ok(Some(ordinal))
    }

    /// Advances a scan to its next entry, if any.
    fn push(&mut self, mut entries: Box<dyn EntryCursor + 'a>) -> Result<(), QueryError> {
        let Some(Entry { ordinal }) = entries.next()? else { return Ok(()) };
        self.ctx.count_entry()?;
        let named = self.index_scan.spans.first().map_or(0, |span| span.prefix.len());
        let rest = entries.sort_key(named);
        self.heads.push(MergeHead { entries, ordinal, rest });
        Ok(())
    }

    fn open(&self, span: &Span) -> Result<Box<dyn EntryCursor + 'a>, QueryError> {
        self.ctx.count_seek()?;
        let IndexScan { index, reverse, .. } = self.index_scan;
        self.indexes.entries(index, span, *reverse, self.seek_key.as_ref())
    }

    fn is_wanted(&self, ordinal: u64) -> bool {
        match &self.index_scan.restrict_to {
            Some(PostingSet::Ordinals(numbers)) => numbers.binary_search(&ordinal).is_ok(),
            _ => true,
        }
    }

    /// Two values truncated to the same index key give two spans with the same entries.
    fn is_new(&mut self, ordinal: u64) -> bool {
        let [first, _, ..] = &self.index_scan.spans[..] else { return true };
        let is_sure = (0..first.prefix.len()).all(|part| matches!(self.value(part), EntryValue::Exact(_)));
        if is_sure {
            return true;
        }
        let is_new = self.seen.insert(ordinal);
        if is_new {
            self.ctx.hold(2 * size_of::<u64>());
        }
        is_new
    }

    fn value(&self, part: usize) -> EntryValue {
        self.entries.as_ref().map_or(EntryValue::Partial, |entries| entries.value(part))
    }

    fn candidate(&self, ordinal: u64) -> Candidate {
        let known = |part| match self.value(part) {
            EntryValue::Exact(value) => Some(value),
            EntryValue::Partial => None,
        };
        let keys = self.index_scan.sorted.iter().flat_map(|SortedPrefix { keys, .. }| keys).map_while(
            |key| match key {
                KeySource::Part(part) => known(*part),
                KeySource::Constant(value) => Some(value.clone()),
            },
        );
        let keys = keys.collect();
        let document = self.index_scan.covered.as_ref().and_then(|covered| {
            let values = covered.parts.iter().map(|part| Some((&self.parts.get(*part)?.0, known(*part)?)));
            let values = values.collect::<Option<Vec<_>>>()?;
            Some(document(
                values.into_iter().chain(covered.given.iter().map(|(path, it)| (path, it.clone()))),
            ))
        });
        Candidate { ordinal, keys, document }
    }
}

impl TieRuns {
    fn new(keys: usize, is_descending: bool) -> Self {
        Self { keys, is_descending, ready: Vec::new(), lookahead: None, is_truncated: false }
    }

    fn next(&mut self, cursor: &mut IndexCursor<'_>) -> Result<Option<Candidate>, QueryError> {
        if self.ready.is_empty() {
            self.collect_run(cursor)?;
        }
        Ok(self.ready.pop())
    }

    fn collect_run(&mut self, cursor: &mut IndexCursor<'_>) -> Result<(), QueryError> {
        let first = match self.lookahead.take() {
            Some(candidate) => Some(candidate),
            None => cursor.step()?,
        };
        let Some(first) = first else { return Ok(()) };
        self.ready.push(first);
        while let Some(next) = cursor.step()? {
            let is_same = next.keys.len() == self.keys && next.keys == self.ready[0].keys;
            self.is_truncated |= is_same && self.ready.len() >= limits::POSTINGS_MATERIALIZED_MAX;
            if !is_same || self.is_truncated {
                self.lookahead = Some(next);
                break;
            }
            self.ready.push(next);
        }
        self.ready.sort_unstable_by_key(|candidate| candidate.ordinal);
        if !self.is_descending {
            self.ready.reverse();
        }
        Ok(())
    }
}

/// The first scan position that can have rows after this one.
fn seek_key(scan: &IndexScan, after: &ResumeKey, order: usize) -> Option<SeekKey> {
    let sorted = scan.sorted.as_ref()?;
    // Prefixes of merged spans have equal length.
    let span = scan.spans.first().filter(|_| scan.merged || scan.spans.len() == 1)?;
    let key_at = |part: usize| sorted.keys.iter().position(|key| *key == KeySource::Part(part));
    let mut known = (span.prefix.len()..).map_while(|part| after.keys.get(key_at(part)?)).cloned();
    let mut values: Vec<Value> = Vec::new();
    // Entries with the same truncated value are sorted by the next part, whatever their values were.
    while values.last().is_none_or(is_stored_whole)
        && let Some(value) = known.next()
    {
        values.push(value);
    }
    let is_by_number = sorted.ties == TieOrder::Sorted && sorted.keys.len() == order;
    let ordinal = is_by_number.then_some(after.ordinal);
    (!values.is_empty()).then_some(SeekKey { values, ordinal })
}
