//! The engine for tests: a map, and a disk that forgets.
//!
//! Writes without a sync are applied but not on the disk. [`MemoryEngine::crash`] gives the engine
//! that a restart finds after a power cut: every synced write, and as many of the unsynced ones,
//! oldest first, as the caller says. [`MemoryEngine::fail_at`] makes a chosen write fail, before or
//! after it reached the disk.

use crate::overlay::in_range;
use crate::{Engine, Error, KeyRange, Order, Purpose, Put, Read, Rows, Space, SpaceSet, Sync, Tip};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Clone)]
pub struct MemoryEngine {
    spaces: &'static SpaceSet,
    disk: Arc<Mutex<Disk>>,
}

#[derive(Clone, Default)]
struct Disk {
    applied: Arc<Spaces>,
    synced: Arc<Spaces>,
    unsynced: Vec<Vec<Put>>,
    promised: Option<Tip>,
    writes_seen: u64,
    fault: Option<(u64, Fault)>,
    broken: bool,
    is_full: bool,
}

#[derive(Clone, Default)]
struct Spaces([BTreeMap<Bytes, Bytes>; Space::COUNT_MAX]);

/// How a write fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing of it reached the disk: the disk was full.
    BeforeWrite,
    /// The sync failed: it may or may not be on the disk, so no later write is taken.
    AfterWrite,
}

impl MemoryEngine {
    pub fn new(spaces: &'static SpaceSet) -> Self {
        Self { spaces, disk: Arc::default() }
    }

    /// Makes the `nth` write from now (0 is the next) fail once.
    pub fn fail_at(&self, nth: u64, fault: Fault) {
        let mut disk = self.disk();
        disk.fault = Some((disk.writes_seen + nth, fault));
    }

    /// Whether the disk has room only for writes that make some.
    pub fn set_full(&self, is_full: bool) {
        self.disk().is_full = is_full;
    }

    /// Writes that a crash could take away.
    pub fn unsynced(&self) -> usize {
        self.disk().unsynced.len()
    }

    /// What a restart finds after a power cut that kept `kept` of the unsynced writes.
    pub fn crash(&self, kept: usize) -> MemoryEngine {
        let disk = self.disk();
        let mut found = (*disk.synced).clone();
        for puts in disk.unsynced.iter().take(kept) {
            found.apply(puts);
        }
        let found = Arc::new(found);
        let promised = disk.promised;
        let disk = Disk { applied: found.clone(), synced: found, promised, ..Disk::default() };
        MemoryEngine { spaces: self.spaces, disk: Arc::new(Mutex::new(disk)) }
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine for MemoryEngine {
    fn spaces(&self) -> &'static SpaceSet {
        self.spaces
    }

    fn view(&self) -> Arc<dyn Read + Send + std::marker::Sync> {
        self.disk().applied.clone()
    }

    fn write(&self, puts: Vec<Put>, sync: Sync) -> Result<(), Error> {
        let is_declared = |put: &Put| self.spaces.get(put.space).is_some();
        assert!(puts.iter().all(is_declared), "rows are in spaces that were declared");
        let mut disk = self.disk();
        if disk.broken {
            return Err(Error::Halted);
        }
        let fault = disk.fault.filter(|(at, _)| *at == disk.writes_seen).map(|(_, fault)| fault);
        disk.writes_seen += 1;
        match fault {
            Some(Fault::BeforeWrite) => return Err(Error::Unavailable("no space left on device".into())),
            Some(Fault::AfterWrite) => {
                disk.unsynced.push(puts);
                disk.broken = true;
                return Err(Error::Uncertain("the sync failed".into()));
            }
            None => {}
        }
        Arc::make_mut(&mut disk.applied).apply(&puts);
        disk.unsynced.push(puts);
        if sync == Sync::Data {
            let unsynced = std::mem::take(&mut disk.unsynced);
            let synced = Arc::make_mut(&mut disk.synced);
            unsynced.iter().for_each(|puts| synced.apply(puts));
        }
        Ok(())
    }

    fn check_room(&self, _bytes: u64, purpose: Purpose) -> Result<(), Error> {
        if self.disk().is_full && purpose == Purpose::Store {
            return Err(Error::Full("the disk is full; make room".into()));
        }
        Ok(())
    }

    fn note_promise(&self, tip: Tip) {
        self.disk().promised = Some(tip);
    }

    fn promised(&self) -> Option<Tip> {
        self.disk().promised
    }
}

impl Spaces {
    fn apply(&mut self, puts: &[Put]) {
        for put in puts {
            let space = &mut self.0[put.space.index()];
            match &put.value {
                Some(value) => space.insert(put.key.clone(), value.clone()),
                None => space.remove(&put.key),
            };
        }
    }
}

impl Read for Spaces {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, Error> {
        Ok(self.0[space.index()].get(key).cloned())
    }

    fn range(&self, space: Space, range: &KeyRange, order: Order) -> Rows<'_> {
        let rows =
            in_range(&self.0[space.index()], range).map(|(key, value)| Ok((key.clone(), value.clone())));
        match order {
            Order::Ascending => Box::new(rows),
            Order::Descending => Box::new(rows.collect::<Vec<_>>().into_iter().rev()),
        }
    }
}
