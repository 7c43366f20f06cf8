//! Exchanging full memtables, so that fjall writes them to files.
//!
//! fjall would do it: with every write beyond its own limit it asks its thread for a new memtable, and that thread answers
//! through the queue that the requests are in. When the queue is full, because the thread was busy with a merge, it waits
//! for itself forever. So its limit is one that is not reached, and this thread does the same in time. Writers do not do
//! it themselves, because what is no longer read goes with it, which takes a while.

use fjall::Keyspace;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

/// A memtable is exchanged when it has about this much.
const BYTES: u64 = 48 * 1024 * 1024;
/// What fjall is told instead.
pub const NEVER_BYTES: u64 = 256 * 1024 * 1024;
/// What a row takes beside its key and its value.
pub const ROW_BYTES: u64 = 64;

pub const SPACES: usize = 4;
pub type Spaces = Arc<[Keyspace; SPACES]>;

/// How full the memtable of each space is, and who is told when it is full.
pub struct Memtables {
    filled: Arc<[AtomicU64; SPACES]>,
    full: Option<Sender<usize>>,
    thread: Option<JoinHandle<()>>,
}

impl Memtables {
    pub fn new(spaces: Spaces) -> std::io::Result<Self> {
        let (full, orders) = channel();
        let filled: Arc<[AtomicU64; SPACES]> = Arc::default();
        let exchange = {
            let filled = filled.clone();
            move || exchange(&spaces, &filled, &orders)
        };
        let thread = thread::Builder::new().name("memtables".to_owned()).spawn(exchange)?;
        Ok(Self { filled, full: Some(full), thread: Some(thread) })
    }

    /// So many bytes were written to each space. The write that fills a memtable orders another one.
    pub fn wrote(&self, written: [u64; SPACES]) {
        for (space, bytes) in written.into_iter().enumerate() {
            let before = self.filled[space].fetch_add(bytes, Ordering::Relaxed);
            if before < BYTES && before + bytes >= BYTES {
                // Only while the engine is closed does nobody listen.
                let _ = self.full.as_ref().map(|full| full.send(space));
            }
        }
    }

    /// The memtables are new.
    pub fn are_empty(&self) {
        self.filled.iter().for_each(|filled| filled.store(0, Ordering::Relaxed));
    }
}

impl Drop for Memtables {
    fn drop(&mut self) {
        self.full = None;
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn exchange(spaces: &Spaces, filled: &[AtomicU64; SPACES], orders: &Receiver<usize>) {
    for space in orders {
        filled[space].store(0, Ordering::Relaxed);
        if let Err(error) = spaces[space].rotate_memtable() {
            tracing::error!(%error, "a memtable that is full could not be exchanged");
        }
    }
}
