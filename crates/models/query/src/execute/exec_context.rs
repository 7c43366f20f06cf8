//! The context of one execution: host, limits, metrics and the first failure.

use crate::access::PostingSet;
use crate::error::QueryError;
use crate::functions::Context;
use crate::limits;
use orrery_value::Value;
use std::cell::{Cell, RefCell};

/// The environment of a query: clock, randomness, memory budget and UDFs.
pub trait Host {
    /// Milliseconds since 1970.
    fn now_ms(&self) -> u64;
    /// A number in `[0, 1)`.
    fn random(&self) -> f64;
    /// Milliseconds that this page has taken.
    fn elapsed_ms(&self) -> u64;
    /// Requests memory, as a total in bytes; it stays granted until the page is complete.
    fn reserve(&self, _bytes: usize) -> Result<(), QueryError> {
        Ok(())
    }
    /// Calls a user-defined function.
    fn udf(&self, name: &str, args: &[Value]) -> Result<Value, QueryError>;
}

/// Counters of one execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    pub documents_read: u64,
    pub bytes_read: u64,
    /// Index entries read and index scans begun, excluding those of planning.
    pub entries_read: u64,
    pub seeks: u64,
    /// Documents that an index returned, whether or not they had to be read.
    pub documents_found: u64,
}

/// One execution. The first failure stops it; every loop checks [`ExecContext::is_stopped`].
pub(crate) struct ExecContext<'a> {
    pub host: &'a dyn Host,
    pub functions: Context<'a>,
    /// Steps left before the next clock check.
    until_clock_check: Cell<u64>,
    /// When the page's time share began: at its first row.
    share: Cell<Option<u64>>,
    tired: Cell<bool>,
    must_finish: Cell<bool>,
    metrics: Cell<Metrics>,
    bytes_held: Cell<usize>,
    /// Memory of the page's own rows, and the total requested from the host.
    bytes_kept: Cell<usize>,
    bytes_reserved: Cell<usize>,
    /// Ordinals read while planning, with their sets.
    gathered: RefCell<Vec<(PostingSet, Vec<u64>)>>,
    failure: RefCell<Option<QueryError>>,
}

/// The clock is read once per this many steps; each 4 KiB of document text is a step too.
const STEPS_PER_CLOCK_CHECK: u64 = 1024;
const BYTES_PER_STEP: usize = 4096;
/// Memory granted up front, and the headroom added to each reservation.
const RESERVED_AHEAD_BYTES: usize = 256 * 1024;

impl<'a> ExecContext<'a> {
    pub fn new(host: &'a dyn Host) -> Self {
        Self {
            host,
            functions: Context::new(host),
            until_clock_check: Cell::new(STEPS_PER_CLOCK_CHECK),
            share: Cell::new(None),
            tired: Cell::new(false),
            must_finish: Cell::new(false),
            metrics: Cell::default(),
            bytes_held: Cell::new(0),
            bytes_kept: Cell::new(0),
            bytes_reserved: Cell::new(RESERVED_AHEAD_BYTES),
            gathered: RefCell::default(),
            failure: RefCell::new(None),
        }
    }

    /// Counts one row. Returns `false` once the execution is stopped.
    pub fn count_row(&self) -> bool {
        self.spend(1);
        !self.is_stopped()
    }

    /// Counts a document read.
    pub fn count_document(&self, bytes: usize) {
        if bytes > 0 {
            self.count(|metrics| {
                metrics.documents_read += 1;
                metrics.bytes_read += bytes as u64;
            });
        }
        self.spend((bytes / BYTES_PER_STEP) as u64);
    }

    /// Counts an index entry read; an error if the execution has ended.
    pub fn count_entry(&self) -> Result<(), QueryError> {
        self.count(|metrics| metrics.entries_read += 1);
        self.spend(1);
        self.check()
    }

    /// Counts an index scan, begun or repositioned.
    pub fn count_seek(&self) -> Result<(), QueryError> {
        self.count(|metrics| metrics.seeks += 1);
        self.spend(1);
        self.check()
    }

    /// Counts the time of index entries read during planning.
    pub fn count_probe(&self, entries: u64) {
        self.spend(1 + entries);
    }

    /// Caches the ordinals of a set that were read during planning.
    pub fn cache_ordinals(&self, set: PostingSet, numbers: Vec<u64>) {
        self.gathered.borrow_mut().push((set, numbers));
    }

    /// Takes the cached ordinals of a set.
    pub fn take_cached_ordinals(&self, set: &PostingSet) -> Option<Vec<u64>> {
        let mut gathered = self.gathered.borrow_mut();
        let place = gathered.iter().position(|(known, _)| known == set)?;
        Some(gathered.swap_remove(place).1)
    }

    /// Counts a document that an index returned.
    pub fn count_candidate(&self) {
        self.count(|metrics| metrics.documents_found += 1);
    }

    fn count(&self, change: impl FnOnce(&mut Metrics)) {
        let mut metrics = self.metrics.get();
        change(&mut metrics);
        self.metrics.set(metrics);
    }

    /// Counts bytes examined within one row.
    pub fn count_bytes(&self, bytes: usize) {
        self.spend((bytes / BYTES_PER_STEP) as u64);
    }

    fn spend(&self, steps: u64) {
        let left = self.until_clock_check.get();
        if steps < left {
            return self.until_clock_check.set(left - steps);
        }
        self.until_clock_check.set(STEPS_PER_CLOCK_CHECK);
        let elapsed = self.host.elapsed_ms();
        let share = self.share.get().map_or(0, |began| elapsed.saturating_sub(began));
        self.tired.set(share > limits::PAGE_MILLIS_MAX);
        if elapsed > limits::QUERY_MILLIS_MAX {
            self.fail(QueryError::too_long());
        }
    }

    /// Called for each of the page's own rows; the first starts the page's time share. Earlier work,
    /// such as finding the resume position, is not part of it; otherwise a long search would leave no
    /// time for rows.
    pub fn begin_time_share(&self) {
        if self.share.get().is_none() {
            self.share.set(Some(self.host.elapsed_ms()));
        }
    }

    /// Whether a page that can pause here should: its time share is spent, and so it has at least one
    /// row.
    pub fn is_time_share_spent(&self) -> bool {
        self.tired.get() && !self.must_finish.get()
    }

    /// Runs work that must complete before the page's own rows begin.
    pub fn without_time_share<T>(&self, run: impl FnOnce() -> T) -> T {
        let outer = self.must_finish.replace(true);
        let done = run();
        self.must_finish.set(outer);
        self.share.set(None);
        self.tired.set(false);
        done
    }

    /// Counts memory that a query holds within one document.
    pub fn hold(&self, bytes: usize) {
        let held = self.bytes_held.get() + bytes;
        self.bytes_held.set(held);
        if held > limits::QUERY_MEMORY_BYTES_MAX {
            self.fail(QueryError::Refused(format!(
                "The query needs more than {} MB of memory; narrow it with a filter.",
                limits::QUERY_MEMORY_BYTES_MAX / 1024 / 1024
            )));
        }
        self.reserve();
    }

    /// Sets the memory of the page's rows.
    pub fn set_page_bytes(&self, bytes: usize) {
        self.bytes_kept.set(bytes);
        self.reserve();
    }

    fn reserve(&self) {
        let bytes = self.bytes_held.get() + self.bytes_kept.get();
        if bytes > self.bytes_reserved.get() {
            let wanted = bytes + RESERVED_AHEAD_BYTES;
            match self.host.reserve(wanted) {
                Ok(()) => self.bytes_reserved.set(wanted),
                Err(error) => self.fail(error),
            }
        }
    }

    /// Runs work that was counted when first done.
    pub fn uncounted<T>(&self, run: impl FnOnce() -> T) -> T {
        let metrics = self.metrics.get();
        let done = run();
        self.metrics.set(metrics);
        done
    }

    pub fn release(&self, to: usize) {
        self.bytes_held.set(to);
    }

    pub fn held(&self) -> usize {
        self.bytes_held.get()
    }

    pub fn metrics(&self) -> Metrics {
        self.metrics.get()
    }

    pub fn fail(&self, error: QueryError) {
        self.failure.borrow_mut().get_or_insert(error);
    }

    pub fn is_stopped(&self) -> bool {
        self.failure.borrow().is_some()
    }

    pub fn check(&self) -> Result<(), QueryError> {
        self.failure.borrow().clone().map_or(Ok(()), Err)
    }
}
