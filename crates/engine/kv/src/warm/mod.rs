//! What was read before, kept in memory as it is asked for: single rows by their keys, and runs of rows that follow each other.
//!
//! An engine keeps blocks as they are on the disk, in several files that a reader must merge. Here a row is one
//! lookup away, and the next row of a run is the next one in memory.
//!
//! Invariant: what is kept is what the newest commit left. A commit takes away or replaces what it changes before anybody sees
//! the commit; and what a snapshot found is kept only if no later commit changed it. So a reader may use what was
//! read from its own snapshot or an older one.

mod rows;
mod run;
mod runs;
mod walk;

use crate::{Error, KeyRange, Measure, Order, Put, Read, Rows, Space};
use bytes::Bytes;
use orrery_core::Lsn;
use rows::KeptRows;
use runs::KeptRuns;
use walk::Walk;

pub(crate) struct Warm {
    rows: KeptRows,
    runs: KeptRuns,
}

impl Warm {
    /// With room for so many bytes, half of them for rows and half for runs.
    pub fn new(bytes: usize) -> Self {
        Self { rows: KeptRows::new(bytes / 2), runs: KeptRuns::new(bytes / 2) }
    }

    pub fn get(&self, space: Space, key: &[u8], view: &dyn Read, at: Lsn) -> Result<Option<Bytes>, Error> {
        if !is_kept(space) {
            return view.get(space, key);
        }
        let name = self.rows.name(space, key);
        if let Some(known) = self.rows.get(&name, at) {
            return Ok(known);
        }
        let found = view.get(space, key)?;
        if found.is_some() || is_absence_kept(space) {
            self.rows.keep(&name, found.as_deref(), at);
        }
        Ok(found)
    }

    pub fn range<'a>(
        &'a self,
        space: Space,
        range: &KeyRange,
        order: Order,
        view: &'a dyn Read,
        at: Lsn,
    ) -> Rows<'a> {
        if !is_kept(space) || range.is_empty() {
            return view.range(space, range, order);
        }
        match Walk::new(&self.runs, space, range, order, view, at) {
            Some(walk) => Box::new(walk),
            None => view.range(space, range, order),
        }
    }

    /// Takes away or replaces what a commit is about to change.
    pub fn change(&self, puts: &[Put], lsn: Lsn) {
        puts.iter().filter(|put| is_kept(put.space)).for_each(|put| self.rows.change(put, lsn));
        self.runs.change(puts.iter().filter(|put| is_kept(put.space)), lsn);
    }

    /// Forgets everything: a commit that was announced did not come, and the newest is this one.
    pub fn clear(&self, newest: Lsn) {
        self.rows.clear(newest);
        self.runs.clear(newest);
    }

    pub fn measures(&self) -> [Measure; 2] {
        let gauge = |name, bytes| Measure { name, unit: "bytes", is_total: false, value: bytes };
        [gauge("warm_rows", self.rows.bytes()), gauge("warm_runs", self.runs.bytes())]
    }
}

/// Whether work goes on in the background is asked with every query, and mostly none does. Elsewhere, what was never
/// there is mostly about to be written.
fn is_absence_kept(space: Space) -> bool {
    space == Space::Meta
}

/// The log is read from its end, mostly once.
fn is_kept(space: Space) -> bool {
    space != Space::Log
}
