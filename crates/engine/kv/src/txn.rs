//! A transaction: reads through three layers, writes into the topmost.
//!
//! ```text
//! own puts            what this transaction wrote so far
//! pending             what earlier writers of the same scope wrote and the disk does not have yet
//! snapshot            what is durable
//! ```
//!
//! It sees its own puts, with their stamps still zero. Nothing of it is visible to others before
//! the commit.

use crate::overlay::{Overlay, in_range, overlaid};
use crate::{Batch, Condition, Error, Expect, KeyRange, Mark, Order, Read, Rows, Snapshot, Space};
use bytes::Bytes;
use std::collections::BTreeMap;

pub struct Txn<'a> {
    snapshot: &'a Snapshot,
    pending: [&'a Overlay; 2],
    /// Position in the batch of the newest put of each key.
    own: [BTreeMap<Bytes, usize>; Space::COUNT_MAX],
    batch: Batch,
}

impl<'a> Txn<'a> {
    pub fn new(snapshot: &'a Snapshot, pending: &'a Overlay) -> Self {
        Self::over(snapshot, [pending, pending])
    }

    /// On top of two generations of pending puts, the newer first.
    pub fn over(snapshot: &'a Snapshot, pending: [&'a Overlay; 2]) -> Self {
        orrery_core::tour_step!();
        Self { snapshot, pending, own: Default::default(), batch: Batch::new() }
    }

    pub fn put(&mut self, space: Space, key: impl Into<Bytes>, value: impl Into<Bytes>) {
        let key = self.own(space, key.into());
        self.batch.put(space, key, value.into());
    }

    /// Puts a value whose eight bytes at `at` become the LSN of the commit.
    pub fn put_stamped(&mut self, space: Space, key: impl Into<Bytes>, value: Vec<u8>, at: usize) {
        let key = self.own(space, key.into());
        self.batch.put_stamped(space, key, value, at);
    }

    /// Puts an out-of-line value under the LSN of the commit, zero until then, and the returned
    /// number.
    pub fn put_overflow(&mut self, space: Space, value: Bytes) -> u32 {
        let index = self.batch.puts.len();
        let number = self.batch.put_overflow(space, value);
        self.own[space.index()].insert(self.batch.puts[index].key.clone(), index);
        number
    }

    pub fn delete(&mut self, space: Space, key: impl Into<Bytes>) {
        let key = self.own(space, key.into());
        self.batch.delete(space, key);
    }

    /// Marks the transaction as one that deletes something for good; such are accepted longer on a
    /// full disk.
    pub fn frees(&mut self) {
        self.batch.frees();
    }

    /// Puts or removes a row that no transaction reads, this one included.
    pub fn put_blind(&mut self, space: Space, key: impl Into<Bytes>, value: Option<Bytes>) {
        self.batch.put_blind(space, key.into(), value);
    }

    /// Adds to a count of a [`Tally`](crate::Tally).
    pub fn tally(&mut self, space: Space, key: Bytes, field: u64, by: i64) {
        self.batch.tally(space, key, field, by);
    }

    fn own(&mut self, space: Space, key: Bytes) -> Bytes {
        self.own[space.index()].insert(key.clone(), self.batch.puts.len());
        key
    }

    /// Appends an entry to a stream of a log. `payload` is built by [`Batch::log_payload`].
    pub fn log(&mut self, space: Space, stream: u64, payload: Vec<u8>) {
        self.batch.log(space, stream, payload);
    }

    /// Appends an entry whose eight bytes at `at` of the payload become the LSN of the commit.
    pub fn log_stamped(&mut self, space: Space, stream: u64, payload: Vec<u8>, at: usize) {
        self.batch.log_stamped(space, stream, payload, at);
    }

    /// A savepoint to which [`undo`](Self::undo) can return.
    pub fn mark(&self) -> Mark {
        self.batch.mark()
    }

    /// Undoes everything since the savepoint.
    pub fn undo(&mut self, mark: Mark) {
        let undone: Vec<(Space, Bytes)> =
            self.batch.puts[mark.puts..].iter().map(|put| (put.space, put.key.clone())).collect();
        self.batch.truncate(mark);
        for (space, key) in &undone {
            self.own[space.index()].remove(key);
        }
        if undone.is_empty() {
            return;
        }
        // An undone put may have covered an earlier one of its key.
        for (index, put) in self.batch.puts.iter().enumerate() {
            self.own[put.space.index()].insert(put.key.clone(), index);
        }
    }

    /// Makes the commit depend on a row outside the transaction's scope.
    pub fn require(&mut self, space: Space, key: impl Into<Bytes>, expect: Expect) {
        self.batch.require(Condition { space, key: key.into(), expect });
    }

    /// Runs a part that is undone if it fails.
    pub fn part<T, E>(&mut self, run: impl FnOnce(&mut Self) -> Result<T, E>) -> Result<T, E> {
        let mark = self.mark();
        let said = run(self);
        if said.is_err() {
            self.undo(mark);
        }
        said
    }

    /// Whether it reads only the snapshot: nothing was written so far, and nothing is pending.
    pub fn is_as_durable(&self) -> bool {
        self.batch.is_empty() && self.pending.iter().all(|puts| puts.is_empty())
    }

    /// What is durable, without what this transaction and those before it wrote.
    pub fn snapshot(&self) -> &'a Snapshot {
        self.snapshot
    }

    pub fn into_batch(self) -> Batch {
        self.batch
    }
}

impl Read for Txn<'_> {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, Error> {
        if let Some(index) = self.own[space.index()].get(key) {
            return Ok(self.batch.puts[*index].value());
        }
        if let Some(value) = self.pending.iter().find_map(|puts| puts.get(space, key)) {
            return Ok(value.clone());
        }
        self.snapshot.get(space, key)
    }

    fn range(&self, space: Space, range: &KeyRange, order: Order) -> Rows<'_> {
        let under = self.snapshot.range(space, range, order);
        let [newer, older] = self.pending;
        let mut over = older.entries(space, range);
        over.extend(newer.entries(space, range));
        let own = in_range(&self.own[space.index()], range);
        over.extend(own.map(|(key, index)| (key.clone(), self.batch.puts[*index].value())));
        match order {
            Order::Ascending => overlaid(under, over.into_iter(), order),
            Order::Descending => overlaid(under, over.into_iter().rev(), order),
        }
    }
}
