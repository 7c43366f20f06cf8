//! The index cursor: candidates in index order, with the values that their entries hold.
//!
//! Entries with equal sort keys come in ordinal order, yet not always in the direction in which
//! ties of an ORDER BY go. Then they are gathered, a run of equal keys at a time, and handed out as
//! they should come.

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
    /// The values of the first keys of ORDER BY, as many as are known.
    pub keys: Vec<Value>,
    /// What the index knows of the document, if that is all the query reads.
    pub document: Option<Value>,
}

pub(super) struct IndexCursor<'a> {
    along: &'a IndexScan,
    indexes: &'a dyn Indexes,
    ctx: &'a ExecContext<'a>,
    parts: Vec<(Path, bool)>,
    /// The scan of one span, and the spans after it.
    entries: Option<Box<dyn EntryCursor + 'a>>,
    spans: std::slice::Iter<'a, Span>,
    /// The other scans, where all spans are walked at once: each at an entry that is still to come.
    heads: Vec<MergeHead<'a>>,
    seek_key: Option<SeekKey>,
    /// Documents of which an entry was met that may be in two spans.
    seen: HashSet<u64>,
    runs: Option<TieRuns>,
}

/// A scan at an entry.
struct MergeHead<'a> {
    entries: Box<dyn EntryCursor + 'a>,
    ordinal: u64,
    /// What it is sorted by among the others.
    rest: Vec<u8>,
}

/// Collects runs of equal keys.
struct TieRuns {
    /// How many keys an entry has that can be in a run with others, and whether greater numbers come first in it.
    keys: usize,
    is_descending: bool,
    /// The next ones, the last first.
    ready: Vec<Candidate>,
    /// The first of the next run.
    lookahead: Option<Candidate>,
    /// Whether a run was too long to be gathered.
    is_truncated: bool,
}

impl<'a> IndexCursor<'a> {
    /// Opens the cursor at the first entry that can have rows after `after`.
    pub fn new(
        along: &'a IndexScan,
        scan: &Scan<'a>,
        indexes: &'a dyn Indexes,
        after: Option<&ResumeKey>,
    ) -> Self {
        let order = &scan.block.order;
        let shuffled = along.sorted.as_ref().filter(|sorted| {
            // Keys that the index does not have decide before numbers do.
            sorted.ties == TieOrder::Unsorted && sorted.keys.len() == order.len()
        });
        let is_descending = order.first().is_some_and(|key| key.descending);
        let runs = shuffled.map(|sorted| TieRuns::new(sorted.keys.len(), is_descending));
        let seek_key = after.and_then(|after| seek_key(along, after, order.len()));
        Self {
            along,
            indexes,
            ctx: scan.ctx,
            parts: along.index.parts(),
            entries: None,
            spans: along.spans.iter(),
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

    /// Whether documents with equal keys come in the order in which their rows are wanted.
    pub fn are_ties_sorted(&self) -> bool {
        match (&self.runs, &self.along.sorted) {
            (Some(runs), _) => !runs.is_truncated,
            (None, sorted) => sorted.as_ref().is_some_and(|sorted| sorted.ties == TieOrder::Sorted),
        }
    }

    /// The next entry of a document that is not passed over.
    fn step(&mut self) -> Result<Option<Candidate>, QueryError> {
        loop {
            let next = if self.along.merged { self.merged()? } else { self.next_sequential()? };
            let Some(ordinal) = next else { return Ok(None) };
            if self.is_wanted(ordinal) && self.is_new(ordinal) {
                return Ok(Some(self.candidate(ordinal)));
            }
        }
    }

    /// The next entry of the spans, one after the other.
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

    /// The next entry of all spans.
    fn merged(&mut self) -> Result<Option<u64>, QueryError> {
        while let Some(span) = self.spans.next() {
            let entries = self.open(span)?;
            self.push(entries)?;
        }
        if let Some(entries) = self.entries.take() {
            self.push(entries)?;
        }
        let heads = self.heads.iter().enumerate();
        let next = match self.along.reverse {
            false => heads.min_by(|(_, a), (_, b)| a.rest.cmp(&b.rest)),
            true => heads.max_by(|(_, a), (_, b)| a.rest.cmp(&b.rest)),
        };
        let Some(at) = next.map(|(at, _)| at) else { return Ok(None) };
        let MergeHead { entries, ordinal, .. } = self.heads.swap_remove(at);
        self.entries = Some(entries);
        Ok(Some(ordinal))
    }

    /// Takes a scan to its next entry, if it has one.
    fn push(&mut self, mut entries: Box<dyn EntryCursor + 'a>) -> Result<(), QueryError> {
        let Some(Entry { ordinal }) = entries.next()? else { return Ok(()) };
        self.ctx.count_entry()?;
        let named = self.along.spans.first().map_or(0, |span| span.prefix.len());
        let rest = entries.sort_key(named);
        self.heads.push(MergeHead { entries, ordinal, rest });
        Ok(())
    }

    fn open(&self, span: &Span) -> Result<Box<dyn EntryCursor + 'a>, QueryError> {
        self.ctx.count_seek()?;
        let IndexScan { index, reverse, .. } = self.along;
        self.indexes.entries(index, span, *reverse, self.seek_key.as_ref())
    }

    fn is_wanted(&self, ordinal: u64) -> bool {
        match &self.along.among {
            Some(PostingSet::Ordinals(numbers)) => numbers.binary_search(&ordinal).is_ok(),
            _ => true,
        }
    }

    /// Two values truncated to the same index key give two spans with the same entries.
    fn is_new(&mut self, ordinal: u64) -> bool {
        let [first, _, ..] = &self.along.spans[..] else { return true };
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
        let keys =
            self.along.sorted.iter().flat_map(|SortedPrefix { keys, .. }| keys).map_while(|key| match key {
                KeySource::Part(part) => known(*part),
                KeySource::Constant(value) => Some(value.clone()),
            });
        let keys = keys.collect();
        let document = self.along.covered.as_ref().and_then(|covered| {
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

/// The first place of a scan that can have rows after this one.
fn seek_key(along: &IndexScan, after: &ResumeKey, order: usize) -> Option<SeekKey> {
    let sorted = along.sorted.as_ref()?;
    // Prefixes of spans that are merged are all as long.
    let span = along.spans.first().filter(|_| along.merged || along.spans.len() == 1)?;
    let key_at = |part: usize| sorted.keys.iter().position(|key| *key == KeySource::Part(part));
    let mut known = (span.prefix.len()..).map_while(|part| after.keys.get(key_at(part)?)).cloned();
    let mut values: Vec<Value> = Vec::new();
    // Entries whose values are cut to the same are sorted by the next part, whatever they were.
    while values.last().is_none_or(is_stored_whole)
        && let Some(value) = known.next()
    {
        values.push(value);
    }
    let is_by_number = sorted.ties == TieOrder::Sorted && sorted.keys.len() == order;
    let ordinal = is_by_number.then_some(after.ordinal);
    (!values.is_empty()).then_some(SeekKey { values, ordinal })
}
