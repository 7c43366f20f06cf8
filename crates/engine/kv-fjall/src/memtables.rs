//! Exchanging full memtables, so that fjall writes them to files.
//!
//! fjall would do it: with every write beyond its own limit it asks its thread for a new memtable, and that thread answers
//! through the queue that the requests are in. When the queue is full, because the thread was busy with a merge, it waits
//! for itself forever. So its limit is one that is not reached, and this thread does the same in time. Writers do not do
//! it themselves, because what is no longer read goes with it, which takes a while.

use crate::helper::Helper;
use crate::recent::{Run, is_recent};
use crate::spaces::{PLACES, Place, RUNS, Spaces, is_in_order, slice};
use crate::turns::Turn;
use bytes::Bytes;
use orrery_core::Lsn;
use orrery_kv::{Put, Tip};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A memtable is exchanged when it has about this much.
const BYTES: u64 = 48 * 1024 * 1024;
/// What fjall is told instead.
pub const NEVER_BYTES: u64 = 256 * 1024 * 1024;
/// What a row takes beside its key and its value.
const ROW_BYTES: usize = 64;

/// The memtables, and the thread that is told which of them is full.
pub struct Memtables {
    fill: Arc<Fill>,
    full: Helper<Place>,
}

/// How much was written to each keyspace since its memtable was new.
pub struct Fill {
    pub spaces: Arc<Spaces>,
    bytes: [AtomicU64; PLACES],
    /// Rows of slices that were written once more, in another turn than their own.
    rewritten: [AtomicU64; PLACES],
}

/// How much a batch brings to each keyspace.
pub struct Written {
    bytes: [u64; PLACES],
    /// Rows that are not removals.
    values: [u64; PLACES],
    /// The last of its commits.
    pub commit: Option<Lsn>,
}

impl Written {
    pub fn of(puts: &[Put], spaces: &Spaces) -> Self {
        let mut written = Self { bytes: [0; PLACES], values: [0; PLACES], commit: None };
        for put in puts {
            if is_recent(put) {
                // All of them are one row there.
                written.bytes[RUNS] = written.bytes[RUNS].max(ROW_BYTES as u64);
                written.bytes[RUNS] += Run::bytes_of(put) as u64;
                continue;
            }
            let place = spaces.place(put.space, &put.key);
            let bytes = ROW_BYTES + put.key.len() + put.value.as_ref().map_or(0, Bytes::len);
            written.bytes[place] += bytes as u64;
            written.values[place] += u64::from(put.value.is_some());
            written.commit = written.commit.or_else(|| Tip::written_by(put).map(|tip| tip.lsn));
        }
        written
    }

    /// Rows of an older turn than that of the commit.
    fn rewritten(&self, place: Place) -> u64 {
        let is_turn = self.commit.is_none_or(|commit| slice(place) == Some(Turn::of(commit).slice()));
        if is_in_order(place) && !is_turn { self.values[place] } else { 0 }
    }
}

impl Memtables {
    pub fn new(spaces: Arc<Spaces>) -> std::io::Result<Self> {
        let zeros = || std::array::from_fn(|_| AtomicU64::new(0));
        let fill = Arc::new(Fill { spaces, bytes: zeros(), rewritten: zeros() });
        let full = {
            let fill = fill.clone();
            Helper::new("memtables", move |full| full.iter().for_each(|place| fill.exchange_or_tell(place)))?
        };
        Ok(Self { fill, full })
    }

    pub fn fill(&self) -> &Arc<Fill> {
        &self.fill
    }

    /// The write that fills a memtable orders another one.
    pub fn wrote(&self, written: &Written) {
        for (place, bytes) in written.bytes.into_iter().enumerate().filter(|(_, bytes)| *bytes > 0) {
            let before = self.fill.bytes[place].fetch_add(bytes, Ordering::Relaxed);
            if before < BYTES && before + bytes >= BYTES {
                self.full.tell(place);
            }
            self.fill.rewritten[place].fetch_add(written.rewritten(place), Ordering::Relaxed);
        }
    }

    /// All of them; of slices those that have so much, because a file there is not merged with the next one.
    pub fn exchange_all(&self, slices_bytes_min: u64) -> fjall::Result<()> {
        let bytes = |place: Place| self.fill.bytes[place].load(Ordering::Relaxed);
        let is_worth = |place: Place| slice(place).is_none() || bytes(place) >= slices_bytes_min;
        let mut worth = self.fill.spaces.all().filter(|(place, _)| is_worth(*place));
        worth.try_for_each(|(place, _)| self.fill.exchange(place))
    }
}

impl Fill {
    pub fn has_any(&self, place: Place) -> bool {
        self.bytes[place].load(Ordering::Relaxed) > 0
    }

    pub fn rewritten(&self, place: Place) -> u64 {
        self.rewritten[place].load(Ordering::Relaxed)
    }

    pub fn forget_rewritten(&self, place: Place) {
        self.rewritten[place].store(0, Ordering::Relaxed);
    }

    fn exchange(&self, place: Place) -> fjall::Result<()> {
        self.bytes[place].store(0, Ordering::Relaxed);
        self.spaces.get(place).map_or(Ok(false), |keyspace| keyspace.rotate_memtable()).map(drop)
    }

    pub fn exchange_or_tell(&self, place: Place) {
        if let Err(error) = self.exchange(place) {
            tracing::error!(%error, "a memtable that is full could not be exchanged");
        }
    }
}
