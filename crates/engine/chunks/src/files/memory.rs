//! A disk for tests: it forgets what was not synced, and fails when it is told to.
//!
//! What was written since the last sync is on the disk in any subset after a power cut, in sectors. So is a file that was made, and
//! one that was removed, since the last sync of the folder. A sync that failed leaves its bytes like that for good: the next one
//! succeeds without them, as on Linux.

use super::{ChunkFile, Files};
use crate::FileId;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const SECTOR_BYTES: u64 = 512;

#[derive(Clone, Default)]
pub struct MemoryFiles(Arc<Mutex<Disk>>);

/// What fails next, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is written.
    Write,
    /// Half of it is written.
    ShortWrite,
    Sync,
    /// A file is made, and the sync of its folder fails.
    SyncFolder,
    Create,
    Remove,
    Read,
}

#[derive(Default)]
struct Disk {
    linked: BTreeMap<FileId, Arc<Mutex<Content>>>,
    /// As of the last sync of the folder.
    synced: BTreeMap<FileId, Arc<Mutex<Content>>>,
    free_bytes: Option<u64>,
    syncs: u64,
    /// Operations of the fault's kind to go before it happens.
    fault: Option<(Fault, u64)>,
}

#[derive(Clone, Default)]
struct Content {
    /// As the system shows it.
    shown: Vec<u8>,
    durable: Vec<u8>,
    /// Since the last sync.
    pending: Vec<(u64, Vec<u8>)>,
    /// Under a sync that failed.
    undecided: Vec<(u64, Vec<u8>)>,
}

struct MemoryFile {
    disk: MemoryFiles,
    content: Arc<Mutex<Content>>,
}

impl MemoryFiles {
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the `nth` operation of this kind from now (0 is the next) fail once.
    pub fn fail_at(&self, nth: u64, fault: Fault) {
        self.disk().fault = Some((fault, nth));
    }

    pub fn set_free_bytes(&self, bytes: u64) {
        self.disk().free_bytes = Some(bytes);
    }

    /// Syncs of files so far.
    pub fn syncs(&self) -> u64 {
        self.disk().syncs
    }

    /// The disk after a power cut. `is_kept` decides about each thing that was not synced.
    pub fn crash(&self, mut is_kept: impl FnMut() -> bool) -> Self {
        let disk = self.disk();
        let mut found = Disk { free_bytes: disk.free_bytes, ..Disk::default() };
        let ids: std::collections::BTreeSet<FileId> =
            disk.linked.keys().chain(disk.synced.keys()).copied().collect();
        for id in ids {
            let (linked, synced) = (disk.linked.get(&id), disk.synced.get(&id));
            let is_settled = linked.is_some() == synced.is_some();
            if !is_settled && !is_kept() {
                continue;
            }
            let content = lock(linked.or(synced).expect("it is in one of them")).crash(&mut is_kept);
            found.linked.insert(id, Arc::new(Mutex::new(content)));
        }
        found.synced.clone_from(&found.linked);
        Self(Arc::new(Mutex::new(found)))
    }

    /// Turns one bit of a file over.
    pub fn flip(&self, id: FileId, byte: usize, bit: u8) {
        let content = self.disk().linked.get(&id).cloned().expect("the file is there");
        lock(&content).shown[byte] ^= 1 << bit;
    }

    /// Shortens a file.
    pub fn truncate(&self, id: FileId, bytes: usize) {
        let content = self.disk().linked.get(&id).cloned().expect("the file is there");
        lock(&content).shown.truncate(bytes);
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        lock(&self.0)
    }

    /// Fails if it is the turn of this fault.
    fn meet(&self, fault: Fault) -> io::Result<()> {
        let mut disk = self.disk();
        match disk.fault {
            Some((next, 0)) if next == fault => {
                disk.fault = None;
                Err(io::Error::other("input/output error"))
            }
            Some((next, left)) if next == fault => {
                disk.fault = Some((next, left - 1));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn file(&self, content: Arc<Mutex<Content>>) -> Arc<dyn ChunkFile> {
        Arc::new(MemoryFile { disk: self.clone(), content })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Content {
    fn crash(&self, is_kept: &mut impl FnMut() -> bool) -> Self {
        let mut durable = self.durable.clone();
        for (offset, bytes) in self.undecided.iter().chain(&self.pending) {
            let mut at = *offset;
            for sector in sectors(*offset, bytes) {
                if is_kept() {
                    apply(&mut durable, at, sector);
                }
                at += sector.len() as u64;
            }
        }
        Self { shown: durable.clone(), durable, ..Self::default() }
    }
}

/// The parts of a write in each sector of the disk.
fn sectors(offset: u64, bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let first = ((SECTOR_BYTES - offset % SECTOR_BYTES) as usize).min(bytes.len());
    let (first, rest) = bytes.split_at(first);
    std::iter::once(first).chain(rest.chunks(SECTOR_BYTES as usize))
}

fn apply(content: &mut Vec<u8>, offset: u64, bytes: &[u8]) {
    let (start, end) = (offset as usize, offset as usize + bytes.len());
    if content.len() < end {
        content.resize(end, 0);
    }
    content[start..end].copy_from_slice(bytes);
}

impl Files for MemoryFiles {
    fn list(&self) -> io::Result<Vec<(FileId, u64)>> {
        let disk = self.disk();
        Ok(disk.linked.iter().map(|(id, content)| (*id, lock(content).shown.len() as u64)).collect())
    }

    fn create(&self, id: FileId) -> io::Result<Arc<dyn ChunkFile>> {
        self.meet(Fault::Create)?;
        let content = Arc::default();
        let before = self.disk().linked.insert(id, Arc::clone(&content));
        assert!(before.is_none(), "a file is made once");
        Ok(self.file(content))
    }

    fn open(&self, id: FileId) -> io::Result<Arc<dyn ChunkFile>> {
        let content = self.disk().linked.get(&id).cloned().ok_or(io::ErrorKind::NotFound)?;
        Ok(self.file(content))
    }

    fn remove(&self, id: FileId) -> io::Result<()> {
        self.meet(Fault::Remove)?;
        self.disk().linked.remove(&id).map(drop).ok_or(io::ErrorKind::NotFound.into())
    }

    fn sync(&self) -> io::Result<()> {
        self.meet(Fault::SyncFolder)?;
        let mut disk = self.disk();
        disk.synced = disk.linked.clone();
        Ok(())
    }

    fn free_bytes(&self) -> io::Result<u64> {
        Ok(self.disk().free_bytes.unwrap_or(u64::MAX))
    }
}

impl ChunkFile for MemoryFile {
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let failed = self.disk.meet(Fault::Write);
        failed?;
        let failed = self.disk.meet(Fault::ShortWrite);
        let written = if failed.is_err() { &bytes[..bytes.len() / 2] } else { bytes };
        let mut content = lock(&self.content);
        apply(&mut content.shown, offset, written);
        content.pending.push((offset, written.to_vec()));
        failed
    }

    fn read_at(&self, buffer: &mut Vec<u8>, length: usize, offset: u64) -> io::Result<()> {
        self.disk.meet(Fault::Read)?;
        let content = lock(&self.content);
        let start = content.shown.len().min(offset as usize);
        let end = content.shown.len().min(start + length);
        buffer.extend_from_slice(&content.shown[start..end]);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.disk().syncs += 1;
        let failed = self.disk.meet(Fault::Sync);
        let mut content = lock(&self.content);
        let pending = std::mem::take(&mut content.pending);
        if failed.is_err() {
            content.undecided.extend(pending);
            return failed;
        }
        for (offset, bytes) in pending {
            apply(&mut content.durable, offset, &bytes);
        }
        Ok(())
    }
}
