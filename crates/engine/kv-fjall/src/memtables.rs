//! Rotating full memtables, so that fjall flushes them to files.
//!
//! fjall would do it: with every write beyond its own limit it asks its worker for a new memtable,
//! and the worker replies through the queue that the requests are in. When the queue is full,
//! because the worker was busy with a compaction, it waits for itself forever. So fjall gets a
//! limit that is never reached, and the thread here rotates earlier. Writers do not do it
//! themselves, because freeing old memtables takes a while.

use crate::keyspaces::{KeyspaceId, Keyspaces};
use crate::run_memtable::Run;
use crate::segments::Segment;
use crate::worker::Worker;
use bytes::Bytes;
use orrery_core::Lsn;
use orrery_kv::{Put, Tip};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A memtable is rotated at about this size.
const BYTES: u64 = 48 * 1024 * 1024;
/// The limit that fjall gets instead.
pub const FJALL_MEMTABLE_BYTES: u64 = 256 * 1024 * 1024;
/// Memory per row beside its key and value.
const ROW_BYTES: usize = 64;

/// The memtables, and the thread that rotates full ones.
pub struct Memtables {
    sizes: Arc<MemtableSizes>,
    full: Worker<KeyspaceId>,
}

/// Bytes written to each keyspace since its memtable was new.
pub struct MemtableSizes {
    pub keyspaces: Arc<Keyspaces>,
    bytes: Vec<AtomicU64>,
    /// Rows written again to an older segment, such as log entries that lost their pre-image.
    rewritten: Vec<AtomicU64>,
}

/// What a batch adds to each keyspace.
pub struct BatchSizes {
    bytes: Vec<u64>,
    /// Rows that are not removals.
    values: Vec<u64>,
    /// The last of its commits.
    pub commit: Option<Lsn>,
}

impl BatchSizes {
    /// Of puts without those that go to runs.
    pub fn of(puts: &[Put], keyspaces: &Keyspaces) -> Self {
        let zeros = || vec![0; keyspaces.ids().len()];
        let mut written = Self { bytes: zeros(), values: zeros(), commit: None };
        for put in puts {
            let id = keyspaces.locate(put.space, &put.key);
            let bytes = ROW_BYTES + put.key.len() + put.value.as_ref().map_or(0, Bytes::len);
            written.bytes[id] += bytes as u64;
            written.values[id] += u64::from(put.value.is_some());
            written.commit = written.commit.or_else(|| Tip::written_by(put).map(|tip| tip.lsn));
        }
        written
    }

    /// A run is one row of its keyspace.
    pub fn add_run(&mut self, id: KeyspaceId, run: &Run) {
        self.bytes[id] += (ROW_BYTES + run.bytes()) as u64;
    }

    /// Rows of an older segment than that of the commit.
    fn rewritten(&self, id: KeyspaceId, keyspaces: &Keyspaces) -> u64 {
        let slot = keyspaces.ring_slot(id);
        let is_current = self.commit.is_none_or(|commit| slot == Some(Segment::of(commit).slot()));
        if keyspaces.is_by_commit(id) && !is_current { self.values[id] } else { 0 }
    }
}

impl Memtables {
    pub fn new(keyspaces: Arc<Keyspaces>) -> std::io::Result<Self> {
        let count = keyspaces.ids().len();
        let zeros = || (0..count).map(|_| AtomicU64::new(0)).collect();
        let sizes = Arc::new(MemtableSizes { keyspaces, bytes: zeros(), rewritten: zeros() });
        let full = {
            let sizes = sizes.clone();
            Worker::new("memtables", move |full| full.iter().for_each(|id| sizes.rotate_or_log(id)))?
        };
        Ok(Self { sizes, full })
    }

    pub fn sizes(&self) -> &Arc<MemtableSizes> {
        &self.sizes
    }

    /// The write that fills a memtable has it rotated.
    pub fn note_written(&self, written: &BatchSizes) {
        for (id, bytes) in written.bytes.iter().copied().enumerate().filter(|(_, bytes)| *bytes > 0) {
            let before = self.sizes.bytes[id].fetch_add(bytes, Ordering::Relaxed);
            if before < BYTES && before + bytes >= BYTES {
                self.full.send(id);
            }
            let rewritten = written.rewritten(id, &self.sizes.keyspaces);
            self.sizes.rewritten[id].fetch_add(rewritten, Ordering::Relaxed);
        }
    }

    /// Rotates all memtables; those of segments only from a size on, because fjall does not compact
    /// small files there.
    pub fn rotate_all(&self, segment_bytes_min: u64) -> fjall::Result<()> {
        let bytes = |id: KeyspaceId| self.sizes.bytes[id].load(Ordering::Relaxed);
        let keyspaces = &self.sizes.keyspaces;
        let is_worth = |id: KeyspaceId| keyspaces.ring_slot(id).is_none() || bytes(id) >= segment_bytes_min;
        let mut worth = keyspaces.all().filter(|(id, _)| is_worth(*id));
        worth.try_for_each(|(id, _)| self.sizes.rotate(id))
    }
}

impl MemtableSizes {
    pub fn has_any(&self, id: KeyspaceId) -> bool {
        self.bytes[id].load(Ordering::Relaxed) > 0
    }

    pub fn rewritten(&self, id: KeyspaceId) -> u64 {
        self.rewritten[id].load(Ordering::Relaxed)
    }

    pub fn forget_rewritten(&self, id: KeyspaceId) {
        self.rewritten[id].store(0, Ordering::Relaxed);
    }

    fn rotate(&self, id: KeyspaceId) -> fjall::Result<()> {
        self.bytes[id].store(0, Ordering::Relaxed);
        self.keyspaces.get(id).map_or(Ok(false), |keyspace| keyspace.rotate_memtable()).map(drop)
    }

    pub fn rotate_or_log(&self, id: KeyspaceId) {
        if let Err(error) = self.rotate(id) {
            tracing::error!(%error, "a full memtable could not be rotated");
        }
    }
}
