//! Top-N: the first rows by sort key, for ORDER BY and DISTINCT.
//!
//! A page needs the smallest rows that follow the last one returned, and holds no others: at most as many as
//! the page has. Any row that cannot be among them is rejected by its key alone. So memory is bounded, and a
//! page does not depend on writes before its resume position.

use super::distinct_key::{distinct_key, fingerprint};
use super::row_buffer::{BufferedRow, RowBuffer};
use crate::bind::bound::{Block, SourceOf};
use crate::datum::Datum;
use crate::execute::continuation::ResumeKey;
use crate::execute::eval::{Row, eval, write};
use crate::execute::exec_context::ExecContext;
use crate::execute::scan::{DecidedBy, KeyPreview, KeyVerdict, RowPosition, Sink, SinkResult};
use crate::execute::subquery::size_of_value;
use crate::limits;
use orrery_value::Value;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

/// Capacity reserved before the first rows arrive.
const PREALLOCATED_BYTES_MAX: usize = 64 * 1024;

/// Which sort keys of a row descend; keys beyond the list ascend.
pub(crate) type Order = Rc<[bool]>;

/// Whether ties come in descending order: they do if the first key descends.
pub(crate) fn descends(order: &Order) -> bool {
    order.first().copied().unwrap_or(false)
}

#[derive(Clone, Debug)]
pub(crate) struct SortKey {
    pub after: ResumeKey,
    pub order: Order,
}

impl SortKey {
    /// Compares a candidate row with a buffered one.
    fn cmp_row(&self, keys: &[Datum<'_>], ordinal: u64, inner: u64) -> Ordering {
        self.cmp_keys(keys).then_with(|| self.cmp_place(ordinal, inner))
    }

    /// Compares by as many leading keys as are given.
    fn cmp_keys(&self, keys: &[Datum<'_>]) -> Ordering {
        self.first_difference(
            self.after.keys.iter().zip(keys).map(|(mine, other)| Datum::of(mine).cmp_total(other)),
        )
    }

    /// Applies the directions to key-by-key comparisons made as if all ascended.
    fn first_difference(&self, by_key: impl Iterator<Item = Ordering>) -> Ordering {
        let mut directed = by_key.enumerate().map(|(i, order)| {
            if self.order.get(i).copied().unwrap_or(false) { order.reverse() } else { order }
        });
        directed.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }

    fn cmp_place(&self, ordinal: u64, inner: u64) -> Ordering {
        self.in_tie_order((self.after.ordinal, self.after.inner).cmp(&(ordinal, inner)))
    }

    /// Matches an index scan in reverse; clients rely on it to resume.
    fn in_tie_order(&self, order: Ordering) -> Ordering {
        if descends(&self.order) { order.reverse() } else { order }
    }
}

impl Ord for SortKey {
    fn cmp(&self, other: &Self) -> Ordering {
        let keys = self.after.keys.iter().zip(&other.after.keys);
        let by_keys = keys.map(|(mine, other)| Datum::of(mine).cmp_total(&Datum::of(other)));
        self.first_difference(by_keys).then_with(|| self.cmp_place(other.after.ordinal, other.after.inner))
    }
}

impl PartialOrd for SortKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SortKey {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for SortKey {}

/// Tracks the rows of a DISTINCT with an ORDER BY. Equal rows may have different sort keys; the first counts,
/// and it may be on an earlier page.
#[derive(Default)]
struct Distinct {
    /// Fingerprints of the rows already returned, collected in a separate pass.
    before_page: HashSet<u64>,
    is_distinct_pass: bool,
    held: BTreeMap<Value, SortKey>,
}

pub(crate) struct TopNSink {
    pub order: Order,
    /// Rows up to this one have been returned.
    pub after: Option<SortKey>,
    /// Whether the row at `after` itself is still due.
    pub after_included: bool,
    pub capacity: usize,
    rows: RowBuffer,
    /// Whether equal rows of different documents are duplicates.
    is_distinct: bool,
    /// Whether the documents of long rows can be read again by position.
    is_rereadable: bool,
    distinct: Distinct,
    bytes: usize,
    /// Whether later rows were dropped.
    pub dropped: bool,
}

impl TopNSink {
    pub fn new(order: Order, after: Option<SortKey>, after_included: bool, capacity: usize) -> Self {
        let (rows, distinct) = (RowBuffer::default(), Distinct::default());
        Self {
            order,
            after,
            after_included,
            capacity,
            rows,
            is_distinct: false,
            is_rereadable: false,
            distinct,
            bytes: 0,
            dropped: false,
        }
    }

    /// Sets DISTINCT, and whether the rows may be those of stored documents.
    pub fn of(self, block: &Block) -> Self {
        let is_stored = block.from.first().is_some_and(|source| matches!(source.of, SourceOf::Collection));
        Self { is_distinct: block.distinct, is_rereadable: is_stored && !block.distinct, ..self }
    }

    fn is_before_page(&self, keys: &[Datum<'_>], ordinal: u64, inner: u64) -> bool {
        self.after.as_ref().is_some_and(|after| match after.cmp_row(keys, ordinal, inner) {
            Ordering::Less => false,
            Ordering::Equal => !self.after_included,
            Ordering::Greater => true,
        })
    }

    /// Drops the last rows while the page is over its limits.
    fn shrink(&mut self) {
        while self.rows.len() > self.capacity
            || (self.bytes > limits::PAGE_SORT_BYTES_MAX && self.rows.len() > 1)
        {
            if let Some((key, length)) = self.rows.pop_last() {
                self.forget(&key, length);
            }
            // Later rows must not take the place of a dropped large one.
            self.capacity = self.capacity.min(self.rows.len());
            self.dropped = true;
        }
    }
}

impl TopNSink {
    fn forget(&mut self, key: &SortKey, length: usize) {
        self.bytes -= size_of_row(key, length);
        if let Some(value) = key.after.keys.last() {
            self.distinct.held.remove(value);
        }
    }

    /// Whether the rows already returned must be known first.
    pub fn needs_distinct_pass(&self, block: &Block) -> bool {
        self.after.is_some() && may_repeat(block)
    }

    /// During the extra pass, the sink only records rows already returned.
    pub fn set_distinct_pass(&mut self, is_distinct_pass: bool) {
        self.distinct.is_distinct_pass = is_distinct_pass;
    }

    /// The rows of the page in order, and the buffer with their texts and positions.
    pub fn finish(self) -> (impl ExactSizeIterator<Item = (ResumeKey, BufferedRow)>, Vec<u8>) {
        let (rows, text) = self.rows.finish();
        (rows.map(|(SortKey { after, .. }, kept)| (after, kept)), text)
    }

    /// Whether an equal row that sorts before this one has been returned or is held; a held one that
    /// sorts after it is dropped.
    fn is_repeated(&mut self, keys: &[Datum<'_>], ordinal: u64, inner: u64) -> bool {
        let Some(value) = keys.last().map(Datum::to_value) else { return false };
        if !self.distinct.before_page.is_empty() && self.distinct.before_page.contains(&fingerprint(&value)) {
            return true;
        }
        let Some(held) = self.distinct.held.get(&value) else { return false };
        if held.cmp_row(keys, ordinal, inner).is_le() {
            return true;
        }
        if let Some(held) = self.distinct.held.remove(&value)
            && let Some(length) = self.rows.remove(&held)
        {
            self.forget(&held, length);
        }
        false
    }
}

/// Whether equal rows may have different sort keys.
fn may_repeat(block: &Block) -> bool {
    block.distinct && !block.order.is_empty() && !block.is_row_its_keys()
}

fn size_of_row(key: &SortKey, length: usize) -> usize {
    length + 64 + key.after.keys.iter().map(size_of_value).sum::<usize>()
}

impl TopNSink {
    /// The side of a row on which all rows of a document lie: before, after, or unknown.
    fn side_of(&self, row: &SortKey, preview: &KeyPreview<'_>) -> (Ordering, Ordering) {
        let keys: Vec<Datum<'_>> = preview.keys.iter().map(Datum::of).collect();
        let is_whole = keys.len() == self.order.len() && !self.is_distinct;
        let ordinal_scan = match preview.ordinal.filter(|_| is_whole) {
            Some(ordinal) => row.in_tie_order(row.after.ordinal.cmp(&ordinal)),
            None => Ordering::Equal,
        };
        let by_keys = row.cmp_keys(&keys);
        (by_keys, by_keys.then(ordinal_scan))
    }
}

impl Sink for TopNSink {
    fn resume_key(&self) -> Option<&ResumeKey> {
        self.after.as_ref().map(|key| &key.after)
    }

    fn judge(&mut self, preview: &KeyPreview<'_>) -> KeyVerdict {
        if self.after.as_ref().is_some_and(|after| self.side_of(after, preview).1.is_gt()) {
            return KeyVerdict::BeforePage;
        }
        let Some(last) = self.rows.last().filter(|_| self.rows.len() >= self.capacity) else {
            return KeyVerdict::Needed;
        };
        let (by_keys, by_all) = self.side_of(last, preview);
        self.dropped |= by_all.is_lt();
        match (by_keys, by_all) {
            (Ordering::Less, _) => KeyVerdict::AfterPage { by: DecidedBy::Keys },
            (_, Ordering::Less) => KeyVerdict::AfterPage { by: DecidedBy::Ordinal },
            _ => KeyVerdict::Needed,
        }
    }

    fn row<'d>(
        &mut self,
        block: &'d Block,
        row: &mut Row<'d>,
        at: &RowPosition<'_>,
        ctx: &ExecContext<'_>,
    ) -> SinkResult {
        orrery_core::tour_step!();
        let mut keys: Vec<Datum<'d>> = block.order.iter().map(|key| eval(&key.expr, row, ctx)).collect();
        let (mut ordinal, mut inner) = at.tie_breaker();
        if block.distinct {
            let value = eval(&block.select, row, ctx);
            if value.is_undefined() {
                return SinkResult::Taken;
            }
            keys.push(Datum::owned(distinct_key(value.into_value())));
            (ordinal, inner) = (0, 0);
        }
        let may_repeat = may_repeat(block);
        if self.is_before_page(&keys, ordinal, inner) {
            if self.distinct.is_distinct_pass
                && let Some(value) = keys.last()
            {
                ctx.hold(std::mem::size_of::<u64>());
                self.distinct.before_page.insert(fingerprint(&value.to_value()));
            }
            return SinkResult::Taken;
        }
        if self.distinct.is_distinct_pass || may_repeat && self.is_repeated(&keys, ordinal, inner) {
            return SinkResult::Taken;
        }
        if self.rows.len() >= self.capacity
            && self.rows.last().is_none_or(|last| last.cmp_row(&keys, ordinal, inner).is_lt())
        {
            self.dropped = true;
            return SinkResult::Taken;
        }
        let (start, text) = self.rows.begin();
        if !write(&block.select, row, ctx, text) {
            self.rows.forget(start);
            return SinkResult::Taken;
        }
        let written = text.len() - start;
        let is_long = self.is_rereadable && written > limits::SORT_ROW_BYTES_MAX.max(at.position.len());
        let length = if is_long { at.position.len() } else { written };
        let keys: Vec<Value> = keys.into_iter().map(Datum::into_value).collect();
        let key = SortKey { after: ResumeKey { keys, ordinal, inner }, order: self.order.clone() };
        let size = size_of_row(&key, length);
        if may_repeat && let Some(value) = key.after.keys.last() {
            self.distinct.held.insert(value.clone(), key.clone());
        }
        // Equal rows of a DISTINCT share a key; the first stays.
        let is_new = match is_long {
            true => self.rows.insert_position(key, start, at.position),
            false => self.rows.insert(key, start),
        };
        if is_new {
            self.bytes += size;
        }
        if self.rows.len() == 1 && !is_long {
            // Most rows are about as long as the first.
            let rest = length.saturating_mul(self.capacity).min(PREALLOCATED_BYTES_MAX);
            self.rows.begin().1.reserve(rest);
        }
        self.shrink();
        ctx.set_page_bytes(self.bytes + self.rows.spare());
        SinkResult::Taken
    }
}
