//! Exchanging full memtables, so that fjall writes them to files.
//!
//! fjall would do it: with every write beyond its own limit it asks its thread for a new memtable, and that thread answers
//! through the queue that the requests are in. When the queue is full, because the thread was busy with a merge, it waits
//! for itself forever. So its limit is one that is not reached, and this thread does the same in time. Writers do not do
//! it themselves, because what is no longer read goes with it, which takes a while.

use crate::Spaces;
use bytes::Bytes;
use orrery_kv::{Put, Space};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

/// A memtable is exchanged when it has about this much.
const BYTES: u64 = 48 * 1024 * 1024;
/// What fjall is told instead.
pub const NEVER_BYTES: u64 = 256 * 1024 * 1024;
/// What a row takes beside its key and its value.
const ROW_BYTES: usize = 64;

/// The memtables, and the thread that is told which of them is full.
pub struct Memtables {
    fill: Arc<Fill>,
    full: Option<Sender<Space>>,
    thread: Option<JoinHandle<()>>,
}

/// How much was written to each space since its memtable was new.
struct Fill {
    spaces: Spaces,
    bytes: [AtomicU64; Space::ALL.len()],
}

/// How much a batch brings to each space.
pub struct Written([u64; Space::ALL.len()]);

impl Written {
    pub fn of(puts: &[Put]) -> Self {
        let mut written = [0; Space::ALL.len()];
        for put in puts {
            let bytes = ROW_BYTES + put.key.len() + put.value.as_ref().map_or(0, Bytes::len);
            written[put.space as usize] += bytes as u64;
        }
        Self(written)
    }

    pub fn bytes(&self) -> u64 {
        self.0.iter().sum()
    }
}

impl Memtables {
    pub fn new(spaces: Spaces) -> std::io::Result<Self> {
        let fill = Arc::new(Fill { spaces, bytes: Default::default() });
        let (full, orders) = channel();
        let exchange = {
            let fill = fill.clone();
            move || orders.into_iter().for_each(|space| fill.exchange_or_tell(space))
        };
        let thread = thread::Builder::new().name("memtables".to_owned()).spawn(exchange)?;
        Ok(Self { fill, full: Some(full), thread: Some(thread) })
    }

    /// The write that fills a memtable orders another one.
    pub fn wrote(&self, written: &Written) {
        for space in Space::ALL {
            let bytes = written.0[space as usize];
            let before = self.fill.bytes[space as usize].fetch_add(bytes, Ordering::Relaxed);
            if before < BYTES && before + bytes >= BYTES {
                // Only while the engine is closed does nobody listen.
                let _ = self.full.as_ref().map(|full| full.send(space));
            }
        }
    }

    /// All of them, whatever they have.
    pub fn exchange_all(&self) -> fjall::Result<()> {
        Space::ALL.into_iter().try_for_each(|space| self.fill.exchange(space))
    }
}

impl Drop for Memtables {
    fn drop(&mut self) {
        self.full = None;
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Fill {
    fn exchange(&self, space: Space) -> fjall::Result<()> {
        self.bytes[space as usize].store(0, Ordering::Relaxed);
        self.spaces[space as usize].rotate_memtable().map(drop)
    }

    fn exchange_or_tell(&self, space: Space) {
        if let Err(error) = self.exchange(space) {
            tracing::error!(%error, "a memtable that is full could not be exchanged");
        }
    }
}
